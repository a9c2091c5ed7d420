import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Many similar changes go into tables and journal with one statement. An error of one row must not affect
/// the others.
@Suite("Rows that arrive many at a time")
struct ManyRowsTests {
    @Test("rows that the table refuses are held, each with its own reason, and all others are shown")
    func refused() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id PRIMARY KEY NOT NULL, a, n)",
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE ON CONFLICT REPLACE, n INTEGER CHECK (n < 1000)) STRICT
            """,
        ])
        try cluster.execute(
            0,
            """
            WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM r WHERE i < 100)
            INSERT INTO t SELECT CASE i WHEN 50 THEN 50.5 WHEN 90 THEN '90' ELSE i END,
              CASE i WHEN 23 THEN 'a21' WHEN 41 THEN NULL ELSE 'a' || i END,
              CASE i WHEN 5 THEN 1000 WHEN 40 THEN 'text' ELSE i END FROM r
            """)
        #expect(try cluster.pull(1, from: 0).applied == 100)
        let shown = try cluster[1].read { try Int.fetchAll($0, sql: "SELECT n FROM t WHERE id = n ORDER BY id") }
        #expect(shown == (1...100).filter { ![5, 23, 40, 41, 50, 90].contains($0) })
        let reasons = try cluster[1].read { db in try HeldEntries(db).all().map(\.reason) }
        #expect(reasons.sorted() == ["check", "datatype", "datatype", "key", "not_null", "unique"])
        #expect(try cluster.integrity(1).isEmpty)
    }

    @Test("a child without its parent is held, also when all children refer to rows of their own table")
    func orphans() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t(id))")
        // Each row refers to the row after it. The last row, and with it the last ten, refers to a missing
        // row.
        try cluster.execute(
            0,
            """
            PRAGMA defer_foreign_keys = ON;
            WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM r WHERE i < 101)
            INSERT INTO t SELECT i, CASE WHEN i = 90 THEN NULL WHEN i < 101 THEN i + 1 END FROM r
            """)
        let batches = try cluster.batches(from: 0, to: 1)
        try cluster.execute(1, "INSERT INTO t VALUES(101, NULL)")
        try cluster.execute(1, "DELETE FROM t WHERE id = 101")
        for batch in batches { _ = try cluster.inboxes[1].receive(batch) }
        let shown = try cluster[1].read { try Int.fetchAll($0, sql: "SELECT id FROM t ORDER BY id") }
        #expect(shown == Array(1...90))
        #expect(try cluster[1].read { db in try HeldEntries(db).all().count } == 10)
        #expect(try cluster.integrity(1).isEmpty)
    }

    @Test(
        "changes of other columns of the same rows do not conflict; changes of the same column are decided row by row"
    )
    func updates() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
        try cluster.execute(
            0,
            """
            WITH RECURSIVE r(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM r WHERE i < 100) INSERT INTO t SELECT i, 0, 0 FROM r
            """)
        try cluster.converge()
        try cluster.execute(0, "UPDATE t SET a = id")
        try cluster.execute(1, "UPDATE t SET b = id")
        try cluster.execute(1, "UPDATE t SET a = -id WHERE id % 10 = 0")
        #expect(try cluster.pull(0, from: 1).conflicts == 10)
        #expect(try cluster.pull(1, from: 0).conflicts == 10)
        for index in 0...1 {
            let sums = try cluster[index].read { db in
                try Int.fetchAll(db, sql: "SELECT sum(a) FROM t UNION ALL SELECT sum(b) FROM t ORDER BY 1")
            }
            // Writer 1 wrote ten rows later.
            #expect(sums == [5050 - 2 * 550, 5050])
        }
    }
}
