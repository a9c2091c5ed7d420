import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("A look at the file is not in the way of its programs")
struct QuietLookTests {
    static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
        CREATE TABLE person (id INTEGER PRIMARY KEY, team INTEGER REFERENCES team (id), mail TEXT UNIQUE,
          code TEXT REFERENCES team (code), age INTEGER CHECK (age < 200));
        CREATE TABLE plain (id INTEGER PRIMARY KEY, a)
        """

    let directory = TemporaryDirectory()
    let fixture: ReplicaFixture

    init() throws {
        var settings = ReplicaFixture.Settings()
        settings.options.busyTimeout = .zero
        fixture = try ReplicaFixture(directory.file("a.sqlite"), schema: Self.schema, settings)
        try fixture.execute("INSERT INTO team VALUES (1, 'x', 'one'), (2, 'y', 'two')")
        try fixture.inbox.bringBackHeldRows()
    }

    /// Runs SQL as a program does that has read before it writes, and looks at the file in between.
    private func writeAround(_ sql: String) throws {
        let program = try RawConnection(path: fixture.path)
        try program.run("BEGIN")
        _ = try program.rows("SELECT count(*) FROM team")
        try fixture.inbox.bringBackHeldRows()
        // Fails if something was committed since the SELECT, or if somebody holds the write lock.
        #expect(program.execute("\(sql); COMMIT") == 0, "\(program.lastMessage)")
    }

    private func held() throws -> Int? {
        try fixture.replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") }
    }

    @Test(
        "after ordinary writes it neither commits nor takes the write lock",
        arguments: [
            "INSERT INTO person VALUES (7, 1, 'm', 'y', 3)", "UPDATE team SET name = 'new'",
            "UPDATE person SET age = 4", "DELETE FROM person", "INSERT INTO plain VALUES (3, 4)",
            "INSERT INTO team VALUES (3, 'z', 'three'); DELETE FROM team WHERE id = 3",
        ])
    func ordinary(sql: String) throws {
        try fixture.execute("INSERT INTO person VALUES (1, 1, 'a', 'x', 30), (2, NULL, NULL, NULL, NULL)")
        try fixture.inbox.bringBackHeldRows()
        try RawConnection(path: fixture.path).run(sql)
        try writeAround("UPDATE team SET name = 'last' WHERE id = 2")
        let program = try RawConnection(path: fixture.path)
        try program.run("BEGIN IMMEDIATE")
        try fixture.inbox.bringBackHeldRows()
        try program.run("COMMIT")
    }

    @Test("also when rows are held that the writes have nothing to do with")
    func besideHeldRows() throws {
        try RawConnection(path: fixture.path).run(
            "INSERT INTO person VALUES (1, 9, 'a', NULL, 1); INSERT INTO person VALUES (2, 1, 'b', NULL, 1)")
        #expect(try fixture.inbox.bringBackHeldRows() == 1)
        for sql in [
            "INSERT INTO plain VALUES (1, 1)", "UPDATE person SET age = 5 WHERE id = 2",
            "INSERT INTO person VALUES (3, 2, 'c', NULL, 1)", "UPDATE team SET name = 'new'",
        ] {
            try RawConnection(path: fixture.path).run(sql)
            try writeAround("UPDATE plain SET a = 9")
        }
        #expect(try held() == 1)
        try RawConnection(path: fixture.path).run("INSERT INTO team VALUES (9, 'nine', 'nine')")
        #expect(try fixture.inbox.bringBackHeldRows() == 0)
        #expect(try held() == 0)
    }

    @Test(
        "what has to be held is held all the same",
        arguments: [
            "INSERT INTO person VALUES (3, 8, NULL, NULL, 1)", "UPDATE person SET team = 8 WHERE id = 1",
            "UPDATE person SET code = 'none' WHERE id = 1", "DELETE FROM team WHERE id = 1",
            "UPDATE team SET code = 'other' WHERE id = 1",
            "PRAGMA ignore_check_constraints = ON; UPDATE person SET age = 300 WHERE id = 1",
        ])
    func violation(sql: String) throws {
        try fixture.execute("INSERT INTO person VALUES (1, 1, 'a', 'x', 30)")
        try fixture.inbox.bringBackHeldRows()
        try RawConnection(path: fixture.path).run(sql)
        #expect(try fixture.inbox.bringBackHeldRows() == 1)
        #expect(try held() == 1)
    }

    @Test("a row that is held for a UNIQUE value returns when a program gives the value up")
    func uniqueValue() throws {
        let other = try ReplicaFixture(directory.file("b.sqlite"), schema: Self.schema)
        try fixture.execute("INSERT INTO person VALUES (1, NULL, 'same', NULL, 1)")
        try other.execute("INSERT INTO person VALUES (2, NULL, 'same', NULL, 1)")
        try fixture.pull(from: other)
        #expect(try held() == 1)
        try RawConnection(path: fixture.path).run("UPDATE person SET mail = 'mine'")
        #expect(try fixture.inbox.bringBackHeldRows() == 0)
        #expect(try fixture.replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == 2)
    }

    @Test("many writes are looked at in parts, and each once")
    func parts() throws {
        try RawConnection(path: fixture.path).run(
            """
            WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO person SELECT i, 1, NULL, 'x', 3 FROM n;
            """)
        func recorded() throws -> Int64? {
            try fixture.replica.read { try Int64.fetchOne($0, sql: "SELECT checked_seq FROM _journal_replica") }
        }
        let before = try #require(try recorded())
        #expect(try fixture.inbox.bringBackHeldRows() == 0)
        // So that the next process does not begin at the start.
        #expect(try #require(try recorded()) > before + 16_000)
        try RawConnection(path: fixture.path).run("INSERT INTO person VALUES (5, 77, NULL, NULL, 3)")
        #expect(try fixture.inbox.bringBackHeldRows() == 1)
        let checked = fixture.inbox.session.withLock { $0.checkedSeq }
        #expect(try checked == fixture.replica.read { try JournalReader.lastSeq($0) })
    }
}
