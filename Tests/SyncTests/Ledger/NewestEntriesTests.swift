import GRDB
import Journal
import Testing

@Suite("The newest entries of the ledger")
struct NewestEntriesTests {
    @Test("are as many as requested, the newest first, and none for 0 or less")
    func newest() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a'), (2, 'b'), (3, 'c')")
        try cluster.converge()
        try cluster.execute(0, "UPDATE artist SET name = 'x'")
        try cluster.execute(1, "UPDATE artist SET name = 'y'")
        try cluster.converge()
        try cluster[0].read { db in
            let ledger = try ConflictLedger(db)
            let all = try ledger.entries().map(\.id)
            #expect(all.count == 3)
            #expect(try ledger.entries(newest: 9).map(\.id) == all.reversed())
            #expect(try ledger.entries(newest: 2).map(\.id) == Array(all.reversed().prefix(2)))
            for count in [0, -1] {
                #expect(try ledger.entries(newest: count).isEmpty)
                #expect(try ConflictEntry.all(db, newest: count).isEmpty)
            }
        }
    }
}
