import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Machines may have different schema versions for weeks. Nothing may be lost.
@Suite("Machines with different schemas exchange in both directions")
struct MixedSchemaTests {
    static let old = "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT)"

    @Test(
        "a column that is unknown here is kept, forwarded, and shown when a migration adds it, without another exchange"
    )
    func addedColumn() throws {
        let cluster = try Cluster(3, schema: Self.old)
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN mail TEXT DEFAULT 'none'")
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'a@x'), (2, 'b', NULL)")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "INSERT INTO person VALUES(3, 'c')")
        try cluster.execute(1, "UPDATE person SET name = 'A' WHERE id = 1")
        // The value arrives only through the machine that does not know the column.
        try cluster.execute(2, "ALTER TABLE person ADD COLUMN mail TEXT DEFAULT 'none'")
        try cluster.pull(2, from: 1)
        #expect(try cluster.content(2) == Self.rows("'A' | text:'a@x'", "'b' | null:NULL", "'c' | text:'none'"))
        try cluster.execute(1, "ALTER TABLE person ADD COLUMN mail TEXT DEFAULT 'none'")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == cluster.content(2))
        try cluster.pull(0, from: 1)
        #expect(try cluster.content(0) == cluster.content(2))
    }

    private static func rows(_ rests: String...) -> [String] {
        rests.enumerated().map { "person: integer:\($0 + 1) | text:\($1)" }
    }

    @Test("a value written here after the migration stays when an older one from another machine arrives")
    func joinKeepsNewer() throws {
        let cluster = try Cluster(2, schema: Self.old)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a')")
        try cluster.converge()
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN mail TEXT")
        try cluster.execute(0, "UPDATE person SET mail = 'older'")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "ALTER TABLE person ADD COLUMN mail TEXT; UPDATE person SET mail = 'newer'")
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.content(index) == ["person: integer:1 | text:'a' | text:'newer'"]) }
    }

    @Test("a table that is unknown here appears complete when a migration creates it, with deletes and updates")
    func addedTable() throws {
        let team = "CREATE TABLE team(id INTEGER PRIMARY KEY, name TEXT UNIQUE, size INTEGER)"
        let cluster = try Cluster(2, schema: Self.old)
        try cluster.execute(0, team)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x', 1), (2, 'y', 2), (3, 'z', 3)")
        try cluster.execute(0, "UPDATE team SET size = 9 WHERE id = 2; DELETE FROM team WHERE id = 3")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1).isEmpty)
        try cluster.execute(1, "CREATE TABLE team(id INTEGER PRIMARY KEY, size INTEGER, name TEXT UNIQUE)")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(
            try cluster[1].read { try String.fetchAll($0, sql: "SELECT id || name || size FROM team") } == [
                "1x1", "2y9",
            ])
        try cluster.execute(1, "UPDATE team SET size = 7 WHERE id = 1")
        try cluster.pull(0, from: 1)
        #expect(
            try cluster[0].read { try String.fetchAll($0, sql: "SELECT id || name || size FROM team") } == [
                "1x7", "2y9",
            ])
    }

    @Test("a table whose rows came before it is compared like any other")
    func comparedTable() throws {
        let schema = "CREATE TABLE genre(id INTEGER NOT NULL, name TEXT, PRIMARY KEY(id), UNIQUE(name))"
        let cluster = try Cluster(schemas: [schema, "CREATE TABLE other(id INTEGER PRIMARY KEY)"])
        try cluster.execute(0, "INSERT INTO genre VALUES(1, 'jazz'), (2, 'folk')")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, schema)
        try cluster.inboxes[1].bringBackHeldRows()
        let asked = TableShape(table: "genre", columns: ["id", "name"], keyCount: 1)
        let digests = try cluster.replicas.map { replica in
            try replica.read { try TableRows($0, asked: asked).digest(after: nil, through: [.integer(9)]) }
        }
        #expect(digests.map(\.rows) == [2, 2])
        #expect(digests[0].sha256 == digests[1].sha256)
    }

    @Test("a column that is dropped here stays on other machines")
    func droppedColumn() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, fax TEXT)")
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', '123')")
        try cluster.converge()
        try cluster.execute(
            1,
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO n SELECT id, name FROM person;
            DROP TABLE person; ALTER TABLE n RENAME TO person
            """)
        try cluster.execute(1, "UPDATE person SET name = 'b'")
        try cluster.execute(0, "UPDATE person SET fax = '456'")
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 1)
        #expect(try cluster.content(1) == ["person: integer:1 | text:'b'"])
        #expect(try cluster.content(2) == ["person: integer:1 | text:'b' | text:'456'"])
    }

    @Test(
        "a row that is held while a column is added is held with the column's default, as on a machine that held it later"
    )
    func heldDuringMigration() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT UNIQUE)")
        let migration = "ALTER TABLE t ADD COLUMN size INTEGER NOT NULL DEFAULT 7"
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'c')")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'c')")
        try cluster.pull(0, from: 1)
        try cluster.execute(0, migration)
        try cluster.execute(1, migration)
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.content(0).filter { $0.hasPrefix("held") }.count == 1)
        try cluster.execute(0, "DELETE FROM t WHERE id = 1")
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.content(index) == ["t: integer:2 | text:'c' | integer:7"]) }
    }

    @Test("a table with another key is held, the other tables go on, and its rows are shown when the keys agree")
    func otherKey() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE a(k TEXT PRIMARY KEY NOT NULL, v TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY)",
            "CREATE TABLE a(v TEXT NOT NULL, k TEXT, PRIMARY KEY (v)); CREATE TABLE b(id INTEGER PRIMARY KEY)",
        ])
        try cluster.execute(0, "INSERT INTO a VALUES('k', 'v'); INSERT INTO b VALUES(1)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1) == ["b: integer:1"])
        try cluster.execute(1, "DROP TABLE a; CREATE TABLE a(k TEXT PRIMARY KEY NOT NULL, v TEXT)")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test("a value of a type that the table does not take makes its row held; it returns when the type is widened")
    func otherType() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v ANY) STRICT",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER) STRICT",
        ])
        try cluster.execute(0, "INSERT INTO t VALUES(1, 1), (2, 'two')")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1).first == "t: integer:1 | integer:1")
        #expect(try cluster.content(1).filter { $0.contains("datatype") }.count == 1)
        try cluster.execute(
            1,
            "CREATE TABLE n(id INTEGER PRIMARY KEY, v ANY) STRICT; INSERT INTO n SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t"
        )
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test("a row whose key a later table would store as another value is held, and shown when the key fits")
    func misfitJoins() throws {
        let table = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT)"
        let cluster = try Cluster(schemas: [table, Self.old])
        try cluster.execute(0, "INSERT INTO t VALUES('1', 'a'), ('2', 'b')")
        try cluster.execute(0, "DELETE FROM t WHERE id = '2'")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1).allSatisfy { $0.hasPrefix("held: ") })
        #expect(try cluster[1].read { try HeldEntries($0).all().map(\.reason) } == ["key"])
        // A change that arrives does the same.
        try cluster.execute(0, "UPDATE t SET v = 'c'")
        try cluster.pull(1, from: 0)
        #expect(try cluster[1].read { try HeldEntries($0).all().map(\.reason) } == ["key"])
        try cluster.execute(1, "DROP TABLE t; \(table)")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == ["t: text:'1' | text:'c'"])
    }
}
