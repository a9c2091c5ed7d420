/// How long to wait after failures: exponential, with full jitter.
///
/// | failures | drawn from, in ms, with the standard limits |
/// |---|---|
/// | 1 | 0 to 250 |
/// | 2 | 0 to 500 |
/// | 5 | 0 to 4 000 |
/// | 8 and more | 0 to 30 000 |
///
/// Full jitter spreads the peers of a machine that comes back best (Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015). Pure: the random number is handed in.
public enum Backoff {
    /// - Parameters:
    ///   - failures: In a row, 1 or more.
    ///   - entropy: 64 random bits.
    ///   - minimumMilliseconds: What the peer asked for; the draw comes on top of it.
    /// - Returns: Milliseconds.
    public static func delay(
        failures: Int, entropy: UInt64, minimumMilliseconds: Int64 = 0, limits: Limits
    ) -> Int64 {
        let doublings = failures > 1 ? min(failures - 1, 40) : 0
        let base = max(limits.backoffBaseMilliseconds, 1)
        let (raised, overflow) = base.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let ceiling = max(limits.backoffCeilingMilliseconds, 1)
        let bound = overflow ? ceiling : min(raised, ceiling)
        let draw = entropy.multipliedFullWidth(by: UInt64(bound) + 1).high
        let asked = min(max(minimumMilliseconds, 0), limits.retryAfterSeconds * 1_000)
        return asked + Int64(draw)
    }

    /// The delay after a failure that will not pass by itself: the upper half of the longest delay, so that a peer whose
    /// operator has repaired it is found again, without a hot loop until then.
    public static func slowDelay(entropy: UInt64, limits: Limits) -> Int64 {
        let half = max(limits.backoffCeilingMilliseconds, 2) / 2
        return half + Int64(entropy.multipliedFullWidth(by: UInt64(half) + 1).high)
    }
}
