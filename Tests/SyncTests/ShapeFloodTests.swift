import GRDB
import Journal
import Testing

@testable import Sync

/// What a peer with a token can make grow besides rows.
@Suite("Shapes of tables that no replica has")
struct ShapeFloodTests {
    private static let origin = OriginID(high: 77, low: 1)

    /// One change in each of `tables`. With `ends`, the last one ends the transaction.
    private func batch(tables: Range<Int>, firstVersion: Int64, ends: Bool = true) -> ChangeBatch {
        var batch = ChangeBatch()
        for (index, table) in tables.enumerated() {
            batch.shapes.append(TableShape(table: "made_up_\(table)", columns: ["id"], keyCount: 1))
            batch.values.append(.integer(1))
            batch.changes.append(
                Change(
                    shape: index, operation: .insert, life: 1, stamp: Stamp(rawValue: firstVersion + Int64(index)),
                    mask: ColumnMask(all: 1), values: index..<index + 1,
                    endsTransaction: ends && index == tables.count - 1))
        }
        batch.runs = [
            Run(
                origin: Self.origin, firstVersion: firstVersion, changes: 0..<batch.changes.count,
                known: VersionVector())
        ]
        return batch
    }

    @Test("are refused beyond the limit of a file, and nothing of their batch stays")
    func refused() throws {
        var limits = Limits.standard
        limits.shapesPerFile = 10
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY)", limits: limits)
        _ = try cluster.inboxes[0].receive(batch(tables: 0..<9, firstVersion: 1))
        let error = #expect(throws: SyncError.self) {
            _ = try cluster.inboxes[0].receive(batch(tables: 9..<11, firstVersion: 10))
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.hint?.isEmpty == false)
        #expect(try cluster.inboxes[0].vector() == VersionVector([.init(origin: Self.origin, version: 9)]))
        let count = try cluster[0].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_tables") }
        #expect(count == 10)
        // Other peers are not delayed.
        try cluster.execute(1, "INSERT INTO t VALUES (1)")
        #expect(try cluster.pull(0, from: 1).applied == 1)
    }

    @Test("do not exclude shapes of tables that are here, even beyond the limit")
    func ownTables() throws {
        var limits = Limits.standard
        limits.shapesPerFile = 1
        let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE u(id INTEGER PRIMARY KEY)"
        let cluster = try Cluster(2, schema: schema, limits: limits)
        try cluster.execute(1, "INSERT INTO t VALUES (1); INSERT INTO u VALUES (1)")
        #expect(try cluster.pull(0, from: 1).applied == 2)
    }

    @Test("count as memory until the end of their transaction arrives")
    func pending() {
        var parts = PendingParts()
        let part = batch(tables: 0..<100, firstVersion: 1, ends: false)
        let isKept = parts.append(part, of: Self.origin, limit: 100 * 80)
        #expect(!isKept)
        #expect(parts.isEmpty)
        let isKeptWithRoom = parts.append(part, of: Self.origin, limit: 1 << 20)
        #expect(isKeptWithRoom)
    }
}
