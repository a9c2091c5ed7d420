import GRDB
import Journal
import Sync
import Testing

/// P2: what the tables show is a function of the merged state and the schema, not of the order of arrival.
@Suite("A foreign key that takes effect later")
struct NewForeignKeysTests {
    static let parents = "CREATE TABLE parent(id INTEGER PRIMARY KEY, code TEXT UNIQUE)"

    private func children(_ action: String = "") -> String {
        "CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER DEFAULT 1 REFERENCES parent \(action), note TEXT)"
    }

    private func reasons(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read {
            try String.fetchAll($0, sql: "SELECT reason || shown FROM _journal_held ORDER BY id")
        }
    }

    @Test(
        "visible children are held when their parents' table is created empty, and return with the parents",
        arguments: ["", "ON DELETE CASCADE", "ON DELETE SET NULL"])
    func parentsComeLater(action: String) throws {
        let children = children(action)
        let cluster = try Cluster(schemas: ["\(Self.parents); \(children)", children])
        // A machine without the parents' table can write such a row: SQLite refuses it only on connections
        // with foreign keys on.
        try cluster.executeLater(1, "INSERT INTO child VALUES(1, 7, 'x'), (2, NULL, 'y')")
        try cluster.converge()
        let isSoft = action.hasSuffix("NULL")
        #expect(try reasons(cluster, 0) == ["foreign_key\(isSoft ? 1 : 0)"])
        #expect(try reasons(cluster, 1).isEmpty)

        try cluster.execute(1, Self.parents)
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.integrity(1).isEmpty)
        #expect(try reasons(cluster, 1) == ["foreign_key\(isSoft ? 1 : 0)"])

        try cluster.execute(0, "INSERT INTO parent VALUES(7, 'g')")
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try reasons(cluster, 1).isEmpty)
        #expect(try cluster.content(1).contains("child: integer:1 | integer:7 | text:'x'"))
    }

    @Test("the same holds when the table is created while no process of Tandem runs")
    func restarted() throws {
        let cluster = try Cluster(schemas: ["\(Self.parents); \(children())", children()])
        try cluster.executeLater(1, "INSERT INTO child VALUES(1, 7, 'x')")
        try cluster.converge()
        try cluster.inboxes[1].close()
        try cluster.executeLater(1, Self.parents)
        let restarted = try Inbox(replica: cluster[1], wallClock: { Cluster.now })
        #expect(try restarted.bringBackHeldRows() == 1)
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test("the same holds when a migration adds the key to a table that had none")
    func migratedChildren() throws {
        let plain = "CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER DEFAULT 1, note TEXT)"
        let cluster = try Cluster(schemas: ["\(Self.parents); \(children())", "\(Self.parents); \(plain)"])
        try cluster.execute(1, "INSERT INTO child VALUES(1, 7, 'x'), (2, 7, 'y')")
        try cluster.converge()
        #expect(try reasons(cluster, 0).count == 2)
        try cluster.executeLater(
            1,
            """
            CREATE TABLE new_child(id INTEGER PRIMARY KEY, parent INTEGER DEFAULT 1 REFERENCES parent, note TEXT);
            INSERT INTO new_child SELECT * FROM child; DROP TABLE child; ALTER TABLE new_child RENAME TO child
            """)
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.integrity(1).isEmpty)
    }

    @Test("the same holds when the collation of the parents' key changes")
    func parentsCompareOtherwise() throws {
        func schema(_ collation: String) -> String {
            """
            CREATE TABLE parent(id TEXT COLLATE \(collation) PRIMARY KEY NOT NULL, n INTEGER);
            CREATE TABLE child(id INTEGER PRIMARY KEY, parent TEXT REFERENCES parent)
            """
        }
        let cluster = try Cluster(schemas: [schema("BINARY"), schema("NOCASE")])
        try cluster.execute(1, "INSERT INTO parent VALUES('a', 1); INSERT INTO child VALUES(1, 'A')")
        try cluster.converge()
        #expect(try reasons(cluster, 0) == ["foreign_key0"])
        #expect(try reasons(cluster, 1).isEmpty)
        try cluster.executeLater(
            1,
            """
            CREATE TABLE new_parent(id TEXT PRIMARY KEY NOT NULL, n INTEGER);
            INSERT INTO new_parent SELECT * FROM parent; DROP TABLE parent; ALTER TABLE new_parent RENAME TO parent
            """)
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try reasons(cluster, 1) == ["foreign_key0"])
    }

    @Test("the rows are shown again when the parents' table is dropped")
    func parentsGo() throws {
        let cluster = try Cluster(schemas: ["\(Self.parents); \(children())", children()])
        try cluster.executeLater(1, "INSERT INTO child VALUES(1, 7, 'x')")
        try cluster.converge()
        try cluster.executeLater(0, "DROP TABLE parent")
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try reasons(cluster, 0).isEmpty)
    }

    @Test("the file remembers the foreign keys by which its rows were checked")
    func remembered() throws {
        let cluster = try Cluster(1, schema: "\(Self.parents); \(children("ON DELETE SET NULL"))")
        try cluster.inboxes[0].bringBackHeldRows()
        let known = try cluster[0].read { try String.fetchOne($0, sql: "SELECT checked_keys FROM _journal_replica") }
        #expect(known == #""child" "1" -> "parent" "id", shown with [Journal.Value.null]"#)
    }
}
