import Journal
import Sync
import Synchronization

/// The time of a campaign. Only the campaign moves it, and nobody waits for it.
package final class CampaignClock: SyncClock {
    /// Later than any real clock, so that nothing depends on when a campaign runs.
    static let start: Int64 = 3_900_000_000_000

    private let time = Mutex<Int64>(CampaignClock.start)

    package init() {}

    func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    package func wallMilliseconds() -> Int64 { time.withLock { $0 } }

    package func steadyMilliseconds() -> Int64 { wallMilliseconds() }

    package func sleep(milliseconds: Int64) async throws { try Task.checkCancellation() }
}
