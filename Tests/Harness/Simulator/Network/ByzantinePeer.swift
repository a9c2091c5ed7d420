import Journal
import Sync

/// A Byzantine peer: an address that a machine follows and that never becomes a peer. It may not delay any
/// other peer (P22).
struct ByzantinePeer: Transport {
    enum Manner: Int, CaseIterable, Sendable {
        /// Nothing listens at the address.
        case refuses
        /// The peer takes requests and never answers.
        case hangs
        /// The peer belongs to another cluster.
        case isForeign
        /// The peer's changes begin behind a gap, so they cannot be applied.
        case sendsGaps
        /// The peer claims to know much and to have more, and never sends it.
        case promises
    }

    let manner: Manner
    let clock: MachineClock

    private static let origin = OriginID(high: 0xBAD << 52, low: 1)
    private static let vector = VersionVector([.init(origin: origin, version: 1_000)])

    var name: String { "bad-peer" }

    func hello(_ hello: Hello) async throws -> Hello {
        try await refuse()
        return Hello(
            cluster: manner == .isForeign ? "another" : hello.cluster, origin: ByzantinePeer.origin,
            formatVersion: hello.formatVersion, vector: ByzantinePeer.vector, wallMilliseconds: hello.wallMilliseconds)
    }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await refuse()
        if manner == .sendsGaps { try await onFrame(ByzantinePeer.gap()) }
        return PullEnd(vector: ByzantinePeer.vector, more: true)
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        try await refuse()
        return PushReply(vector: VersionVector(), applied: 0)
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply {
        throw SyncError(.notFound, "no such route")
    }

    private func refuse() async throws {
        switch manner {
        case .refuses: throw SyncError(.unreachable, "connection refused")
        case .hangs:
            try await clock.sleep(milliseconds: 60_000)
            throw SyncError(.timedOut, "no answer in time")
        case .isForeign, .sendsGaps, .promises: return
        }
    }

    /// Makes a change of a table that nobody has. No peer has the change's predecessors.
    private static func gap() throws -> Frame {
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: "nowhere", columns: ["id"], keyCount: 1)]
        batch.values = [.integer(1)]
        batch.changes = [
            Change(
                shape: 0, operation: .insert, life: 1, stamp: Stamp(rawValue: 1), mask: ColumnMask(all: 1),
                values: 0..<1,
                endsTransaction: true)
        ]
        batch.runs = [Run(origin: origin, firstVersion: 1_000, changes: 0..<1, known: VersionVector())]
        return try Frame(batch, encoding: .none)
    }
}
