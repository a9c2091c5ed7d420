import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Impossible, forged, contradictory or unbounded messages of a peer: each is refused or held, and other
/// peers continue. The tests of the wire format are in `Wire/`, those of times and histories in `Clocks/` and
/// `Identity/`.
@Suite("Changes that no honest replica sends")
struct ForgedChangesTests {
    static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n INTEGER, twice INTEGER AS (n * 2));
        CREATE TABLE pair(a TEXT NOT NULL, b NUMERIC NOT NULL, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE "no key"(x);
        CREATE VIEW v AS SELECT * FROM t;
        CREATE VIRTUAL TABLE words USING fts5(text);
        """
    static let forger = OriginID(high: 50, low: 50)

    private struct Row {
        var operation = Journal.Operation.insert
        var life: Int64 = 1
        var values: [Value]
        var columns: [Int]?
        var ends = true
    }

    private func batch(
        _ table: String, _ columns: [String], keys: Int = 1, _ rows: [Row], origin: OriginID = forger, first: Int64 = 1
    ) -> ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: table, columns: columns, keyCount: keys)]
        for (index, row) in rows.enumerated() {
            let start = batch.values.count
            batch.values += row.values.map { $0 }
            var mask = row.operation == .insert ? ColumnMask(all: columns.count) : ColumnMask()
            if let chosen = row.columns {
                mask = ColumnMask()
                for column in chosen { mask.insert(column) }
            }
            batch.changes.append(
                Change(
                    shape: 0, operation: row.operation, life: row.life,
                    stamp: Stamp(milliseconds: 1_000_000 + first + Int64(index)), mask: mask,
                    values: start..<batch.values.count, endsTransaction: row.ends))
        }
        batch.runs = [
            Run(origin: origin, firstVersion: first, changes: 0..<rows.count, known: VersionVector())
        ]
        return batch
    }

    /// Receives a batch as from the wire.
    @discardableResult
    private func receive(_ batch: ChangeBatch, _ cluster: Cluster, _ index: Int = 0) throws -> ReceiveReport {
        #expect(batch.checkInvariants() == nil)
        let bytes = try BatchCodec.encode(batch)
        return try cluster.inboxes[index].receive(BatchCodec.decode(bytes, limits: cluster.limits))
    }

    private func schemaText(_ cluster: Cluster) throws -> [String] {
        try cluster[0].read {
            try String.fetchAll(
                $0,
                sql:
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '\\_journal' ESCAPE '\\' ORDER BY name"
            )
        }
    }

    @Test(
        "B35, B36: a name that is no tracked table stays unknown, in any spelling; tables of Tandem or SQLite are not written",
        arguments: [
            "t\"; DROP TABLE t;--", "main.t", "temp.t", "sqlite_master", "sqlite_schema", "sqlite_sequence",
            "sqlite_stat1",
            "_journal", "_journal_held", "_journal_names", "no key", "v", "words", "words_data", "T\u{301}",
        ])
    func tableNames(name: String) throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t(id, name) VALUES(1, 'mine')")
        let before = (try cluster.content(0), try schemaText(cluster))
        let report = try receive(
            batch(name, ["id", "name"], [Row(values: [.integer(1), .text("forged")])]), cluster)
        #expect(report.applied == 1)
        try cluster.inboxes[0].bringBackHeldRows()
        #expect(try cluster.content(0) == before.0)
        #expect(try schemaText(cluster) == before.1)
        let held = try cluster[0].read { try HeldEntries($0).all() }
        #expect(held.map(\.reason) == ["missing_table"])
        #expect(held.map(\.table) == [name])
        // It is forwarded, and nothing else waits for it.
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test(
        "B37: columns of other names are unknown columns",
        arguments: ["rowid", "_rowid_", "oid", "twice", "n\u{301}", "name "])
    func columnNames(name: String) throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try receive(
            batch("T", ["ID", "NAME", name], [Row(values: [.integer(7), .text("x"), .integer(99)])]), cluster)
        try cluster.converge()
        for index in 0..<2 {
            #expect(
                try cluster[index].read {
                    try String.fetchAll($0, sql: "SELECT rowid || name || ifnull(n, '-') FROM t")
                }
                    == ["7x-"])
            #expect(try cluster[index].read { try HeldEntries($0).all().map(\.reason) } == ["missing_column"])
        }
    }

    @Test("B42: a key that the table would store as another value is held, and does not affect the row with that key")
    func keysOfAnotherType() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO t(id, name) VALUES(1, 'mine'); INSERT INTO pair VALUES('1', 1, 'mine')")
        let columns = ["id", "name"]
        try receive(
            batch(
                "t", columns,
                [
                    Row(values: [.text("1"), .text("text")]), Row(values: [.null, .text("null")]),
                    Row(values: [.text(" 2.0 "), .text("real")]), Row(values: [.text("x"), .text("word")]),
                    Row(values: [.real(3), .text("three")]), Row(values: [.blob([1]), .text("blob")]),
                ]), cluster)
        try receive(
            batch(
                "pair", ["a", "b", "v"], keys: 2,
                [
                    Row(values: [.integer(1), .integer(1), .null]), Row(values: [.text("1"), .text("1"), .null]),
                    Row(values: [.text("1"), .text("one"), .text("fits")]),
                ], first: 7), cluster)
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        let shown = try cluster[0].read {
            try String.fetchAll($0, sql: "SELECT id || name FROM t UNION ALL SELECT a || b || v FROM pair")
        }
        #expect(shown.sorted() == ["11mine", "1mine", "1onefits", "3three"])
        let reasons = try cluster[0].read { try HeldEntries($0).all().map(\.reason).sorted() }
        #expect(reasons == ["datatype", "datatype", "key", "key", "key", "key", "key"])
        // An update and a delete of the forged key find it.
        try receive(
            batch(
                "t", columns,
                [
                    Row(operation: .update, values: [.text("1"), .text("again")], columns: [1]),
                    Row(operation: .delete, life: 2, values: [.null]),
                ], first: 10), cluster)
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster[0].read { try HeldEntries($0).all().count } == 6)
        #expect(try cluster[0].read { try String.fetchOne($0, sql: "SELECT name FROM t WHERE id = 1") } == "mine")
    }

    @Test("a key of another type is shown when a migration lets the table take it")
    func keyTypeChanged() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)", "CREATE TABLE t(id INTEGER PRIMARY KEY NOT NULL, v)",
        ])
        try cluster.execute(0, "INSERT INTO t VALUES('1', 'a'), ('b', 'b')")
        try cluster.converge()
        #expect(try cluster[1].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        try cluster.execute(
            1, "CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, v); DROP TABLE t; ALTER TABLE n RENAME TO t")
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.content(1).count == 2)
    }

    @Test("B27: one key several times in a transaction: the last write counts")
    func keyTwice() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        let columns = ["id", "name"]
        try receive(
            batch(
                "t", columns,
                [
                    Row(values: [.integer(1), .text("a")], ends: false),
                    Row(values: [.integer(1), .text("b")], ends: false),
                    Row(operation: .update, values: [.integer(1), .text("c")], columns: [1], ends: false),
                    Row(operation: .delete, life: 2, values: [.integer(2)], ends: false),
                    Row(operation: .delete, life: 2, values: [.integer(2)]),
                ]), cluster)
        try cluster.converge()
        for index in 0..<2 {
            #expect(try cluster[index].read { try String.fetchAll($0, sql: "SELECT id || name FROM t") } == ["1c"])
        }
    }

    @Test("B54: a delete of a row that never existed counts, and an older insert does not bring the row back")
    func deleteFirst() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try receive(
            batch("t", ["id", "name"], [Row(operation: .delete, life: 2, values: [.integer(5)])]), cluster)
        try receive(
            batch(
                "t", ["id", "name"], [Row(values: [.integer(5), .text("late")])], origin: OriginID(high: 60, low: 60)),
            cluster)
        try cluster.converge()
        for index in 0..<2 {
            #expect(try cluster[index].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        }
        try cluster.execute(1, "INSERT INTO t(id, name) VALUES(5, 'new')")
        try cluster.converge()
        #expect(try cluster[0].read { try String.fetchOne($0, sql: "SELECT name FROM t") } == "new")
    }

    @Test("B50: a gap is refused as a whole, the file does not change, and the right batch is accepted afterwards")
    func gap() throws {
        let cluster = try Cluster(1, schema: Self.schema)
        let rows = (1...3).map { Row(values: [.integer(Int64($0)), .text("x")]) }
        try receive(batch("t", ["id", "name"], rows), cluster)
        let (before, vector) = (try cluster.content(0), try cluster.inboxes[0].vector())
        for first in [5, 1 << 40, Limits.standard.versions - 1] as [Int64] {
            let error = #expect(throws: SyncError.self) {
                try receive(
                    batch("t", ["id", "name"], [Row(values: [.integer(9), .text("y")])], first: first), cluster)
            }
            #expect(error?.code == .gap)
        }
        #expect(try cluster.content(0) == before)
        #expect(try cluster.inboxes[0].vector() == vector)
        try receive(batch("t", ["id", "name"], [Row(values: [.integer(4), .text("x")])], first: 4), cluster)
        #expect(try cluster.content(0).count == 4)
        // B55: the batches again, one by one and together.
        for _ in 0..<2 {
            let again = try receive(batch("t", ["id", "name"], rows), cluster)
            #expect(again.applied == 0 && again.duplicates == 3)
        }
    }

    @Test(
        "an origin that contradicts itself is held back with everything that builds on it, and the rest of the batch is applied"
    )
    func contradiction() throws {
        let cluster = try Cluster(1, schema: Self.schema)
        var wrong = batch(
            "t", ["id", "name"],
            [
                Row(values: [.integer(1), .text("a")]), Row(operation: .delete, life: 100, values: [.integer(1)]),
                Row(values: [.integer(3), .text("c")]), Row(values: [.integer(4), .text("d")]),
            ])
        let other = OriginID(high: 60, low: 60)
        let third = OriginID(high: 70, low: 70)
        wrong.runs[0].changes = 0..<2
        wrong.runs.append(Run(origin: other, firstVersion: 1, changes: 2..<3, known: VersionVector()))
        wrong.runs.append(
            Run(
                origin: third, firstVersion: 1, changes: 3..<4,
                known: VersionVector([.init(origin: Self.forger, version: 2)])))
        let report = try receive(wrong, cluster)
        #expect(report.isDeferred && report.applied == 2)
        #expect(try cluster[0].read { try Int.fetchAll($0, sql: "SELECT id FROM t") } == [1, 3])
        let held = try cluster.inboxes[0].deferred()
        #expect(held[Self.forger] == 2 && held[third] == 1 && held[other] == 0)
    }
}
