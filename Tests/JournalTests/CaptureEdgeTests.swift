import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Capture at the limits of SQLite")
struct CaptureEdgeTests {
    private func operations(_ fixture: Fixture) throws -> [Journal.Operation] { try fixture.entries().map(\.operation) }

    @Test("the exact triggers of a small table")
    func golden() throws {
        let fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY, a INT)")
        let triggers = try fixture.replica.read { db in
            try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 't' ORDER BY name")
        }
        let refusal =
            "CASE WHEN NEW.\"id\" IS NULL THEN RAISE(ABORT, 'NULL in the primary key of t cannot be replicated: declare it NOT NULL')"
            + " ELSE NEW.\"id\" END"
        #expect(
            triggers == [
                "CREATE TRIGGER \"_journal_1_delete\" AFTER DELETE ON \"t\" WHEN OLD.\"id\" IS NOT NULL BEGIN "
                    + "INSERT INTO _journal (shape, op, stamp, v0) VALUES (1, 3, julianday('now'), OLD.\"id\"); END",
                "CREATE TRIGGER \"_journal_1_insert\" AFTER INSERT ON \"t\" BEGIN "
                    + "INSERT INTO _journal (shape, op, stamp, v0, v1) SELECT 1, 1, julianday('now'), (SELECT \(refusal)), (SELECT NEW.\"a\") "
                    + "FROM (SELECT \(DroppedColumns.markerSQL) AS \"a\") AS new; END",
                "CREATE TRIGGER \"_journal_1_key\" AFTER UPDATE OF \"id\" ON \"t\" WHEN NOT (NOT (OLD.\"id\" IS NOT NEW.\"id\")) BEGIN "
                    + "INSERT INTO _journal (shape, op, stamp, mask, v0) SELECT 1, 3, julianday('now'), "
                    + "(SELECT 1 FROM \"t\" AS t WHERE t.\"id\" IS NEW.\"id\"), OLD.\"id\" "
                    + "WHERE OLD.\"id\" IS NOT NULL; "
                    + "INSERT INTO _journal (shape, op, stamp, v0, v1) SELECT 1, 1, julianday('now'), \(refusal), "
                    + "(SELECT t.\"a\" FROM \"t\" AS t WHERE t.\"id\" IS NEW.\"id\") "
                    + "FROM (SELECT \(DroppedColumns.markerSQL) AS \"a\") AS t "
                    + "WHERE EXISTS (SELECT 1 FROM \"t\" AS t WHERE t.\"id\" IS NEW.\"id\"); END",
                "CREATE TRIGGER \"_journal_1_update\" AFTER UPDATE ON \"t\" WHEN NEW.\"id\" IS NOT NULL AND "
                    + "NOT (OLD.\"id\" IS NOT NEW.\"id\") BEGIN "
                    + "INSERT INTO _journal (shape, op, stamp, mask, v0, v1) SELECT 1, 2, julianday('now'), new.\"_journal_mask\", "
                    + "(SELECT NEW.\"id\"), CASE WHEN new.\"_journal_mask\" & 2 THEN (SELECT NEW.\"a\") END "
                    + "FROM (SELECT (SELECT (SELECT (OLD.\"a\" IS NOT NEW.\"a\")*2) FROM (SELECT NULL AS \"a\") AS old) AS \"_journal_mask\", "
                    + "NULL AS \"a\" FROM (SELECT NULL AS \"a\") AS new LIMIT 1) AS new WHERE new.\"_journal_mask\" <> 0; END",
            ])
    }

    @Test(
        "DROP COLUMN works while the column is captured, in tables of every kind",
        arguments: [
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)",
            "CREATE TABLE t (id TEXT PRIMARY KEY, a BLOB, b TEXT COLLATE NOCASE, c)",
            "CREATE TABLE t (id INT, a, b, c, PRIMARY KEY (c, id)) WITHOUT ROWID",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b, c); CREATE UNIQUE INDEX i ON t (b, c)",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c); CREATE UNIQUE INDEX i ON t (lower(b)) WHERE b > a",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d AS (a || 'x')); CREATE UNIQUE INDEX i ON t (b, d)",
            "CREATE TABLE new (id INTEGER PRIMARY KEY, a, b, c); CREATE UNIQUE INDEX i ON new (b)",
            "CREATE TABLE old (id INTEGER PRIMARY KEY, a, b, c); CREATE UNIQUE INDEX i ON old (b)",
        ])
    func dropColumn(schema: String) throws {
        let fixture = try Fixture(schema)
        let name = schema.contains("TABLE new") ? "new" : schema.contains("TABLE old") ? "old" : "t"
        try fixture.execute(
            """
            INSERT INTO \(name) (id, a, b, c) VALUES (1, 2, 3, 4), (5, 6, 7, 8); DROP INDEX IF EXISTS i;
            ALTER TABLE \(name) DROP COLUMN b; UPDATE \(name) SET id = 9 WHERE id = 1;
            UPDATE \(name) SET a = a + 1; REPLACE INTO \(name) (id, c) VALUES (10, 1)
            """)
        #expect(try ReplayCheck.differences(fixture.replica) == [])
        let entries = try fixture.entries()
        #expect(entries.prefix(2).allSatisfy { $0.columns.contains { $0.name == "b" } })
        #expect(entries.dropFirst(2).allSatisfy { !$0.columns.contains { $0.name == "b" } })
        #expect(entries.map(\.operation) == [.insert, .insert, .delete, .insert, .update, .update, .insert])
    }

    @Test("a table named new or old is captured like any other", arguments: ["new", "OLD"])
    func reservedNames(name: String) throws {
        let fixture = try Fixture(
            "CREATE TABLE \(name) (id INTEGER PRIMARY KEY, a TEXT); CREATE UNIQUE INDEX i ON \(name) (lower(a)) WHERE \(name).a > ''"
        )
        try fixture.execute(
            "INSERT INTO \(name) VALUES (1, 'x'); REPLACE INTO \(name) VALUES (2, 'X'); UPDATE \(name) SET id = 3")
        #expect(try operations(fixture) == [.insert, .insert, .delete, .insert, .delete])
        #expect(try ReplayCheck.differences(fixture.replica) == [])
    }

    @Test(
        "rows evicted before their table is dropped or renamed block nothing",
        arguments: ["DROP TABLE t", "ALTER TABLE t RENAME TO u", "ALTER TABLE t RENAME id TO k"])
    func evictionThenChange(change: String) throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)")
        try fixture.execute("INSERT INTO t VALUES (1, 'x'); REPLACE INTO t VALUES (2, 'x'); \(change)")
        _ = try fixture.entries()
        if !change.hasPrefix("DROP") { #expect(try operations(fixture).contains(.delete)) }
        #expect(try fixture.replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_suspects") } == 0)
    }

    @Test("an eviction through a unique index that capture has not seen yet is found")
    func newIndex() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try fixture.execute(
            "INSERT INTO t VALUES (1, 'x'); CREATE UNIQUE INDEX i ON t (a); REPLACE INTO t VALUES (2, 'x')")
        #expect(try operations(fixture) == [.insert, .insert, .delete])
    }

    @Test("the row -1 is found evicted when SQLite generates the new row's key")
    func mintedKey() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)")
        try fixture.execute("INSERT INTO t VALUES (-1, 'x'); REPLACE INTO t (a) VALUES ('x')")
        #expect(try operations(fixture) == [.insert, .insert, .delete])
    }

    @Test("INTEGER PRIMARY KEY DESC is no alias of the rowid, and may not be NULL either")
    func descendingKey() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY DESC, a)")
        #expect(throws: DatabaseError.self) { try fixture.execute("INSERT INTO t (a) VALUES (1)") }
        try fixture.execute("INSERT INTO t VALUES (1, 1); UPDATE t SET rowid = 7; UPDATE t SET id = 2")
        #expect(try operations(fixture) == [.insert, .delete, .insert])
    }

    @Test("rows with a NULL key from before init can be changed, named and deleted")
    func oldNullKeys() throws {
        let fixture = try Fixture(
            "CREATE TABLE t (id TEXT PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (NULL, 1), (NULL, 2), (NULL, 3)")
        try fixture.execute("UPDATE t SET a = a + 10; DELETE FROM t WHERE a = 11; REPLACE INTO t VALUES ('r', 13)")
        try fixture.execute(
            "ALTER TABLE t ADD COLUMN b; UPDATE t SET b = 1 WHERE id IS NULL; UPDATE t SET id = 'k' WHERE id IS NULL")
        let entries = try fixture.entries()
        #expect(entries.map(\.operation) == [.insert, .insert, .update])
        #expect(entries.map(\.keyValues.first) == [.text("r"), .text("k"), .text("k")])
    }

    @Test("a new column that differs from its default only by case or class is journalled")
    func newColumnDetails() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
        try fixture.execute(
            "ALTER TABLE t ADD COLUMN a TEXT COLLATE NOCASE DEFAULT 'abc'; ALTER TABLE t ADD COLUMN b DEFAULT 1")
        try fixture.execute("UPDATE t SET a = 'ABC' WHERE id = 1; UPDATE t SET b = 1.0 WHERE id = 2")
        let entries = try fixture.entries().dropFirst(2)
        #expect(entries.map { $0.columns.map(\.name) } == [["a"], ["b"]])
    }

    @Test("a renamed column is journalled under its new name, also when its default depends on the time")
    func renamedColumn() throws {
        let fixture = try Fixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT CURRENT_TIMESTAMP); INSERT INTO t (id) VALUES (1), (2)"
        )
        try fixture.execute("ALTER TABLE t RENAME a TO b")
        #expect(try fixture.entries().dropFirst(2).map { $0.columns.map(\.name) } == [["b"], ["b"]])
    }

    @Test("reconciliation distinguishes NULL from 0, and 0 from 0.0")
    func reconciledZero() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, NULL), (2, 0)")
        try fixture.execute(
            """
            CREATE TABLE u (id INTEGER PRIMARY KEY, a); INSERT INTO u VALUES (1, 0), (2, 0.0);
            DROP TABLE t; ALTER TABLE u RENAME TO t
            """)
        #expect(try fixture.entries().dropFirst(2).map { $0.columns[0].value } == [.integer(0), .real(0)])
    }

    @Test("a WITHOUT ROWID table whose key is not its first column is sound, although SQLite 3.40 reports otherwise")
    func falseAlarm() throws {
        let fixture = try Fixture(
            "CREATE TABLE t (a TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (id)) WITHOUT ROWID; INSERT INTO t VALUES ('x', 'k')"
        )
        #expect(try operations(fixture) == [.insert])
    }
}
