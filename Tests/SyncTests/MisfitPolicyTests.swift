import GRDB
import Journal
import Sync
import Testing

@Suite("A row whose key does not fit its table, which has a policy")
struct MisfitPolicyTests {
    @Test("is decided by the policy when a migration makes the key fit")
    func decided() throws {
        let text = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n, note)"
        let number = "CREATE TABLE t(id INTEGER PRIMARY KEY NOT NULL, n, note)"
        let cluster = try Cluster(schemas: [text, text, number])
        for replica in cluster.replicas { try replica.write { try MergePolicy.set(.row, table: "t", $0) } }
        try cluster.execute(0, "INSERT INTO t VALUES('1', 1, 'x')")
        try cluster.converge()
        // The table there would store '1' as 1.
        #expect(try cluster.content(2).allSatisfy { $0.contains(" key ") })
        try cluster.execute(0, "UPDATE t SET n = 2")
        try cluster.executeLater(1, "UPDATE t SET note = 'y'")
        try cluster.converge()
        #expect(try cluster.content(0) == ["t: text:'1' | integer:1 | text:'y'"])

        try cluster.execute(2, "DROP TABLE t; \(text)")
        try cluster.converge()
        for index in 1..<3 { #expect(try cluster.content(index) == cluster.content(0), "replica \(index)") }
    }
}
