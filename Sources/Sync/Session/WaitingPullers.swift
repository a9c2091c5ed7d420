import Journal
import Synchronization

/// The replicas whose pulls wait for news at an endpoint. They receive new changes without a push.
package final class WaitingPullers: Sendable {
    private let counts = Mutex<[OriginID: Int]>([:])

    /// One waiting pull, from its start until ``leave()``.
    struct Visit {
        fileprivate let presence: WaitingPullers
        fileprivate let origin: OriginID

        func leave() {
            presence.counts.withLock { counts in
                let left = counts[origin, default: 0] - 1
                counts[origin] = left > 0 ? left : nil
            }
        }
    }

    func enter(_ origin: OriginID) -> Visit {
        counts.withLock { $0[origin, default: 0] += 1 }
        return Visit(presence: self, origin: origin)
    }

    /// True while a pull of that replica is waiting for news, or may start to wait.
    package func isWaiting(_ origin: OriginID) -> Bool { counts.withLock { $0[origin] != nil } }
}
