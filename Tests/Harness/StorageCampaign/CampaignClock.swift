import Journal
import Sync
import Synchronization

/// The time of a campaign: it moves when the campaign says so, and nobody waits for it.
public final class CampaignClock: SyncClock {
    /// Later than any real clock, so that nothing depends on when a campaign runs.
    static let start: Int64 = 3_900_000_000_000

    private let time = Mutex<Int64>(CampaignClock.start)

    public init() {}

    func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    public func wallMilliseconds() -> Int64 { time.withLock { $0 } }

    public func steadyMilliseconds() -> Int64 { wallMilliseconds() }

    public func sleep(milliseconds: Int64) async throws { try Task.checkCancellation() }
}
