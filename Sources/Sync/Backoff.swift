/// The delay after failures: exponential, with full jitter.
///
/// | failures | drawn from, in ms, with the standard limits |
/// |---|---|
/// | 1 | 0 to 250 |
/// | 2 | 0 to 500 |
/// | 5 | 0 to 4 000 |
/// | 8 and more | 0 to 30 000 |
///
/// When a machine comes back and its peers retry, full jitter spreads their requests best (Brooker,
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). Pure: the random number is a parameter.
package enum Backoff {
    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: The number of failures in a row, 1 or more.
    ///   - entropy: 64 random bits.
    ///   - minimumMilliseconds: The delay that the peer asked for; the drawn delay is added to it.
    /// - Returns: Milliseconds.
    package static func delay(
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

    /// Returns the delay after a failure that needs an operator: between half of the longest delay and all of
    /// it. The peer is found again after its repair, and there is no hot loop until then.
    package static func slowDelay(entropy: UInt64, limits: Limits) -> Int64 {
        let half = max(limits.backoffCeilingMilliseconds, 2) / 2
        return half + Int64(entropy.multipliedFullWidth(by: UInt64(half) + 1).high)
    }
}
