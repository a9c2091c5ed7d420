import GRDB
import TestSupport
import Testing

@testable import Journal

/// Properties: when a program adds a trigger, which SQLite runs before capture's, the journal still says what the rows
/// are after the next contact; and a table that nobody wrote since is not read for it.
@Suite("Triggers that are newer than capture's")
struct NewTriggerTests {
    private static let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)"

    /// Each trigger with what is written under it. SQLite runs the newest trigger first.
    @Test(
        "the journal says what the rows are, whatever ran before capture",
        arguments: [
            "CREATE TRIGGER mine AFTER INSERT ON t BEGIN UPDATE t SET a = 'mine' WHERE id = NEW.id; END",
            "CREATE TRIGGER mine AFTER UPDATE ON t WHEN NEW.b IS NULL BEGIN UPDATE t SET b = OLD.a WHERE id = NEW.id; END",
            "CREATE TRIGGER mine AFTER INSERT ON t BEGIN SELECT RAISE(IGNORE); END",
            "CREATE TRIGGER mine AFTER UPDATE ON t BEGIN SELECT raise( ignore ); END",
            "CREATE TRIGGER mine AFTER DELETE ON t BEGIN SELECT RAISE(IGNORE); END",
            "CREATE TRIGGER mine AFTER DELETE ON t BEGIN INSERT INTO t VALUES (OLD.id, 'again', NULL); END",
        ], [false, true])
    func rowsAndJournal(trigger: String, isSealedBetween: Bool) throws {
        let fixture = try Fixture(Self.schema)
        try fixture.execute("INSERT INTO t VALUES (1, 'x', NULL), (2, 'y', 0), (3, 'z', NULL)")
        try fixture.replica.write(DerivedState.materialize)
        let program = try RawConnection(path: fixture.replica.path)
        try program.run(
            """
            \(trigger);
            INSERT INTO t VALUES (4, 'x', NULL);
            UPDATE t SET a = 'new' WHERE id IN (1, 2);
            DELETE FROM t WHERE id = 3;
            """)
        // A merge folds the local tail, and may do so before capture has followed the schema.
        if isSealedBetween { try fixture.replica.write(DerivedState.materialize) }
        // What a newer trigger does comes first in the journal, also an update before the insert of its row.
        let differences = try ReplayCheck.differences(fixture.replica).filter { $0.contains(" holds ") }
        #expect(differences == [], "\(differences)")
    }

    @Test("a table that nobody wrote since is not compared with the journal")
    func untouched() throws {
        let fixture = try Fixture(Self.schema + "; CREATE TABLE u (id INTEGER PRIMARY KEY)")
        try fixture.execute("INSERT INTO t VALUES (1, 'x', NULL)")
        try fixture.replica.write(DerivedState.materialize)
        let program = try RawConnection(path: fixture.replica.path)
        // What is past capture is found by those who compare.
        try program.enableTriggers(false)
        try program.run("UPDATE t SET a = 'past' WHERE id = 1")
        try program.enableTriggers(true)
        let before = try fixture.entries().count
        try program.run("CREATE TRIGGER mine AFTER UPDATE ON t BEGIN SELECT 1; END; INSERT INTO u VALUES (1)")
        #expect(try fixture.entries().count == before + 1)
        try program.run("CREATE TRIGGER other AFTER UPDATE ON t BEGIN SELECT 2; END; UPDATE t SET b = 1")
        #expect(try fixture.entries().count == before + 3)
        #expect(try ReplayCheck.differences(fixture.replica) == [])
    }
}
