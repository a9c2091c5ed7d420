import Foundation
import GRDB
import Journal
import TestSupport
import Testing

/// Property: `init` makes a whole replica of every file that is none, whatever is left of an earlier journal.
@Suite("What other tools leave of a journal")
struct JournalLeftoverTests {
    private let directory = TemporaryDirectory()
    private static let schema = "CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL, v TEXT)"

    /// Makes a file a replica again, and checks that it captures what it has and gets.
    private func expectWhole(_ path: String, rows: Int) throws {
        let created = try Replica.create(at: path, InitializeRequest())
        #expect(created.report.tracked.map(\.adoptedRows) == [Int64(rows)])
        try RawConnection(path: path).run("INSERT INTO t VALUES ('new', 'n')")
        let changes = try created.replica.read { try JournalReader($0).batch(after: VersionVector()) }.changes
        #expect(changes.count == rows + 1)
        try created.replica.close()
    }

    @Test("a tool drops the tables that it does not know")
    func dropped() throws {
        let path = directory.file("a.sqlite")
        let raw = try RawConnection(path: path)
        try raw.run(Self.schema)
        try Replica.create(at: path, InitializeRequest()).replica.close()
        try raw.run("INSERT INTO t VALUES ('a', '1')")
        for row in try raw.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_journal%' ESCAPE '\\'")
        {
            guard case .text(let name) = row[0] else { continue }
            try raw.run("DROP TABLE \"\(String(decoding: name, as: UTF8.self))\"")
        }
        try expectWhole(path, rows: 1)
    }

    @Test("uninit takes out the triggers that such a tool leaves, after which programs can write again")
    func removed() throws {
        let path = directory.file("a.sqlite")
        let raw = try RawConnection(path: path)
        try raw.run(Self.schema)
        try Replica.create(at: path, InitializeRequest()).replica.close()
        for row in try raw.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_journal%' ESCAPE '\\'")
        {
            guard case .text(let name) = row[0] else { continue }
            try raw.run("DROP TABLE \"\(String(decoding: name, as: UTF8.self))\"")
        }
        #expect(throws: (any Error).self) { try raw.run("INSERT INTO t VALUES ('a', '1')") }
        #expect(try Replica.remove(from: path).triggers > 0)
        // A connection that has seen the triggers fail may look at them again.
        try RawConnection(path: path).run("INSERT INTO t VALUES ('a', '1')")
        let error = #expect(throws: JournalError.self) { try Replica.remove(from: path) }
        #expect(error?.code == .notAReplica)
    }

    @Test("a file is made from the schema of a replica, and written before init")
    func schema() throws {
        let source = try RawConnection(path: directory.file("a.sqlite"))
        try source.run(Self.schema)
        try Replica.create(at: directory.file("a.sqlite"), InitializeRequest()).replica.close()
        let path = directory.file("b.sqlite")
        let raw = try RawConnection(path: path)
        for row in try source.rows(
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY rowid")
        {
            guard case .text(let sql) = row[0] else { continue }
            try raw.run(String(decoding: sql, as: UTF8.self))
        }
        try raw.run("INSERT INTO t VALUES ('a', '1'), ('b', '2')")
        try expectWhole(path, rows: 2)
    }

    @Test("a table of the user's own with a name of the journal is not dropped")
    func own() throws {
        let path = directory.file("a.sqlite")
        let raw = try RawConnection(path: path)
        try raw.run(
            Self.schema + "; CREATE TABLE _journal_lives(diary TEXT); INSERT INTO _journal_lives VALUES ('mine')")
        #expect(throws: (any Error).self) { try Replica.create(at: path, InitializeRequest()) }
        #expect(try raw.rows("SELECT diary FROM _journal_lives").count == 1)
    }
}
