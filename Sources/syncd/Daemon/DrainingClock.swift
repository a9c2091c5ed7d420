import ServiceLifecycle
import Sync

/// The machine's clock, which ends all waiting once the daemon is told to stop: a long poll then gets its
/// ordinary answer, and its connection closes in order.
struct DrainingClock: SyncClock {
    private let base = SystemClock()

    /// Longer than any wait that began before the daemon was told to stop.
    private static let leapMilliseconds: Int64 = 24 * 3_600 * 1_000

    func wallMilliseconds() -> Int64 { base.wallMilliseconds() }

    func steadyMilliseconds() -> Int64 {
        base.steadyMilliseconds() + (Task.isShuttingDownGracefully ? DrainingClock.leapMilliseconds : 0)
    }

    func sleep(milliseconds: Int64) async throws {
        do {
            try await cancelWhenGracefulShutdown { [base] in try await base.sleep(milliseconds: milliseconds) }
        } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {}
    }
}
