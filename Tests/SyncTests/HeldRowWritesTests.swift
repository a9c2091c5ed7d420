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

    /// What a program or a migration does to a row that shows a substitute, and what the row is when the parent
    /// has returned.
    struct Write: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The parents of person 1; team 1 is missing.
        let teams: String
        let sql: [String]
        let result: String
    }

    private static let writes = [
        Write(
            testDescription: "the substitute itself is written: it is the row's own value, and stays",
            teams: "1, NULL", sql: ["UPDATE person SET team = 2", "UPDATE person SET team = NULL"], result: "1 - -"),
        Write(
            testDescription: "deleted and inserted again, it has nothing of its old value", teams: "1, NULL",
            sql: ["DELETE FROM person", "INSERT INTO person VALUES(1, NULL, NULL)"], result: "1 - -"),
        Write(
            testDescription: "one of two substitutes is changed: the other one is still replaced", teams: "1, 1",
            sql: ["UPDATE person SET team = 2"], result: "1 2 1"),
        Write(
            testDescription: "a rebuild of the table gives it another parent", teams: "1, NULL",
            sql: [rebuild("SELECT id, 2, second FROM person")], result: "1 2 -"),
        Write(
            testDescription: "it gets another key", teams: "1, 2", sql: ["UPDATE person SET id = 7"], result: "7 1 2"),
        Write(
            testDescription: "it gets another key and another parent at once", teams: "1, 2",
            sql: ["UPDATE person SET id = 7, team = 2"], result: "7 2 2"),
    ]

    @Test("a row that shows a substitute is written, and then its parent returns", arguments: writes)
    func substituted(write: Write) throws {
        let cluster = try orphan(write.teams)
        for sql in write.sql { try cluster.execute(0, sql) }
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == [write.result], "replica \(index)") }
    }

    @Test("a migration that rebuilds the table changes a row that shows a substitute, and the parent returns")
    func rebuilt() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, Self.rebuild("SELECT id, team, 2 FROM person"))
        try cluster.converge()
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 - 2"], "replica \(index)") }
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == ["1 1 2"], "replica \(index)") }
    }

    @Test("a migration that rebuilds the table drops a row that shows a substitute")
    func rebuiltWithout() throws {
        let cluster = try orphan("1, NULL")
        try cluster.execute(0, Self.rebuild("SELECT * FROM person WHERE id <> 1"))
        try cluster.converge()
        try cluster.execute(1, "UPDATE person SET second = 2")
        try parentReturns(cluster)
        for index in 0..<2 { #expect(try people(cluster, index) == [], "replica \(index)") }
    }

    // MARK: - Helpers

    private static func rebuild(_ select: String) -> String {
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
