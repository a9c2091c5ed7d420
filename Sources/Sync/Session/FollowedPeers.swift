import Journal
import Synchronization

/// The peers that are followed. They may change while they are.
final class FollowedPeers: Sendable {
    /// One peer. `configuration` is nil for a transport that was passed in.
    struct Peer: Sendable {
        let configuration: PeerConfiguration?
        let follower: PeerFollower
    }

    /// What a peer that is followed at the moment listens to.
    private struct Lines {
        let vectors: AsyncStream<VersionVector>.Continuation
        let end: AsyncStream<Void>.Continuation
    }

    private struct State {
        var peers: [Peer]
        /// By the follower, for those that are followed.
        var lines: [ObjectIdentifier: Lines] = [:]
        /// Receives peers to follow; nil unless ``run()`` runs.
        var arrivals: AsyncStream<Peer>.Continuation?
        /// What the local file holds; nil as long as that is not known.
        var vector: VersionVector?
    }

    private let state: Mutex<State>

    init(_ peers: [Peer]) { state = Mutex(State(peers: peers)) }

    /// In the order in which they were given.
    var all: [PeerFollower] { state.withLock { $0.peers.map(\.follower) } }

    /// The directions that are not both, by the names of the peers.
    var directions: [String: SyncDirection] {
        let configurations = state.withLock { $0.peers.compactMap(\.configuration) }
        return Dictionary(
            configurations.filter { $0.direction != .both }.map { ($0.name, $0.direction) }, uniquingKeysWith: { $1 })
    }

    /// Follows the peers until the task is cancelled.
    func run() async {
        let (peers, arrivals) = AsyncStream.makeStream(of: Peer.self)
        state.withLock { state in
            state.arrivals = arrivals
            for peer in state.peers { arrivals.yield(peer) }
        }
        await withDiscardingTaskGroup { group in
            for await peer in peers { group.addTask { await self.follow(peer) } }
            group.cancelAll()
        }
        state.withLock { state in
            state.arrivals = nil
            // Others may write the file until the next run.
            state.vector = nil
        }
    }

    /// Tells all followers what the local file holds.
    func tell(_ vector: VersionVector) {
        state.withLock { state in
            state.vector = vector
            // In the order of the peers: that of a dictionary changes from process to process.
            for peer in state.peers { state.lines[ObjectIdentifier(peer.follower)]?.vectors.yield(vector) }
        }
    }

    /// Prepares to go on with the peers of `configurations` that are followed already, to end the others, and to
    /// begin with the new ones.
    ///
    /// - Parameter make: Makes the follower of a new peer.
    /// - Returns: Does so.
    /// - Throws: What `make` throws.
    func replacement(
        by configurations: [PeerConfiguration], make: (PeerConfiguration) throws -> PeerFollower
    ) rethrows -> () -> Void {
        let known = state.withLock { $0.peers }
        let wanted = try configurations.map { configuration in
            try known.first { $0.configuration == configuration }
                ?? Peer(configuration: configuration, follower: try make(configuration))
        }
        return { self.replace(by: wanted) }
    }

    private func replace(by wanted: [Peer]) {
        state.withLock { state in
            let before = Set(state.peers.map { ObjectIdentifier($0.follower) })
            let after = Set(wanted.map { ObjectIdentifier($0.follower) })
            for id in state.peers.map({ ObjectIdentifier($0.follower) }) where !after.contains(id) {
                state.lines[id]?.end.finish()
            }
            state.peers = wanted
            for peer in wanted where !before.contains(ObjectIdentifier(peer.follower)) { state.arrivals?.yield(peer) }
        }
    }

    /// Follows one peer until it is replaced, turns out to be this replica, or the task is cancelled.
    private func follow(_ peer: Peer) async {
        let id = ObjectIdentifier(peer.follower)
        let (vectors, listener) = AsyncStream.makeStream(of: VersionVector.self, bufferingPolicy: .bufferingNewest(1))
        let (end, ending) = AsyncStream.makeStream(of: Void.self)
        let isWanted = state.withLock { state in
            // It may have been replaced before its turn came.
            guard state.peers.contains(where: { $0.follower === peer.follower }) else { return false }
            state.lines[id] = Lines(vectors: listener, end: ending)
            if let vector = state.vector { listener.yield(vector) }
            return true
        }
        guard isWanted else { return }
        await withDiscardingTaskGroup { group in
            group.addTask {
                await peer.follower.run(vectors: vectors)
                ending.finish()
            }
            for await _ in end {}
            group.cancelAll()
        }
        state.withLock { _ = $0.lines.removeValue(forKey: id) }
    }
}
