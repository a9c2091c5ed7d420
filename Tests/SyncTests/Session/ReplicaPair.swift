import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Two replicas of one small schema, a transport from the first to the second, and a replicator on each.
final class ReplicaPair: Sendable {
    enum Way: CaseIterable, Sendable {
        case local
        case http
    }

    static let schema = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL, photo BLOB);
        CREATE TABLE note ("the key" TEXT, part INTEGER, body, PRIMARY KEY ("the key", part)) WITHOUT ROWID;
        """

    let directory = TemporaryDirectory()
    let a: Replica
    let b: Replica
    let replicatorA: Replicator
    let replicatorB: Replicator
    let limits: Limits
    private let server: ScriptedServer?

    /// The address by which A's replicator reaches B.
    let peerB: PeerConfiguration

    init(
        _ way: Way, limits: Limits = .standard, schemaB: String = ReplicaPair.schema, clusterB: String = "main",
        follows: Bool = false
    ) throws {
        self.limits = limits
        a = try Self.make(directory.file("a.sqlite"), schema: Self.schema, cluster: "main", number: 1)
        b = try Self.make(directory.file("b.sqlite"), schema: schemaB, cluster: clusterB, number: 2)
        replicatorB = try Replicator(replica: b, limits: limits)
        switch way {
        case .local:
            server = nil
            peerB = try PeerConfiguration(directory.file("b.sqlite"))
        case .http:
            let server = try ScriptedServer.serving(replicatorB.endpoint)
            self.server = server
            peerB = try PeerConfiguration(server.url)
        }
        replicatorA = try Replicator(replica: a, peers: follows ? [peerB] : [], limits: limits)
    }

    deinit { server?.stop() }

    static func make(_ path: String, schema: String, cluster: String = "main", number: UInt64) throws -> Replica {
        let request = InitializeRequest(cluster: cluster, origin: OriginID(high: number, low: 7))
        return try Replica.make(at: path, schema: schema, request, options: .unsynced)
    }

    @discardableResult
    func sync() async throws -> SyncReport { try await replicatorA.syncOnce(peerB) }

    /// Nine rows of A in one transaction, as A sends them: four changes in a frame.
    static func sendingInParts() async throws -> (
        pair: ReplicaPair, limits: Limits, origin: OriginID, portion: FrameSource.Portion
    ) {
        var limits = Limits.standard
        limits.changesPerBatch = 4
        let pair = try ReplicaPair(.local, limits: limits)
        try insert(pair.a, 1..<10)
        let source = FrameSource(replica: pair.a, limits: limits, encoding: .zstd, ends: SeenEnds())
        let portion = try await source.portion(after: VersionVector(), bytes: 1 << 20)
        return (pair, limits, try pair.a.identity().origin, portion)
    }

    func count(_ replica: Replica, _ table: String = "person") throws -> Int {
        try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    static func insert(_ replica: Replica, _ ids: Range<Int>, name: String = "somebody") throws {
        try replica.write { db in
            for id in ids {
                try db.execute(
                    sql: "INSERT INTO person VALUES (?, ?, ?, ?)",
                    arguments: [id, "\(name) \(id)", Double(id) / 3, Data([0, UInt8(truncatingIfNeeded: id)])])
            }
        }
    }
}
