import Sync
import Synchronization

/// A clock that stands still until someone sleeps or moves it.
package final class ManualClock: SyncClock {
    private let time: Mutex<Int64>
    private let start: Int64

    /// - Parameter wall: The time of day at which it begins, in milliseconds since 1970.
    package init(wall: Int64 = 4_000_000_000_000) {
        start = wall
        time = Mutex(0)
    }

    package func wallMilliseconds() -> Int64 { start + steadyMilliseconds() }
    package func steadyMilliseconds() -> Int64 { time.withLock { $0 } }

    /// Moves the clock on by that time, and returns at once.
    package func sleep(milliseconds: Int64) async throws {
        try Task.checkCancellation()
        advance(milliseconds)
    }

    package func advance(_ milliseconds: Int64) { time.withLock { $0 += max(0, milliseconds) } }
}
