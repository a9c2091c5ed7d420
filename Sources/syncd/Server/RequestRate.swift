/// Bounds the requests a second of each caller by a token bucket: a burst at once, then the rate. Pure: the
/// caller passes the time in.
struct RequestRate: Sendable {
    private struct Bucket {
        var tokens: Double
        var milliseconds: Int64
    }

    /// Requests that a caller with a full bucket may make at once.
    private(set) var burst: Double
    private(set) var perSecond: Double
    private var buckets: [String: Bucket] = [:]

    /// How many callers are remembered at most. A caller that was forgotten begins with a full bucket.
    static let callers = 4_096

    init(burst: Int, perSecond: Int) {
        self.burst = Double(max(burst, 1))
        self.perSecond = Double(max(perSecond, 1))
    }

    /// Changes the limits from now on. A bucket never has more than the new burst.
    mutating func setLimits(burst: Int, perSecond: Int) {
        self.burst = Double(max(burst, 1))
        self.perSecond = Double(max(perSecond, 1))
    }

    /// Takes one token of `caller`.
    ///
    /// - Parameter now: The time of a steady clock, in milliseconds.
    /// - Returns: nil when the request may proceed; otherwise the seconds, at least 1, after which the caller
    ///   may retry.
    mutating func take(_ caller: String, milliseconds now: Int64) -> Int64? {
        var bucket = refilled(buckets[caller] ?? Bucket(tokens: burst, milliseconds: now), now)
        if buckets[caller] == nil, buckets.count >= RequestRate.callers { forgetQuietCallers(now) }
        guard bucket.tokens >= 1 else {
            buckets[caller] = bucket
            return max(Int64(((1 - bucket.tokens) / perSecond).rounded(.up)), 1)
        }
        bucket.tokens -= 1
        buckets[caller] = bucket
        return nil
    }

    private func refilled(_ bucket: Bucket, _ now: Int64) -> Bucket {
        let elapsed = Double(max(now - bucket.milliseconds, 0)) / 1_000
        return Bucket(tokens: min(bucket.tokens + elapsed * perSecond, burst), milliseconds: now)
    }

    private mutating func forgetQuietCallers(_ now: Int64) {
        buckets = buckets.filter { refilled($0.value, now).tokens < burst }
        if buckets.count >= RequestRate.callers { buckets = [:] }
    }
}
