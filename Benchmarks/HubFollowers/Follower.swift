import Journal
import Sync
import Synchronization

/// One follower of hubs: it asks as a replica does, decodes what it gets, and keeps nothing of it.
///
/// It asks one hub at a time, and the next one when that fails, as a replica does behind a load balancer. Between two
/// answers with changes it rests as long as a replica, which commits them.
final class Follower: Sendable {
    /// What it has got so far.
    struct Tally: Sendable {
        var changes = 0
        var pulls = 0
        var failures = 0
    }

    private struct State {
        var have = VersionVector()
        var tally = Tally()
        /// How soon it asks again.
        var pace = Pace.applying
    }

    private let origin = OriginID.random()
    private let cluster: String
    private let hubs: [CurlTransport]
    private let first: Int
    private let arrivals: Arrivals
    private let limits = Limits.standard
    private let clock = SystemClock()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - cluster: The cluster of the archive.
    ///   - hubs: The hubs, one or more.
    ///   - first: The position of the one to ask first, modulo their number.
    ///   - arrivals: Gets the times at which changes were written and arrived.
    init(cluster: String, hubs: [PeerConfiguration], first: Int, arrivals: Arrivals) throws {
        self.cluster = cluster
        self.hubs = try hubs.map { try CurlTransport($0) }
        self.first = first
        self.arrivals = arrivals
    }

    var tally: Tally { state.withLock { $0.tally } }

    /// Says hello to all hubs, as often as they are busy. One that has not looked for its archive yet does so then.
    ///
    /// - Throws: `SyncError` of a hub that does not answer.
    func greet() async throws {
        for hub in hubs {
            let hello = Hello(
                cluster: cluster, origin: origin, formatVersion: 0, vector: VersionVector(),
                wallMilliseconds: clock.wallMilliseconds())
            for failures in 1... {
                do {
                    _ = try await hub.hello(hello)
                    break
                } catch let error as SyncError where error.code == .busy && failures < Follower.mostRefusals {
                    let entropy = UInt64.random(in: 0 ... .max)
                    try await clock.sleep(
                        milliseconds: Backoff.delay(failures: failures, entropy: entropy, limits: limits))
                }
            }
        }
    }

    /// How often a hub may say that it is busy before anything is measured.
    private static let mostRefusals = 8

    /// Follows the hubs until the task is cancelled.
    func run() async {
        var hub = first
        var failures = 0
        while !Task.isCancelled {
            let milliseconds: Int64
            do {
                try await pull(hubs[hub % hubs.count], waitSeconds: limits.longPollSeconds)
                failures = 0
                milliseconds = state.withLock { $0.pace.delay(at: clock.steadyMilliseconds()) }
            } catch {
                guard !Task.isCancelled else { return }
                hub += 1
                failures += 1
                state.withLock { $0.tally.failures += 1 }
                milliseconds = Backoff.delay(failures: failures, entropy: .random(in: 0 ... .max), limits: limits)
            }
            // Cancelled: the loop ends.
            try? await clock.sleep(milliseconds: milliseconds)
        }
    }

    private func pull(_ hub: CurlTransport, waitSeconds: Int) async throws {
        let have = state.withLock { $0.have }
        let request = PullRequest(
            cluster: cluster, origin: origin, have: have, waitSeconds: waitSeconds, maxBytes: limits.bytesPerPull)
        _ = try await hub.pull(request) { frame in
            guard case .batch(let covers, _, _) = frame.body else { return }
            let now = clock.wallMilliseconds()
            try state.withLock { state in
                for cover in covers where cover.last > state.have[cover.origin] {
                    let new = max(cover.first, state.have[cover.origin] + 1)...cover.last
                    try arrivals.note(new, of: cover.origin, in: frame, at: now, limits: limits)
                    state.have.merge(VersionVector([.init(origin: cover.origin, version: cover.last)]))
                    state.tally.changes += new.count
                }
            }
        }
        state.withLock { state in
            state.tally.pulls += 1
            if state.have != have { state.pace.took(Pace.commitMilliseconds, until: clock.steadyMilliseconds()) }
        }
    }
}
