import GRDB
import Journal
import Testing

@testable import Sync

@Suite("The ledger of rows that are decided again")
struct LedgerRevisionTests {
    @Test("Entries keep their numbers, also when changes lose in another order than that of the numbers")
    func numbers() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE t (id TEXT PRIMARY KEY, a)")
        try cluster.execute(0, "INSERT INTO t VALUES ('x', 0)")
        try cluster.converge()
        for machine in 0..<3 { try cluster.execute(machine, "UPDATE t SET a = \(machine + 1)") }
        try cluster.converge()
        let list = "SELECT id || ' ' || lost_seq || ' ' || state FROM _journal_conflicts ORDER BY id"
        try cluster.execute(
            0,
            """
            UPDATE _journal_conflicts SET id = -id;
            UPDATE _journal_conflicts SET id = CASE id WHEN -1 THEN 2 ELSE 1 END
            """)
        let before = try cluster.text(0, list)
        #expect(before.count == 2)
        try cluster[0].write { db in
            let session = try ApplySession(db)
            let table = try #require(ShapeRegistry(db).tracked(table: "t")?.table)
            let key = TableKey(table: table, key: Key([.text(Array("x".utf8)[...])]))
            try LedgerRevision(db: db, session: session, time: 9).run([key])
        }
        #expect(try cluster.text(0, list) == before)
    }
}
