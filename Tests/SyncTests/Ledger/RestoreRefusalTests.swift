import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// A restore that cannot be what the user means is refused with the reason; the file does not change.
@Suite("Restores from the ledger that are refused")
struct RestoreRefusalTests {
    private static let schema = """
        CREATE TABLE parent(id INTEGER PRIMARY KEY);
        CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE,
          parent INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)
        """
    private let cluster: Cluster

    init() throws {
        cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO parent VALUES(1), (2); INSERT INTO artist VALUES(1, 'a', NULL, NULL)")
        try cluster.converge()
    }

    /// Makes two conflicting edits, and returns the number of the one that lost on replica 0.
    private func conflict(_ mine: String, _ yours: String) throws -> Int64 {
        try cluster.execute(0, mine)
        try cluster.executeLater(1, yours)
        try cluster.converge()
        let entries = try cluster[0].read { try ConflictLedger($0).entries(ConflictFilter()) }
        return try #require(entries.first).id
    }

    private func refused(_ id: Int64, sourceLocation: SourceLocation = #_sourceLocation) throws -> JournalError.Code? {
        let before = try cluster.content(0)
        let error = #expect(throws: JournalError.self, sourceLocation: sourceLocation) {
            try cluster[0].restoreConflicts([id], time: 1)
        }
        #expect(try cluster.content(0) == before, sourceLocation: sourceLocation)
        let state = try cluster[0].read { try ConflictLedger($0).entry(id)?.state }
        #expect(state == .open, sourceLocation: sourceLocation)
        return error?.code
    }

    @Test("into a table whose primary key has changed")
    func otherKey() throws {
        let id = try conflict("UPDATE artist SET name = 'mine'", "UPDATE artist SET name = 'yours'")
        try cluster.execute(
            0,
            "DROP TABLE artist; CREATE TABLE artist(number INTEGER PRIMARY KEY, name TEXT, code TEXT, parent INTEGER)")
        #expect(try refused(id) == .unknownColumn)
    }

    @Test("of a held row")
    func held() throws {
        // The row that lost its name to a delete was inserted again, and clashes.
        let id = try conflict("UPDATE artist SET name = 'mine'", "DELETE FROM artist WHERE id = 1")
        try cluster.execute(0, "INSERT INTO artist VALUES(2, 'first', 'c', NULL)")
        try cluster.executeLater(1, "INSERT INTO artist VALUES(1, 'second', 'c', NULL)")
        try cluster.converge()
        #expect(try refused(id) == .rowIsHeld)
    }

    @Test("where a trigger undoes the write")
    func ignored() throws {
        let id = try conflict("UPDATE artist SET name = 'mine'", "UPDATE artist SET name = 'yours'")
        try cluster.execute(
            0, "CREATE TRIGGER never BEFORE UPDATE ON artist BEGIN SELECT RAISE(IGNORE); END")
        #expect(try refused(id) == .refused)
    }

    @Test("when the row that it refers to is missing, which a deferred key reports at the end")
    func noParent() throws {
        let id = try conflict("UPDATE artist SET parent = 1", "UPDATE artist SET parent = 2")
        try cluster.execute(0, "DELETE FROM parent WHERE id = 1")
        #expect(try refused(id) == .refused)
    }
}
