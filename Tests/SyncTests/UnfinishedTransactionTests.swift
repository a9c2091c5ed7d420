import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// A transaction of another program has no mark at its end: a reader takes the journal's end in its snapshot
/// for the transaction's end. So one replica may have changes as a whole transaction that another one has as
/// the beginning of a longer one.
@Suite("Transactions whose end does not arrive")
struct UnfinishedTransactionTests {
    enum Way: CaseIterable, Sendable {
        case pull, push
    }

    private static let inFile = 0
    private static let inMemory = 1 << 20

    private func cluster(changesPerBatch: Int, pendingBytes: Int) throws -> Cluster {
        var limits = Limits.standard
        limits.changesPerBatch = changesPerBatch
        limits.pendingBytes = pendingBytes
        return try Cluster(
            4, schema: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)", limits: limits)
    }

    /// Replica 0 sends its first three changes to replica 1 and the first batch of all five to replica 2, and
    /// then disappears.
    private func part(changesPerBatch: Int, pendingBytes: Int) throws -> Cluster {
        let cluster = try cluster(changesPerBatch: changesPerBatch, pendingBytes: pendingBytes)
        let program = try RawConnection(path: cluster[0].path)
        for id in 1...3 { try program.run("INSERT INTO note VALUES (\(id), 'x')") }
        try cluster.pull(1, from: 0)
        for id in 4...5 { try program.run("INSERT INTO note VALUES (\(id), 'x')") }
        let report = try cluster.inboxes[2].receive(cluster.batches(from: 0, to: 2)[0])
        #expect(report.applied == 0 && report.staged == changesPerBatch)
        return cluster
    }

    private func sync(_ cluster: Cluster, _ a: Int, with b: Int) async throws {
        try await cluster.members[a].exchange(with: cluster.members[b])
    }

    private func ids(_ cluster: Cluster, _ index: Int) throws -> [Int] {
        try cluster[index].read { try Int.fetchAll($0, sql: "SELECT id FROM note ORDER BY id") }
    }

    @Test(
        "a transaction that a peer has as a whole is shown and forwarded as a whole (P21)", arguments: Way.allCases,
        [Self.inFile, Self.inMemory])
    func knownAsWhole(way: Way, pendingBytes: Int) async throws {
        let cluster = try part(changesPerBatch: 3, pendingBytes: pendingBytes)
        switch way {
        case .pull: try await sync(cluster, 2, with: 1)
        case .push: try await sync(cluster, 1, with: 2)
        }
        #expect(try ids(cluster, 2) == [1, 2, 3])
        #expect(try cluster.inboxes[2].vector() == cluster.inboxes[1].vector())
        try cluster.execute(2, "INSERT INTO note VALUES (9, 'later')")
        try cluster.pull(3, from: 2)
        #expect(try ids(cluster, 3) == [1, 2, 3, 9])
        try cluster.converge()
        for index in 0..<4 { #expect(try ids(cluster, index) == [1, 2, 3, 4, 5, 9]) }
    }

    @Test("the rest behind it still waits for its end", arguments: Way.allCases, [Self.inFile, Self.inMemory])
    func knownInPart(way: Way, pendingBytes: Int) async throws {
        let cluster = try part(changesPerBatch: 4, pendingBytes: pendingBytes)
        let origin = try cluster[0].identity().origin
        switch way {
        case .pull: try await sync(cluster, 2, with: 1)
        case .push: try await sync(cluster, 1, with: 2)
        }
        #expect(try ids(cluster, 2) == [1, 2, 3])
        #expect(try cluster.inboxes[2].vector()[origin] == 3)
        #expect(try cluster.inboxes[2].have()[origin] == 4)
        try cluster.pull(2, from: 0)
        #expect(try ids(cluster, 2) == [1, 2, 3, 4, 5])
    }

    @Test("a peer that knows more, or less than the beginning, decides nothing about it", arguments: Way.allCases)
    func unknown(way: Way) async throws {
        let cluster = try part(changesPerBatch: 2, pendingBytes: Self.inMemory)
        switch way {
        case .pull: try await sync(cluster, 2, with: 3)
        case .push: try await sync(cluster, 3, with: 2)
        }
        #expect(try ids(cluster, 2) == [])
    }

    @Test(
        "a beginning that does not grow is dropped after its time, and arrives again as a whole",
        arguments: [Self.inFile, Self.inMemory])
    func dropped(pendingBytes: Int) throws {
        let cluster = try cluster(changesPerBatch: 2, pendingBytes: pendingBytes)
        let origin = try cluster[0].identity().origin
        let program = try RawConnection(path: cluster[0].path)
        for id in 1...5 { try program.run("INSERT INTO note VALUES (\(id), 'x')") }
        let parts = try cluster.batches(from: 0, to: 2)
        let time = Mutex(Cluster.now.milliseconds)
        let inbox = try Inbox(replica: cluster[2], limits: cluster.limits) {
            Stamp(milliseconds: time.withLock { $0 })
        }
        let wait = cluster.limits.unfinishedMilliseconds
        _ = try inbox.receive(parts[0])
        #expect(try inbox.dropUnfinished() == [])
        time.withLock { $0 += wait - 1 }
        _ = try inbox.receive(parts[1])
        #expect(try inbox.dropUnfinished() == [])
        time.withLock { $0 += wait - 1 }
        #expect(try inbox.dropUnfinished() == [])
        #expect(try inbox.have()[origin] == 4)
        time.withLock { $0 += 1 }
        #expect(try inbox.dropUnfinished() == [origin])
        #expect(try inbox.have()[origin] == 0)
        #expect(throws: SyncError.self) { try inbox.receive(parts[2]) }
        for part in parts { _ = try inbox.receive(part) }
        #expect(try ids(cluster, 2) == [1, 2, 3, 4, 5])
        try inbox.close()
    }
}
