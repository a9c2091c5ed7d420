import Journal
import Sync
import Synchronization

/// A clock that stands until a test moves it; a pause on it does not end.
package final class StandingClock: SyncClock {
    private let now = Mutex<Int64>(0)
    package init() {}
    package func wallMilliseconds() -> Int64 { ReplicaFixture.now.milliseconds }
    package func steadyMilliseconds() -> Int64 { now.withLock { $0 } }
    package func sleep(milliseconds: Int64) async throws {
        // Nothing is ever sent: only cancellation ends this.
        for await _ in AsyncStream<Void>(bufferingPolicy: .unbounded, { _ in }) {}
        try Task.checkCancellation()
    }
    package func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}
