import Journal
import Synchronization

/// The replicas that pull from an endpoint. While a pull waits for news, its replica receives new changes
/// without a push.
///
/// A puller that takes changes asks again when it has applied them, and may leave a pause between quick
/// answers (``Pace/applying``). So it counts as waiting for ``graceMilliseconds`` after each answer.
package final class WaitingPullers: Sendable {
    static let graceMilliseconds: Int64 = 1_000

    private struct Presence {
        var count = 0
        /// When the last answer ended, in steady milliseconds; nil for never, and after one that failed.
        var answered: Int64?
    }

    /// The last pull of a replica.
    private struct Asked {
        /// What it said that it has.
        var have: VersionVector
        /// When that was, in steady milliseconds.
        var time: Int64
    }

    private struct State {
        var presences: [OriginID: Presence] = [:]
        var asked: [OriginID: Asked] = [:]
    }

    private let clock: any SyncClock
    private let state = Mutex(State())

    /// Callers beyond these are forgotten: any caller may claim to be another replica.
    private static let mostRemembered = 256

    init(clock: any SyncClock) { self.clock = clock }

    /// Answers a pull. What its replica has is noted, and while a pull that may wait is answered, it counts as waiting.
    ///
    /// After a failed answer the puller may be gone.
    func serve<T: Sendable>(_ request: PullRequest, answer: () async throws -> T) async throws -> T {
        note(request.have, of: request.origin)
        guard request.waitSeconds > 0 else { return try await answer() }
        state.withLock { $0.presences[request.origin, default: Presence()].count += 1 }
        do {
            let answered = try await answer()
            leave(request.origin, isAnswered: true)
            return answered
        } catch {
            leave(request.origin, isAnswered: false)
            throw error
        }
    }

    private func leave(_ origin: OriginID, isAnswered: Bool) {
        let now = clock.steadyMilliseconds()
        state.withLock { state in
            state.presences[origin]?.count -= 1
            state.presences[origin]?.answered = isAnswered ? now : nil
            state.presences = state.presences.filter {
                $0.value.count > 0 || WaitingPullers.isRecent($0.value, at: now)
            }
        }
    }

    /// Notes what a replica has, as its pull says.
    func note(_ have: VersionVector, of origin: OriginID) {
        let now = clock.steadyMilliseconds()
        state.withLock { state in
            if state.asked.count >= WaitingPullers.mostRemembered, state.asked[origin] == nil { state.asked = [:] }
            state.asked[origin] = Asked(have: have, time: now)
        }
    }

    /// True while a pull of that replica is waiting for news, or may start to wait.
    package func isWaiting(_ origin: OriginID) -> Bool {
        let now = clock.steadyMilliseconds()
        return state.withLock { state in
            state.presences[origin].map { $0.count > 0 || WaitingPullers.isRecent($0, at: now) } ?? false
        }
    }

    /// The replicas whose pulls wait for news, or may start to wait, in the order of their origins.
    package var waiting: [OriginID] {
        let now = clock.steadyMilliseconds()
        return state.withLock { state in
            state.presences.filter { $0.value.count > 0 || WaitingPullers.isRecent($0.value, at: now) }.keys.sorted()
        }
    }

    /// What that replica had when it last pulled here; nothing when it has not, or was forgotten.
    func have(of origin: OriginID) -> VersionVector { state.withLock { $0.asked[origin]?.have } ?? VersionVector() }

    /// When that replica last pulled here, in steady milliseconds; nil when it has not, or was forgotten.
    func lastPull(of origin: OriginID) -> Int64? { state.withLock { $0.asked[origin]?.time } }

    private static func isRecent(_ presence: Presence, at now: Int64) -> Bool {
        presence.answered.map { now - $0 < graceMilliseconds } ?? false
    }
}
