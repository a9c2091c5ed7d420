import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Rows with NULL in their key are not replicated")
struct KeylessRowsTests {
    private static let schema = "CREATE TABLE t (k TEXT PRIMARY KEY, v); CREATE TABLE u (a, b, v, PRIMARY KEY (a, b));"

    private let directory = TemporaryDirectory()

    @Test("they are no difference, and a repair leaves them alone")
    func ignored() async throws {
        let a = try ReplicaPair.make(
            directory.file("a.sqlite"),
            schema: Self.schema
                + """
                INSERT INTO t VALUES (NULL, 'x'), ('a', 'y'), (NULL, 'z');
                INSERT INTO u VALUES (1, NULL, 'x'), (1, 2, 'y'), (NULL, 3, 'z');
                """, number: 1)
        let b = try ReplicaPair.make(directory.file("b.sqlite"), schema: Self.schema, number: 2)
        var limits = Limits.standard
        limits.comparisonIntervalMilliseconds = 0
        let replicator = try Replicator(replica: a, limits: limits)
        let peer = try PeerConfiguration(directory.file("b.sqlite"))
        #expect(try await replicator.syncOnce(peer).mismatches.isEmpty)

        let report = try await replicator.verify(peer)
        #expect(report.isEqual)
        #expect(report.tables.map(\.rows) == [1, 1])
        let repair = try await replicator.repair(peer, .fromJournal)
        #expect(repair.total == 0 && repair.after.isEqual)
        for table in ["t", "u"] {
            let count = "SELECT count(*) FROM \(table)"
            #expect(try a.read { try Int.fetchOne($0, sql: count) } == 3)
            #expect(try b.read { try Int.fetchOne($0, sql: count) } == 1)
        }
    }

    @Test("a peer that reports one gets no repair for it")
    func told() throws {
        let a = try ReplicaPair.make(directory.file("a.sqlite"), schema: Self.schema, number: 1)
        let replicator = try Replicator(replica: a)
        let seq = try a.read { try JournalReader($0).lastSeq }
        var report = VerifyReport(peer: "old")
        report.ours = try a.read { try JournalReader($0).vector() }
        var table = VerifyReport.Table(name: "t")
        table.differences = [
            .init(
                key: [(column: "k", value: .null)], kind: .onlyThere,
                theirs: [(column: "k", value: .null), (column: "v", value: .text("x"))])
        ]
        report.tables = [table]
        var outcome = RepairReport(after: report)
        try replicator.inbox.repair(report, .fromJournal, into: &outcome)
        #expect(outcome.total == 0)
        #expect(try a.read { try JournalReader($0).lastSeq } == seq)
    }
}
