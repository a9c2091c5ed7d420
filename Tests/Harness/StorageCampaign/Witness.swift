import Journal
import SimulatedDisk
import Sync

/// What is known outside of a machine, with the moment of learning it, counted in operations of the machine's
/// disk.
///
/// A loss of power at the machine does not change it.
final class Witness {
    /// Transactions that their writer was told are done.
    private(set) var acknowledged: [(token: String, after: Int)] = []
    /// Vectors that the machine said to have durably.
    private(set) var promised: [(vector: VersionVector, after: Int)] = []
    /// The peer's disk after each message that it took, with the moment of sending.
    private(set) var peers: [(disk: SimulatedDisk, sentAfter: Int)] = []
    /// Transactions with an unknown outcome.
    private(set) var undecided: Set<String> = []

    let disk: SimulatedDisk

    init(of disk: SimulatedDisk) { self.disk = disk }

    func attempt(_ token: String) { undecided.insert(token) }

    func acknowledge(_ token: String) {
        // Nothing that a dying process still says arrives.
        guard !disk.isDown else { return }
        undecided.remove(token)
        acknowledged.append((token, disk.count()))
    }

    func promise(_ vector: VersionVector) {
        guard !disk.isDown else { return }
        promised.append((vector, disk.count()))
    }

    /// Notes that the machine has another identity, under which it wrote again what nobody had seen.
    func replace(_ origin: OriginID, keeping version: Int64) {
        promised = promised.map { entry in
            let kept = entry.vector.entries.map {
                VersionVector.Entry(
                    origin: $0.origin, version: $0.origin == origin ? min($0.version, version) : $0.version)
            }
            return (VersionVector(kept.filter { $0.version > 0 }), entry.after)
        }
    }

    func took(_ peer: SimulatedDisk, sentAfter: Int) { peers.append((peer.copy(), sentAfter)) }

    /// Keeps only the last of the past peers.
    func forgetPeers() { if let last = peers.last { peers = [(last.disk, 0)] } }

    func acknowledged(before moment: Int) -> [String] {
        acknowledged.lazy.filter { $0.after < moment }.map(\.token)
    }

    func promised(before moment: Int) -> VersionVector {
        promised.reduce(into: VersionVector()) { if $1.after < moment { $0.merge($1.vector) } }
    }

    /// The peer with everything that had been sent to it at that moment.
    func peer(at moment: Int) -> SimulatedDisk? { peers.last { $0.sentAfter < moment }?.disk }
}

/// A transport with a witness of everything that leaves the machine and that it is told.
///
/// The machine may be the caller or the answering end.
struct WitnessedTransport: Transport {
    enum End: Sendable {
        /// The machine calls the peer.
        case caller
        /// The peer calls the machine.
        case answerer
    }

    let base: any Transport
    let end: End
    let peer: SimulatedDisk
    /// One task at a time uses both.
    nonisolated(unsafe) let witness: Witness

    var name: String { base.name }

    private func witnessed<T>(_ body: () async throws -> T) async throws -> T {
        let moment = witness.disk.count()
        defer { if !witness.disk.isDown { witness.took(peer, sentAfter: moment) } }
        return try await body()
    }

    func hello(_ hello: Hello) async throws -> Hello { try await witnessed { try await base.hello(hello) } }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        guard end == .answerer else { return try await witnessed { try await base.pull(request, onFrame: onFrame) } }
        return try await base.pull(request) { frame in try await self.witnessed { try await onFrame(frame) } }
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        let reply = try await witnessed { try await base.push(frames) }
        if end == .answerer { witness.promise(reply.vector) }
        return reply
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply { try await base.digest(request) }
}
