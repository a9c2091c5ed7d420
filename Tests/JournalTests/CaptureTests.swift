import Foundation
import GRDB
import Journal
import TestSupport
import Testing

/// A new replica with a schema, and a plain connection to it, as a program without Tandem has.
struct Fixture {
    let directory = TemporaryDirectory()
    let replica: Replica
    let foreign: DatabaseQueue

    init(_ schema: String, recursiveTriggers: Bool = false) throws {
        let path = directory.file("a.sqlite")
        replica = try Replica.make(at: path, schema: schema)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { db in
            if recursiveTriggers { try db.execute(sql: "PRAGMA recursive_triggers = ON") }
        }
        foreign = try DatabaseQueue(path: path, configuration: configuration)
    }

    func execute(_ sql: String) throws {
        try foreign.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    func entries() throws -> [JournalEntry] {
        try replica.refreshDerivedState()
        return try replica.read { try JournalReader($0).entries(after: 0, limit: 10_000) }
    }

    /// Each entry as `op table key columns life`.
    func lines() throws -> [String] {
        try entries().map { entry in
            let key = entry.keyValues.map { "\($0)" }.joined(separator: ",")
            let columns = entry.columns.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            return "\(entry.operation) \(entry.shape.table) \(key) \(columns) life \(entry.life)"
        }
    }
}

@Suite("Capture of writes by foreign connections")
struct CaptureTests {
    @Test("insert, update and delete are journalled with the changed columns only")
    func basicWrites() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)")
        try fixture.execute("INSERT INTO t VALUES(1, 'x', 1.5); UPDATE t SET b = 2 WHERE id = 1; DELETE FROM t")
        let entries = try fixture.entries()
        #expect(entries.map(\.operation) == [.insert, .update, .delete])
        #expect(entries.map(\.version) == [1, 2, 3])
        #expect(entries[1].columns.map(\.name) == ["b"])
        #expect(entries[1].columns.map(\.value) == [.real(2)])
        #expect(entries[2].life == 2)
        #expect(entries[0].stamp < entries[1].stamp && entries[1].stamp < entries[2].stamp)
    }

    @Test("an update that changes nothing and a rollback journal nothing")
    func nothing() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        try fixture.execute("INSERT INTO t VALUES(1, 'x'); UPDATE t SET a = 'x'")
        try fixture.execute("BEGIN; INSERT INTO t VALUES(2, 'y'); ROLLBACK")
        #expect(try fixture.lines().count == 1)
    }

    @Test("a key change is a delete and an insert with every column", arguments: ["id", "rowid"])
    func keyChange(column: String) throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        try fixture.execute("INSERT INTO t VALUES(1, 'x'); UPDATE t SET \(column) = 5")
        let entries = try fixture.entries()
        #expect(entries.map(\.operation) == [.insert, .delete, .insert])
        #expect(entries[2].values == [.integer(5), .text("x")])
    }

    @Test("lives rise with every delete and every insert after it, before and after sealing")
    func lives() throws {
        let fixture = try Fixture("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a)")
        for _ in 0..<3 { try fixture.execute("INSERT INTO t VALUES('k', 1); UPDATE t SET a = 2; DELETE FROM t") }
        let unsealed = try fixture.entries().map(\.life)
        #expect(unsealed == [1, 1, 2, 3, 3, 4, 5, 5, 6])
        try fixture.execute("CREATE TABLE other(id INTEGER PRIMARY KEY)")
        #expect(try fixture.entries().map(\.life) == unsealed)
    }

    @Test("a row that REPLACE evicts through a unique index gets its delete", arguments: [true, false])
    func eviction(recursive: Bool) throws {
        let fixture = try Fixture(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT); CREATE UNIQUE INDEX i ON t(lower(b)) WHERE b > ''",
            recursiveTriggers: recursive)
        try fixture.execute("INSERT INTO t VALUES(1, 'x', 'B'), (2, 'y', 'C')")
        try fixture.execute("REPLACE INTO t VALUES(3, 'x', 'c')")
        let rows = Dictionary(try fixture.entries().map { ($0.key, $0.operation) }, uniquingKeysWith: { $1 })
        #expect(rows[Key([.integer(1)])] == .delete)
        #expect(rows[Key([.integer(2)])] == .delete)
        #expect(rows[Key([.integer(3)])] == .insert)
    }

    @Test(
        "a user's trigger that changes the same row is journalled after its cause, even when it is younger than capture"
    )
    func userTriggers() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INTEGER)")
        try fixture.execute(
            "CREATE TRIGGER u AFTER INSERT ON t BEGIN UPDATE t SET n = 42 WHERE id = NEW.id; END")
        try fixture.execute("INSERT INTO t VALUES(1, 'x', 0)")
        try fixture.execute("INSERT INTO t VALUES(2, 'x', 0)")
        var last: [Key: Value] = [:]
        for entry in try fixture.entries() {
            for column in entry.columns where column.name == "n" { last[entry.key] = column.value }
        }
        #expect(last == [Key([.integer(1)]): .integer(42), Key([.integer(2)]): .integer(42)])
    }

    @Test("values written to a new column before capture follows the migration are not lost")
    func newColumn() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        try fixture.execute("INSERT INTO t VALUES(1, 'x'), (2, 'y'); ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'd'")
        try fixture.execute("UPDATE t SET b = 'new' WHERE id = 2")
        let entries = try fixture.entries()
        #expect(entries.count == 3)
        #expect(entries.last?.columns.map(\.name) == ["b"])
        try fixture.execute("UPDATE t SET b = 'again' WHERE id = 1")
        #expect(try fixture.entries().last?.values == [.integer(1), .text("again")])
    }

    @Test("a table rebuilt by hand is tracked again, and only differences are journalled")
    func rebuild() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        try fixture.execute("INSERT INTO t VALUES(1, 'x'), (2, 'y'), (3, 'z')")
        try fixture.execute(
            """
            BEGIN; CREATE TABLE t2(id INTEGER PRIMARY KEY, a TEXT NOT NULL); INSERT INTO t2 SELECT * FROM t WHERE id <> 3;
            UPDATE t2 SET a = 'changed' WHERE id = 2; DROP TABLE t; ALTER TABLE t2 RENAME TO t; COMMIT
            """)
        let new = try fixture.entries().dropFirst(3)
        #expect(new.map(\.operation) == [.update, .delete])
        try fixture.execute("INSERT INTO t VALUES(9, 'later')")
        #expect(try fixture.entries().last?.values == [.integer(9), .text("later")])
    }

    @Test("values keep their storage class and bytes")
    func fidelity() throws {
        let fixture = try Fixture("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        let values: [(String, Value)] = [
            ("x''", .blob([])), ("''", .text("")), ("NULL", .null), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("1e300", .real(1e300)), ("0.1", .real(0.1)),
            ("CAST(x'610062' AS TEXT)", .text([0x61, 0, 0x62])), ("CAST(x'ff80' AS TEXT)", .text([0xFF, 0x80])),
            ("x'00ff'", .blob([0, 0xFF])),
        ]
        for (index, value) in values.enumerated() { try fixture.execute("INSERT INTO t VALUES(\(index), \(value.0))") }
        #expect(try fixture.entries().map { $0.values[1] } == values.map(\.1))
        try fixture.execute("DELETE FROM t; INSERT INTO t VALUES(1, 1); UPDATE t SET v = 1.0")
        #expect(try fixture.entries().last?.values == [.integer(1), .real(1)])
    }

    @Test("a thousand columns are tracked")
    func wide() throws {
        let columns = (0..<999).map { "c\($0) INTEGER" }.joined(separator: ", ")
        let fixture = try Fixture("CREATE TABLE t(id TEXT PRIMARY KEY, \(columns))")
        try fixture.execute("INSERT INTO t(id, c0, c998) VALUES('a', 1, 2)")
        try fixture.execute("UPDATE t SET c62 = 7, c63 = 8, c998 = 9")
        #expect(try fixture.entries().last?.columns.map(\.name) == ["c62", "c63", "c998"])
    }

    @Test("a NULL key is refused with a sentence that names the remedy")
    func nullKey() throws {
        let fixture = try Fixture("CREATE TABLE t(id TEXT PRIMARY KEY, a)")
        let error = #expect(throws: DatabaseError.self) { try fixture.execute("INSERT INTO t VALUES(NULL, 1)") }
        #expect(error?.message?.contains("declare it NOT NULL") == true)
    }
}
