import Journal
import Sync

/// An address that a machine follows and that never becomes a peer: nobody else may wait for it (P22).
struct ByzantinePeer: Transport {
    enum Manner: Int, CaseIterable, Sendable {
        /// Nobody listens there.
        case refuses
        /// It takes requests, and never answers.
        case hangs
        /// It belongs to another cluster.
        case isForeign
        /// Its changes begin behind a gap, and so cannot be taken.
        case sendsGaps
        /// It knows much, always has more, and never sends it.
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

    /// A change of a table that nobody has, whose predecessors nobody can get.
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
