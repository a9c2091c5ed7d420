import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Property: reconciliation never journals a value that a merge made, so no write loses against a change that
/// nobody wrote.
///
/// A user's trigger makes capture compare all rows of its table with the journal.
@Suite("Reconciliation journals nothing that a merge made")
struct ReconciledMergesTests {
    private static let trigger = "CREATE TRIGGER mine AFTER INSERT ON t WHEN 0 BEGIN SELECT 1; END"

    /// Creates the trigger on the first machine, and makes a contact.
    ///
    /// - Returns: The number of entries that the contact journalled.
    private func reconcile(_ cluster: Cluster, _ trigger: String = trigger) throws -> Int64 {
        func end() throws -> Int64 {
            try cluster[0].read { try Int64.fetchOne($0, sql: "SELECT max(seq) FROM _journal") ?? 0 }
        }
        try cluster[0].refreshDerivedState()
        let before = try end()
        // Another program creates it: capture follows at the next contact.
        try RawConnection.writeLater(trigger, at: cluster.directory.file("0.sqlite"))
        try cluster[0].refreshDerivedState()
        return try end() - before
    }

    @Test("an offline edit stays, although two machines spell a column differently")
    func spelledColumn() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, Name TEXT)", "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)",
        ])
        try cluster.execute(1, "INSERT INTO t VALUES(1, 'first')")
        try cluster.converge()
        try cluster.execute(1, "UPDATE t SET name = 'edited'")
        #expect(try reconcile(cluster) == 0)
        try cluster.converge()
        for index in 0..<2 {
            #expect(try cluster.content(index) == ["t: integer:1 | text:'edited'"])
            #expect(try cluster.ledger(index) == [])
        }
    }

    @Test("a row that the policy decided by the row is not recovered as a change")
    func rowPolicy() throws {
        let cluster = try Cluster(
            2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, note TEXT DEFAULT 'none')")
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(.row, table: "t", $0) } }
        try cluster.execute(0, "INSERT INTO t VALUES(1, 1, 'x')")
        try cluster.converge()
        try cluster.execute(0, "UPDATE t SET n = 2")
        try cluster.executeLater(1, "UPDATE t SET note = 'y'")
        try cluster.converge()
        let decided = ["t: integer:1 | integer:1 | text:'y'"]
        #expect(try cluster.content(0) == decided)
        #expect(try reconcile(cluster) == 0)
        try cluster.converge()
        for index in 0..<2 { #expect(try cluster.content(index) == decided) }
    }

    @Test("a row that a function decided is not recovered as a change")
    func functionPolicy() throws {
        var functions = ConflictFunctions()
        functions["add"] = { _, earlier, later in
            guard case .integer(let a) = earlier["n"], case .integer(let b) = later["n"] else { return later }
            return ["n": .integer(a + b)]
        }
        let cluster = try Cluster(
            2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)", functions: [functions, functions])
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(.custom("add"), table: "t", $0) } }
        try cluster.execute(0, "INSERT INTO t VALUES(1, 1), (2, 1)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE t SET n = 2 WHERE id = 1")
        try cluster.executeLater(1, "UPDATE t SET n = 5 WHERE id = 1")
        try cluster.converge()
        #expect(try cluster.content(0) == ["t: integer:1 | integer:7", "t: integer:2 | integer:1"])
        #expect(try reconcile(cluster) == 0)
    }

    @Test("a value that the table stores by its own type is not recovered as a change")
    func storedByType() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, d BLOB)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, d)",
        ])
        try cluster.execute(
            1,
            """
            INSERT INTO t VALUES(1, '7', 8, 9, '10'), (2, ' 1.50 ', 1.5, '2', 2.0), (3, 'seven', x'37', 'nine', NULL),
              (4, '9223372036854775808', -0.0, '1e2', 1)
            """)
        try cluster.converge()
        #expect(try cluster.content(0).first == "t: integer:1 | integer:7 | text:'8' | real:9.0 | text:'10'")
        #expect(try reconcile(cluster) == 0)
    }

    @Test("writes that bypassed the triggers are still recovered", arguments: [MergePolicy.column, .row])
    func recovered(policy: MergePolicy) throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, note TEXT)")
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(policy, table: "t", $0) } }
        try cluster.execute(1, "INSERT INTO t VALUES(1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z')")
        try cluster.converge()
        let rebuild = """
            CREATE TABLE new(id INTEGER PRIMARY KEY, n INTEGER, note TEXT);
            INSERT INTO new SELECT id, n + (id = 1), note FROM t WHERE id < 3;
            INSERT INTO new VALUES(4, 4, 'w');
            DROP TABLE t;
            ALTER TABLE new RENAME TO t
            """
        #expect(try reconcile(cluster, rebuild) == 3)
        try cluster.converge()
        let rows = [
            "t: integer:1 | integer:2 | text:'x'", "t: integer:2 | integer:2 | text:'y'",
            "t: integer:4 | integer:4 | text:'w'",
        ]
        for index in 0..<2 { #expect(try cluster.content(index) == rows) }
    }
}
