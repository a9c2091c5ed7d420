import GRDB
import Journal
import Sync
import Testing

/// A program writes a row that is held or that shows a substitute, and no daemon runs in between: only the
/// journal shows it.
@Suite("A program's write over a held row is later than the held row")
struct HeldRowWritesTests {
    private static let schema = """
        CREATE TABLE team(id INTEGER PRIMARY KEY, code TEXT UNIQUE);
        CREATE TABLE person(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team ON DELETE SET NULL,
          second INTEGER REFERENCES team ON DELETE SET NULL);
        """

    @Test("a held row that a program inserts and deletes again does not return")
    func insertedAndDeleted() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'x')")
        try cluster.execute(1, "INSERT INTO team VALUES(2, 'x')")
        try cluster.pull(1, from: 0)
        #expect(try ids(cluster, 1) == [1])
        try cluster.execute(1, "INSERT INTO team VALUES(2, 'y')")
        try cluster.execute(1, "DELETE FROM team WHERE id = 2")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM team WHERE id = 1")
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.content(index).isEmpty, "replica \(index)") }
    }

    @Test("a held row shows when a program replaces the row that has its UNIQUE value")
    func replaced() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO team VALUES(1, 'x')")
        try cluster.executeLater(1, "INSERT INTO team VALUES(2, 'x')")
        try cluster.pull(1, from: 0)
        #expect(try ids(cluster, 1) == [1])
        try cluster.executeLater(1, "INSERT OR REPLACE INTO team VALUES(1, 'y')")
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try ids(cluster, 1) == [1, 2])
    }

    @Test("a substitute that a program writes itself is the row's own value, and stays when the parent returns")
    func substituteWritten() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, "UPDATE person SET team = 2")
        try cluster.execute(0, "UPDATE person SET team = NULL")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 - -"], "replica \(index)") }
    }

    @Test("a row that shows a substitute and is deleted and inserted again has nothing of its old value")
    func madeAnew() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, "DELETE FROM person")
        try cluster.execute(0, "INSERT INTO person VALUES(1, NULL, NULL)")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 - -"], "replica \(index)") }
    }

    @Test("a program changes one of two substitutes: the other one is still replaced when its parent returns")
    func oneOfTwo() throws {
        let cluster = try orphan("1, 1")
        try cluster.execute(0, "UPDATE person SET team = 2")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 2 1"], "replica \(index)") }
    }

    @Test("a migration that rebuilds the table changes a row that shows a substitute, and the parent returns")
    func rebuilt() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, rebuild("SELECT id, team, 2 FROM person"))
        try cluster.converge()
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 - 2"], "replica \(index)") }
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 1 2"], "replica \(index)") }
    }

    @Test("a migration that rebuilds the table gives another parent to a row that shows a substitute")
    func rebuiltWithParent() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, rebuild("SELECT id, 2, second FROM person"))
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 2 -"], "replica \(index)") }
    }

    @Test("a migration that rebuilds the table drops a row that shows a substitute")
    func rebuiltWithout() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, rebuild("SELECT * FROM person WHERE id <> 1"))
        try cluster.converge()
        try cluster.execute(1, "UPDATE person SET second = 2")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == [], "replica \(index)") }
    }

    @Test("a row that shows a substitute gets another key, and then its parent back")
    func newKey() throws {
        let cluster = try orphan("1, 2")
        try cluster.execute(0, "UPDATE person SET id = 7")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["7 1 2"], "replica \(index)") }
    }

    @Test("a row that shows a substitute gets another key and another parent at once")
    func newKeyAndParent() throws {
        let cluster = try orphan("1, 2")
        try cluster.execute(0, "UPDATE person SET id = 7, team = 2")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["7 2 2"], "replica \(index)") }
    }

    // MARK: - Helpers

    private func rebuild(_ select: String) -> String {
        """
        CREATE TABLE n(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team ON DELETE SET NULL,
          second INTEGER REFERENCES team ON DELETE SET NULL);
        INSERT INTO n \(select);
        DROP TABLE person;
        ALTER TABLE n RENAME TO person
        """
    }

    /// Person 1 refers to team 1, which is deleted; team 2 exists.
    private func orphan(_ teams: String) throws -> Cluster {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1, 'a'), (2, 'b')")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM team WHERE id = 1")
        try cluster.execute(1, "INSERT INTO person VALUES(1, \(teams))")
        try cluster.converge()
        #expect(try people(cluster, 0).map { $0.prefix(3) } == ["1 -"])
        return cluster
    }

    private func parentReturns(_ cluster: Cluster) throws {
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO team VALUES(1, 'a')")
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.content(0).allSatisfy { !$0.hasPrefix("held") })
    }

    private func ids(_ cluster: Cluster, _ index: Int) throws -> [Int64] {
        try cluster[index].read { try Int64.fetchAll($0, sql: "SELECT id FROM team ORDER BY id") }
    }

    private func people(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read {
            try String.fetchAll(
                $0, sql: "SELECT id || ' ' || ifnull(team, '-') || ' ' || ifnull(second, '-') FROM person ORDER BY id")
        }
    }
}
