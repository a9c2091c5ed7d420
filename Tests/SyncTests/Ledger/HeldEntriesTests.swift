import GRDB
import Journal
import Sync
import Testing

@Suite("Held entries")
struct HeldEntriesTests {
    @Test("a held row is listed with its key, its columns and the reason")
    func rows() throws {
        let cluster = try Cluster(2, schema: ConvergenceTests.schema)
        try cluster.execute(0, "INSERT INTO album VALUES('a', NULL, 'A', 'code')")
        try cluster.execute(1, "INSERT INTO artist VALUES(7, 'x', 1); INSERT INTO album VALUES('b', 7, 'B', 'code')")
        try cluster.converge()
        let held = try cluster[0].read { try HeldEntries($0).all() }
        let entry = try #require(held.first)
        #expect(held.count == 1 && entry.table == "album")
        let row = try #require(entry.row)
        #expect(row.id > 0 && entry.changes == nil)
        #expect(row.key.map(\.value) == [.text("b")] && entry.key.map(\.value) == [.text("b")])
        #expect(row.columns.map(\.column) == ["artist", "code", "title"])
        #expect(entry.reason == "unique")
        #expect(!row.isShown)
        #expect(try cluster[0].read { try HeldEntries.counts($0).map(\.rows) } == [1])
        #expect(try cluster[0].read { try HeldEntries($0).all(table: "artist") }.isEmpty)
        #expect(try cluster[0].read { try HeldEntries($0).all(table: "ALBUM", reason: entry.reason) }.count == 1)
        #expect(try cluster[0].read { try HeldEntries($0).all(reason: "check") }.isEmpty)
    }

    @Test("changes of a missing table or column are listed, until it exists")
    func unknown() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE u(id INTEGER PRIMARY KEY, x)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
        ])
        try cluster.execute(
            0, "INSERT INTO t VALUES(1, 1, 1), (2, 2, 2); INSERT INTO u VALUES(1, 1); UPDATE u SET x = 2")
        try cluster.pull(1, from: 0)
        let held = try cluster[1].read { try HeldEntries($0).all() }.filter { $0.row == nil }
        #expect(held.map(\.table).sorted() == ["t", "u"])
        let column = try #require(held.first { $0.table == "t" })
        #expect(column.reason == "missing_column" && column.changes?.columns == ["b"] && column.changes?.count == 2)
        let table = try #require(held.first { $0.table == "u" })
        #expect(table.reason == "missing_table" && table.changes?.count == 2 && table.key.isEmpty)
        #expect(try cluster[1].read { try HeldEntries($0).all(reason: "missing_table").count } == 1)
        try cluster[1].write {
            try $0.execute(sql: "ALTER TABLE t ADD COLUMN b; CREATE TABLE u(id INTEGER PRIMARY KEY, x)")
        }
        try cluster[1].refreshDerivedState()
        #expect(try cluster[1].read { try HeldEntries($0).all() }.filter { $0.row == nil }.isEmpty)
    }

    @Test("what tables have shown is not listed when every machine drops its table or column, what came later is")
    func dropped() throws {
        let cluster = try Cluster(
            2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE u(id INTEGER PRIMARY KEY, x)")
        func waiting(_ index: Int) throws -> [String] {
            try cluster.inboxes[index].bringBackHeldRows()
            return try cluster[index].read { db in
                try HeldEntries(db).all().map { "\($0.table) \($0.reason) \($0.changes?.count ?? 0)" }
            }
        }
        for index in 0..<2 {
            try cluster.execute(index, "INSERT INTO t VALUES(\(index), 1, 2); INSERT INTO u VALUES(\(index), 3)")
        }
        try cluster.converge()
        let migration = "ALTER TABLE t DROP COLUMN b; DROP TABLE u"
        try cluster.execute(0, migration)
        #expect(try waiting(0) == [])
        // The other machine has not been migrated, and writes what this one cannot show any more.
        try cluster.execute(1, "UPDATE t SET b = 7; INSERT INTO u VALUES(9, 9)")
        try cluster.converge()
        #expect(try waiting(0) == ["t missing_column 2", "u missing_table 1"])
        try cluster.execute(1, migration)
        #expect(try waiting(1) == [])
        // Its next row without the column says that it has dropped it, too.
        try cluster.execute(1, "INSERT INTO t VALUES(10, 10)")
        try cluster.converge()
        #expect(try waiting(0) == ["u missing_table 1"])
    }
}
