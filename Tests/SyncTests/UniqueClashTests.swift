import Sync
import Testing

/// Decision 0008, rules 2 and 4, for several indexes and many rows.
@Suite("Clashes over several UNIQUE indexes")
struct UniqueClashTests {
    @Test("a long chain over three indexes has the same result on every machine at each step")
    func dominoes() throws {
        let cluster = try Cluster(
            5, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT UNIQUE, c TEXT UNIQUE)")
        // Each row clashes with the row before it: 2 by a, 3 by b, 4 by c, 5 by a again.
        let rows = [
            "1, 'p', 'b1', 'c1'", "2, 'p', 'q', 'c2'", "3, 'a3', 'q', 'r'", "4, 's', 'b4', 'r'", "5, 's', 'b5', 'c5'",
        ]
        for (index, row) in rows.enumerated() { try cluster.execute(index, "INSERT INTO t VALUES(\(row))") }
        // The last machine gets the latest row first.
        for source in [3, 2, 1, 0] { try cluster.pull(4, from: source) }
        try cluster.converge()
        // The earliest row is shown, and every second row after it. Each step deletes it, and the next row is
        // the earliest.
        for (step, shown) in [[1, 3, 5], [2, 4], [3, 5], [4], [5]].enumerated() {
            try cluster.expectEqual()
            #expect(try cluster.text(step, "SELECT id || '' FROM t ORDER BY id") == shown.map { "\($0)" })
            #expect(try cluster.heldReasons(step).count == 5 - step - shown.count)
            try cluster.execute(step, "DELETE FROM t WHERE id = \(shown[0])")
            try cluster.converge()
        }
        for index in 0..<5 { #expect(try cluster.content(index).isEmpty, "replica \(index)") }
    }

    @Test(
        "a UNIQUE column of the key is claimed by the insert, whichever row is there first",
        arguments: ["", " WITHOUT ROWID"])
    func columnOfTheKey(option: String) throws {
        let cluster = try Cluster(
            3,
            schema:
                "CREATE TABLE t(k INTEGER NOT NULL, l TEXT NOT NULL, a TEXT, PRIMARY KEY (k, l), UNIQUE (l))\(option)")
        try cluster.execute(1, "INSERT INTO t VALUES(2, 'x', 'early')")
        try cluster.executeLater(0, "INSERT INTO t VALUES(1, 'x', 'late')")
        try cluster.pull(2, from: 0)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(2, "SELECT a FROM t") == ["early"])
        #expect(try cluster.heldReasons(0) == ["unique"])
        // A later change of another column claims nothing.
        try cluster.executeLater(1, "UPDATE t SET a = 'changed'")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, "SELECT a FROM t") == ["changed"])
    }

    @Test("rows with NULL in one column of an index never clash in it")
    func nulls() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT, UNIQUE (a, b))")
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'x', NULL), (4, 'x', 'y')")
        try cluster.executeLater(1, "INSERT INTO t VALUES(2, 'x', NULL), (3, NULL, 'y'), (5, 'x', 'y')")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(2, "SELECT id || '' FROM t ORDER BY id") == ["1", "2", "3", "4"])
        #expect(try cluster.heldReasons(2) == ["unique"])
        // With NULL the row does not clash.
        try cluster.execute(0, "UPDATE t SET b = NULL WHERE id = 4")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(2, "SELECT id || '' FROM t ORDER BY id") == ["1", "2", "3", "4", "5"])
    }

    @Test(
        "values that rows exchange in one transaction, and a value that was used only within it, keep no row out",
        arguments: [1, 8_192])
    func rotation(changesPerBatch: Int) throws {
        var limits = Limits.standard
        limits.changesPerBatch = changesPerBatch
        let cluster = try Cluster(
            3, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT UNIQUE)", limits: limits)
        try cluster.execute(0, "INSERT INTO t VALUES(1, 'a'), (2, 'b'), (3, 'c')")
        try cluster.converge()
        try cluster.execute(
            0,
            """
            UPDATE t SET code = 'passing' WHERE id = 1; UPDATE t SET code = 'a' WHERE id = 2;
            UPDATE t SET code = 'b' WHERE id = 3; UPDATE t SET code = 'c' WHERE id = 1
            """)
        try cluster.execute(1, "INSERT INTO t VALUES(4, 'passing')")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(2, "SELECT id || code FROM t ORDER BY id") == ["1c", "2a", "3b", "4passing"])
        #expect(try cluster.ledger(2).isEmpty)
    }
}
