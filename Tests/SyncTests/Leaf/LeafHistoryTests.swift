import Foundation
import GRDB
import Journal
import MergeModel
import Sync
import TestSupport
import Testing

@testable import Sync

@Suite("Leaves, compaction, copies and restored hubs")
struct LeafHistoryTests {
    private let tree: Tree

    init() throws { tree = try Tree() }

    /// Writes what compaction can remove, in tables that leaves have and in one that they have not.
    private func churn(_ round: Int) throws {
        try tree.later(
            tree.hub,
            """
            UPDATE price SET cents = \(round * 10 + 5) WHERE id = 'a'; UPDATE zebra SET okapi = 'giraffe \(round)';
            INSERT INTO receipt VALUES ('gone\(round)', 'a', 1)
            """.replacingOccurrences(of: "'giraffe \(round)'", with: "'giraffe \(round) ' || id"))
        try tree.later(tree.hub, "DELETE FROM receipt WHERE id = 'gone\(round)'; DELETE FROM zebra WHERE id = 'panda2'")
    }

    @Test("a leaf counts for the horizon of its hub, and goes on after a compaction")
    func horizon() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        try churn(1)
        // The leaf has not said that it merged this.
        _ = try await leaf.exchange(over: peer)
        try churn(2)
        let before = try tree.hub.inbox.stableHorizon(lease: .max).vector
        #expect(try before[tree.hub.origin] < tree.hub.vector[tree.hub.origin])
        for _ in 0..<2 { _ = try await leaf.exchange(over: peer) }
        #expect(try tree.hub.inbox.stableHorizon(lease: .max).vector.covers(tree.hub.vector))
        #expect(try tree.hub.compactWhatIsStable() > 0)
        try churn(3)
        try tree.later(leaf, "INSERT INTO receipt VALUES ('r', 'a', 1)")
        #expect(try await leaf.exchange(over: peer).isLevel)
        try tree.expectEqualTables(leaf)
        // A leaf made of the compacted journal.
        let restarted = try tree.restartedPeer()
        let fresh = try await tree.leaf("fresh", from: restarted)
        try tree.expectEqualTables(fresh)
        try tree.later(fresh, "INSERT INTO receipt VALUES ('gone1', 'a', 5)")
        _ = try await fresh.exchange(over: restarted)
        _ = try await leaf.exchange(over: peer)
        try tree.expectEqualTables(leaf)
        #expect(
            try leaf.text("SELECT id FROM receipt WHERE n = 5") == ["gone1"], "its life is greater than the dead one")
        #expect(!peer.hasTold(Tree.secrets) && !restarted.hasTold(Tree.secrets))
    }

    @Test("its own compaction removes hidden entries, and leaves the same rows and knowledge")
    func ownCompaction() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        for round in 1...5 { try churn(round) }
        _ = try await leaf.exchange(over: peer)
        let hidden =
            "SELECT count(*) || '' FROM _journal JOIN _journal_tables USING (shape) WHERE name = '_journal_hidden'"
        let before = try #require(Int(leaf.text(hidden)[0]))
        #expect(try leaf.compact() > 0)
        let after = try #require(Int(leaf.text(hidden)[0]))
        #expect(before > 5 && after <= 1)
        try tree.expectEqualTables(leaf)
        try churn(6)
        try tree.later(leaf, "UPDATE price SET name = 'leaf' WHERE id = 'b'")
        #expect(try await leaf.exchange(over: peer).isLevel)
        try tree.expectEqualTables(leaf)
        #expect(
            try leaf.text(
                """
                SELECT count(*) || '' FROM _journal_lives
                WHERE tbl IN (SELECT tbl FROM _journal_tables WHERE name = '_journal_hidden')
                """
            ) == ["0"])
    }

    @Test("a leaf behind the horizon comes back by a copy with its tables, with what it wrote unseen")
    func comesBack() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        try tree.later(
            leaf, "INSERT INTO receipt VALUES ('mine', 'a', 1); UPDATE price SET name = 'leaf' WHERE id = 'b'")
        try churn(1)
        try churn(2)
        #expect(try tree.hub.compact() > 0)
        let error = await #expect(throws: SyncError.self) { try await leaf.exchange(over: peer) }
        #expect(error?.code == .behindHorizon)
        let restarted = try tree.restartedPeer()
        var back = Return(leaf.inbox, from: restarted)
        back.clock = ManualClock()
        let report = try await back.run()
        #expect(report.unseen == 2)
        #expect(try leaf.replica.identity().leaf?.scope.tables == ["price", "receipt"])
        for _ in 0..<2 { _ = try await leaf.exchange(over: restarted) }
        try tree.expectEqualTables(leaf)
        #expect(try tree.hub.text("SELECT id FROM receipt") == ["mine"])
        #expect(try !restarted.hasTold(Tree.secrets) && !LimitedPeer.has(leaf.bytes(), Tree.secrets))
    }

    @Test("a leaf does not come back by a copy of all tables, and says why")
    func otherCopy() async throws {
        let leaf = try await tree.leaf()
        var back = Return(leaf.inbox, from: LocalTransport(tree.endpoint, name: "hub"))
        back.clock = ManualClock()
        let error = await #expect(throws: SyncError.self) { try await back.run() }
        #expect(error?.code == .configuration && error?.hint != nil)
        #expect(try leaf.replica.identity().leaf != nil)
    }

    @Test("a hub that was restored takes a new identity by what a leaf covers, and both go on")
    func restoredHub() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        let backup = tree.directory.file("backup")
        _ = try DatabaseCopy(to: backup).run(of: tree.hub.replica)
        try churn(1)
        _ = try await leaf.exchange(over: peer)
        let restored = try ReplicaFixture(.open(at: backup, options: .unsynced), tree.hub.settings)
        let other = try LimitedPeer(restored.endpoint, "price", "receipt")
        try tree.later(restored, "INSERT INTO receipt VALUES ('new', 'a', 1)")
        for _ in 0..<3 { _ = try await leaf.exchange(over: other) }
        #expect(try restored.origin != tree.hub.origin)
        #expect(try leaf.text("SELECT id FROM receipt") == ["new"])
        try tree.later(leaf, "INSERT INTO receipt VALUES ('r', 'a', 1)")
        _ = try await leaf.exchange(over: other)
        #expect(try restored.text("SELECT id FROM receipt ORDER BY id") == ["new", "r"])
        // What only the leaf has of others stays there: it gives nothing on.
        #expect(try restored.vector[tree.hub.origin] < leaf.vector[tree.hub.origin])
        #expect(!other.hasTold(Tree.secrets))
        try restored.close()
    }

    @Test("random lives: equal tables, equal knowledge, and no byte of the third table")
    func random() async {
        let report = await LeafCampaign.run(seed: 1, count: 8)
        #expect(report.isComplete, "\(report.failures.joined(separator: "\n"))")
    }
}
