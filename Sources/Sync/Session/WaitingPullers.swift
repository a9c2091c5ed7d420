import Journal
import Synchronization

/// The replicas that pull from an endpoint. While a pull waits for news, its replica receives new changes
/// without a push.
package final class WaitingPullers: Sendable {
    private struct State {
        /// How many pulls of each replica wait.
        var counts: [OriginID: Int] = [:]
        /// What each replica said in its last pull that it has.
        var asked: [OriginID: VersionVector] = [:]
    }

    private let state = Mutex(State())

    /// Callers beyond these are forgotten: any caller may claim to be another replica.
    private static let mostRemembered = 256

    /// One waiting pull, from its start until ``leave()``.
    struct Visit {
        fileprivate let pullers: WaitingPullers
        fileprivate let origin: OriginID

        func leave() {
            pullers.state.withLock { state in
                let left = state.counts[origin, default: 0] - 1
                state.counts[origin] = left > 0 ? left : nil
            }
        }
    }

    func enter(_ origin: OriginID) -> Visit {
        state.withLock { $0.counts[origin, default: 0] += 1 }
        return Visit(pullers: self, origin: origin)
    }

    /// Notes what a replica has, as its pull says.
    func note(_ have: VersionVector, of origin: OriginID) {
        state.withLock { state in
            if state.asked.count >= WaitingPullers.mostRemembered, state.asked[origin] == nil { state.asked = [:] }
            state.asked[origin] = have
        }
    }

    /// True while a pull of that replica is waiting for news, or may start to wait.
    package func isWaiting(_ origin: OriginID) -> Bool { state.withLock { $0.counts[origin] != nil } }

    /// What that replica had when it last pulled here; nothing when it has not, or was forgotten.
    func have(of origin: OriginID) -> VersionVector { state.withLock { $0.asked[origin] } ?? VersionVector() }
}
