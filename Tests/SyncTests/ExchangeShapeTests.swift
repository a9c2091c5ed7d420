import GRDB
import Journal
import Sync
import TestSupport
import Testing

@Suite("Exchange between replicas whose files differ")
struct ExchangeShapeTests {
    @Test("columns in another order, other white space and other indexes change nothing")
    func columnOrder() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, note BLOB)",
            """
            CREATE TABLE "item" ( note BLOB , price REAL,
              id INTEGER PRIMARY KEY, name TEXT NOT NULL );
            CREATE INDEX by_price ON item(price);
            """,
        ])
        try cluster.execute(0, "INSERT INTO item VALUES(1, 'one', 1.5, x'01'), (2, 'two', 2.5, NULL)")
        try cluster.execute(1, "INSERT INTO item(id, name, price) VALUES(3, 'three', 3)")
        try cluster.converge()
        try cluster.execute(1, "UPDATE item SET name = 'uno', note = x'' WHERE id = 1")
        try cluster.execute(0, "UPDATE item SET price = 9 WHERE id = 3; DELETE FROM item WHERE id = 2")
        try cluster.converge()
        let rows = try (0..<2).map { index in
            try cluster[index].read { db in
                try String.fetchAll(db, sql: "SELECT id || name || quote(price) || quote(note) FROM item ORDER BY id")
            }
        }
        #expect(rows[0] == ["1uno1.5X''", "3three9.0NULL"])
        #expect(rows[0] == rows[1])
    }

    @Test("a third replica gets everything through a relay, under the origins of the writers")
    func relay() throws {
        let cluster = try Cluster(3, schema: ConvergenceTests.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900)")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "UPDATE artist SET born = 1901")
        try cluster.pull(2, from: 1)
        #expect(try cluster.content(2) == ["artist: integer:1 | text:'a' | integer:1901"])
        let first = try cluster[0].identity().origin
        let second = try cluster[1].identity().origin
        let origins = try cluster[2].read { try JournalReader($0).entries(after: 0, limit: 10).map(\.origin) }
        #expect(origins == [first, second])
        #expect(try cluster.inboxes[2].vector() == cluster.inboxes[1].vector())
    }

    @Test("a value keeps its storage class and its bytes on every hop")
    func fidelity() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE v(id INTEGER PRIMARY KEY, value)")
        let values = [
            "NULL", "x''", "''", "9223372036854775807", "-9223372036854775808", "9007199254740993", "1", "1.0", "0.1",
            "1e300", "5e-324", "CAST(x'610062' AS TEXT)", "CAST(x'ff80' AS TEXT)", "x'00ff'", "'e' || char(769)",
            "char(233)",
        ]
        for (index, value) in values.enumerated() { try cluster.execute(0, "INSERT INTO v VALUES(\(index), \(value))") }
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 1)
        let sql = "SELECT typeof(value) || hex(CAST(value AS BLOB)) || quote(value) FROM v ORDER BY id"
        let sent = try cluster[0].read { try String.fetchAll($0, sql: sql) }
        #expect(sent.count == values.count)
        #expect(try cluster[2].read { try String.fetchAll($0, sql: sql) } == sent)
    }

    @Test("a stamp far ahead of the clock is held back with what follows it, and is applied when the clock gets there")
    func clockSkew() throws {
        let cluster = try Cluster(2, schema: ConvergenceTests.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1)")
        let late = try Inbox(replica: cluster[1], wallClock: { Stamp(milliseconds: 1_000) })
        let batches = try cluster.batches(from: 0, to: 1)
        for batch in batches { #expect(try late.receive(batch).isDeferred) }
        #expect(try cluster.content(1).isEmpty)
        for batch in batches { #expect(try cluster.inboxes[1].receive(batch).applied == 1) }
        #expect(try cluster.content(1).count == 1)
    }

    @Test("a peer that claims to know more of this replica than this replica itself is refused, and nothing is applied")
    func restoredFile() throws {
        let cluster = try Cluster(2, schema: ConvergenceTests.schema)
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: "artist", columns: ["id", "name", "born"], keyCount: 1)]
        batch.values = [.integer(1), .text("x"), .null]
        batch.changes = [
            Change(
                shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: 1), mask: ColumnMask(all: 3),
                values: 0..<3,
                endsTransaction: true)
        ]
        batch.runs = [
            Run(origin: try cluster[0].identity().origin, firstVersion: 1, changes: 0..<1, known: VersionVector())
        ]
        let error = #expect(throws: SyncError.self) { _ = try cluster.inboxes[0].receive(batch) }
        #expect(error?.code == .fork)
        #expect(try cluster.content(0).isEmpty)
        batch.runs[0].origin = try cluster[1].identity().origin
        batch.runs[0].firstVersion = 2
        let gap = #expect(throws: SyncError.self) { _ = try cluster.inboxes[0].receive(batch) }
        #expect(gap?.code == .gap)
    }
}
