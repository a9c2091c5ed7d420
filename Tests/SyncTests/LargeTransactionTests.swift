import GRDB
import Journal
import Sync
import TestSupport
import Testing

@Suite("A transaction larger than a batch")
struct LargeTransactionTests {
    static let schema =
        "CREATE TABLE item(id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE note(id INTEGER PRIMARY KEY)"

    /// One transaction of 35 changes in two tables, in batches of ten.
    private func cluster(pendingBytes: Int) throws -> Cluster {
        var limits = Limits.standard
        limits.changesPerBatch = 10
        limits.pendingBytes = pendingBytes
        let cluster = try Cluster(2, schema: Self.schema, limits: limits)
        try cluster.execute(
            0,
            """
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 30)
            INSERT INTO item SELECT i, 'x' FROM n;
            INSERT INTO note VALUES (1), (2), (3), (4), (5);
            """)
        return cluster
    }

    private func staged(_ replica: Replica) throws -> Int {
        try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_inbox") ?? 0 }
    }

    @Test(
        "a cut transfer continues where it was cut, also in a restarted process, and everything becomes visible at once"
    )
    func resumed() throws {
        let cluster = try cluster(pendingBytes: 0)
        let first = try cluster.batches(from: 0, to: 1)
        #expect(first.map(\.changes.count) == [10, 10, 10, 5])
        for batch in first.prefix(2) { #expect(try cluster.inboxes[1].receive(batch).staged == 10) }
        #expect(try staged(cluster[1]) == 2)

        // Another process with the same file: only changes that are not durable there are sent again.
        let restarted = try Inbox(replica: cluster[1], limits: cluster.limits) { Cluster.now }
        let rest = try cluster.batches(from: 0, to: 1)
        #expect(rest.map(\.changes.count) == [10, 5])
        #expect(try restarted.receive(rest[0]).staged == 10)
        #expect(try cluster.content(1).isEmpty)
        #expect(try restarted.vector() == VersionVector())
        #expect(try restarted.receive(rest[1]).applied == 35)
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.content(1).count == 35)
        #expect(try staged(cluster[1]) == 0)
    }

    @Test("changes that were only in memory are sent again after a restart, and nothing is there twice")
    func restartedWithoutStaging() throws {
        let cluster = try cluster(pendingBytes: 1 << 20)
        for batch in try cluster.batches(from: 0, to: 1).prefix(3) { _ = try cluster.inboxes[1].receive(batch) }
        #expect(try staged(cluster[1]) == 0)
        let restarted = try Inbox(replica: cluster[1], limits: cluster.limits) { Cluster.now }
        let batches = try cluster.batches(from: 0, after: restarted.have())
        #expect(batches.map(\.changes.count) == [10, 10, 10, 5])
        var applied = 0
        for batch in batches { applied += try restarted.receive(batch).applied }
        #expect(applied == 35)
        #expect(try cluster.content(1) == cluster.content(0))
    }
}
