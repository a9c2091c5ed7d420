import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Decision 0008 holds for local writes, too: the merged state and the constraints decide what tables show.
@Suite("Rows that a program writes past a constraint are held as merged rows are, and return by themselves")
struct LocalRowsTests {
    static let schema = """
        CREATE TABLE team(id INTEGER PRIMARY KEY, code TEXT UNIQUE);
        CREATE TABLE person(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team(id), code TEXT REFERENCES team(code),
          lead INTEGER REFERENCES person(id) ON DELETE SET NULL, age INTEGER CHECK (age < 200));
        """

    /// Writes as a program without Tandem does, past the foreign keys.
    private func write(_ cluster: Cluster, _ index: Int, _ sql: String) throws {
        try cluster.members[index].executeForeign(sql)
    }

    private func expectEqual(_ cluster: Cluster, held: Int) throws {
        for index in cluster.replicas.indices {
            #expect(try cluster.content(index) == cluster.content(0))
            #expect(try cluster.integrity(index).isEmpty)
            #expect(try cluster[index].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") } == held)
        }
    }

    private func shown(_ cluster: Cluster, _ sql: String) throws -> [String] {
        try cluster[0].read { try String.fetchAll($0, sql: sql) }
    }

    @Test("a row without its parent")
    func orphan() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try write(
            cluster, 0,
            "INSERT INTO team VALUES(1, 'x'); INSERT INTO person VALUES(1, 1, 'x', NULL, 30), (2, 9, NULL, 1, 31)")
        try cluster.converge()
        try expectEqual(cluster, held: 1)
        #expect(try shown(cluster, "SELECT id FROM person") == ["1"])
        try cluster.execute(1, "INSERT INTO team VALUES(9, 'y')")
        try cluster.converge()
        try expectEqual(cluster, held: 0)
        #expect(try shown(cluster, "SELECT id || team || lead FROM person WHERE id = 2") == ["291"])
    }

    @Test("a parent that is deleted under its children, referenced by its key and by another UNIQUE column")
    func removedParent() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x'), (2, 'y'), (3, 'z')")
        try cluster.execute(
            0,
            "INSERT INTO person VALUES(1, 1, NULL, NULL, 1), (2, NULL, 'y', NULL, 2), (3, NULL, 'z', 1, 3), (4, 3, NULL, 3, 4)"
        )
        try cluster.converge()
        try write(cluster, 0, "DELETE FROM team WHERE id = 1; UPDATE team SET code = 'other' WHERE code = 'y'")
        try cluster.converge()
        try expectEqual(cluster, held: 3)
        // 3 is shown without its lead, which is held.
        #expect(try shown(cluster, "SELECT id || ifnull(lead, '-') FROM person") == ["3-", "43"])
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x'), (4, 'y')")
        try cluster.converge()
        try expectEqual(cluster, held: 0)
        #expect(try shown(cluster, "SELECT id || ifnull(lead, '-') FROM person") == ["1-", "2-", "31", "43"])
    }

    @Test("many parents at once")
    func manyParents() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            """
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO team SELECT i, 'c' || i FROM n;
            INSERT INTO person SELECT id, id, code, NULL, 5 FROM team
            """)
        try cluster.converge()
        try write(cluster, 0, "DELETE FROM team WHERE id > 100")
        try cluster.converge()
        try expectEqual(cluster, held: 200)
    }

    @Test("a row that breaks a CHECK, and the local row that takes its key")
    func check() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, NULL, NULL, NULL, 20)")
        try cluster.converge()
        try write(
            cluster, 0,
            "PRAGMA ignore_check_constraints = ON; INSERT INTO person VALUES(2, NULL, NULL, NULL, 500); UPDATE person SET age = 300"
        )
        try cluster.converge()
        try expectEqual(cluster, held: 2)
        #expect(try cluster[0].read { try HeldEntries($0).all().map(\.reason) } == ["check", "check"])
        #expect(try shown(cluster, "SELECT id FROM person").isEmpty)
        try cluster.execute(0, "INSERT INTO person VALUES(2, NULL, NULL, NULL, 50)")
        try cluster.converge()
        try expectEqual(cluster, held: 1)
        #expect(try shown(cluster, "SELECT id || age FROM person") == ["250"])
    }

    @Test("an orphan beside a row that REPLACE evicted")
    func eviction() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x')")
        try write(
            cluster, 0, "INSERT INTO person VALUES(1, 7, NULL, NULL, 1); INSERT OR REPLACE INTO team VALUES(2, 'x')")
        try cluster.converge()
        try expectEqual(cluster, held: 1)
        #expect(try shown(cluster, "SELECT id FROM team") == ["2"])
    }

    @Test("rows from before the file became a replica count too, also after the inbox is opened again")
    func adopted() throws {
        let directory = TemporaryDirectory()
        let fixture = try ReplicaFixture(
            directory.file("a.sqlite"),
            schema: Self.schema + "; INSERT INTO person VALUES(1, 5, NULL, NULL, 1), (2, NULL, NULL, NULL, 2)")
        for _ in 0..<2 {
            #expect(try fixture.inbox.bringBackHeldRows() == 1)
            #expect(try fixture.text("SELECT id FROM person") == ["2"])
            try fixture.restartInbox()
        }
    }
}
