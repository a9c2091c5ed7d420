import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Copies of a database")
struct DatabaseCopyTests {
    private let directory = TemporaryDirectory()

    private func make(_ name: String, _ schema: String) throws -> Replica {
        try Replica.make(at: directory.file(name), schema: schema, InitializeRequest(), options: .unsynced)
    }

    private static let accounts = """
        CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, amount INTEGER NOT NULL, note TEXT);
        INSERT INTO account VALUES ('a', 50, hex(zeroblob(9000))), ('b', 50, hex(zeroblob(9000)))
        """

    @Test("a copy shows one moment, whatever is committed between its steps")
    func oneMoment() throws {
        let replica = try make("a", Self.accounts)
        var copy = DatabaseCopy(to: directory.file("copy"))
        copy.pagesPerStep = 1
        let writer = try RawConnection(path: replica.path)
        var steps = 0
        let content = try copy.run(of: replica) { _ in
            steps += 1
            try writer.run(
                """
                BEGIN; UPDATE account SET amount = amount - 1, note = note || 'x' WHERE id = 'a';
                UPDATE account SET amount = amount + 1 WHERE id = 'b'; COMMIT
                """)
        }
        #expect(steps > 5)
        try DatabaseCopy.verify(directory.file("copy"))
        let queue = try DatabaseQueue(path: directory.file("copy"))
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT amount FROM account ORDER BY id") } == [50, 50])
        #expect(try queue.read { try JournalReader($0).vector() } == content.vector)
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "delete")
        try queue.close()
        try replica.close()
    }

    @Test("what a copy has is published before the copy is handed out, and is not sent again by it")
    func published() throws {
        let replica = try make("a", Self.accounts)
        try replica.write { try $0.execute(sql: "UPDATE account SET amount = 1") }
        let origin = try replica.identity().origin
        let content = try DatabaseCopy(to: directory.file("copy")).run(of: replica)
        let record = try PublicationRecord(database: replica.path).entries()
        #expect(record.last?.origin == origin && record.last?.version == content.vector[origin])
        let outcome = try ReplicaFromCopy.publish(
            directory.file("copy"), as: directory.file("b"), reason: .created, time: 1)
        #expect(outcome?.kept == content.vector[origin] && outcome?.reissued == 0)
        try replica.close()
    }

    @Test("a copy of a file that was made by cp after init sends nothing again")
    func copiedAfterInit() throws {
        try RawConnection(path: directory.file("a")).run(Self.accounts)
        let (replica, _) = try Replica.create(at: directory.file("a"), InitializeRequest())
        try replica.close()
        try FileManager.default.copyItem(atPath: directory.file("a"), toPath: directory.file("b"))
        let b = try Replica.open(at: directory.file("b"))
        let origin = try b.identity().origin
        let head = try b.read { try JournalReader($0).vector()[origin] }
        let outcome = try b.write { db in
            try NewIdentity(.copied, of: Identity(db).origin, time: 1).run(db, fingerprint: nil)
        }
        #expect(outcome?.kept == head && outcome?.reissued == 0)
        // The mark says nothing of the new identity.
        try b.write { try $0.execute(sql: "UPDATE account SET amount = 3") }
        let again = try b.write { db in
            try NewIdentity(.copied, of: Identity(db).origin, time: 2).run(db, fingerprint: nil)
        }
        #expect(again?.kept == 0 && again?.reissued == 2)
        try b.close()
    }

    @Test("an existing file is not replaced, and an unfinished copy gets no name")
    func refused() throws {
        struct Stop: Error {}
        let replica = try make("a", Self.accounts)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: directory.file("copy")))
        #expect(throws: JournalError.self) { try BackupFile.write(replica, to: directory.file("copy")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("copy"))) == Data("mine".utf8))
        #expect(throws: Stop.self) {
            try BackupFile.write(replica, to: directory.file("other")) { _ in throw Stop() }
        }
        #expect(!FileManager.default.fileExists(atPath: directory.file("other")))
        #expect(!FileManager.default.fileExists(atPath: directory.file("other-partial")))
        #expect(throws: JournalError.self) { try DatabaseCopy.publish(replica.path, as: directory.file("copy")) }
        try replica.close()
    }

    @Test("tables return to a time also where rows have exchanged UNIQUE values, and keys have composite columns")
    func timeTravel() throws {
        let replica = try make(
            "a",
            """
            CREATE TABLE t (a INTEGER NOT NULL, b TEXT NOT NULL COLLATE NOCASE, u TEXT UNIQUE, n INTEGER DEFAULT 5,
              PRIMARY KEY (a, b)) WITHOUT ROWID;
            INSERT INTO t VALUES (1, 'x', 'one', 1), (2, 'y', 'two', NULL)
            """)
        let before = try replica.read { try JournalReader($0).latestStamp() }
        let rows = try replica.read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY a") }
        try replica.write { db in
            try db.execute(
                sql: """
                    UPDATE t SET u = 'free' WHERE a = 1; UPDATE t SET u = 'one' WHERE a = 2;
                    UPDATE t SET u = 'two' WHERE a = 1; INSERT INTO t VALUES (3, 'z', 'three', 3)
                    """)
        }
        let outcome = try Restoring(source: replica.path, path: directory.file("then"), at: before).run(time: 1)
        guard case .tables(_, let changed, let refused) = outcome else { return #expect(Bool(false)) }
        #expect(changed == 3 && refused == 0)
        let queue = try DatabaseQueue(path: directory.file("then"))
        #expect(try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY a") } == rows)
        try queue.close()
        try replica.close()
    }
}
