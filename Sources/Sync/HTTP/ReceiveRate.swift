/// Bounds the average speed of one answer from its first byte on. Pure: the caller passes the time in.
///
/// The bound of libcurl 7.88 for received bytes is not kept when a request has a body.
struct ReceiveRate: Sendable {
    private let bytesPerSecond: Int
    private var start: Int64?

    init(bytesPerSecond: Int) { self.bytesPerSecond = max(bytesPerSecond, 1) }

    /// Returns the milliseconds after which more may be received; 0 for now.
    ///
    /// - Parameters:
    ///   - received: The bytes so far.
    ///   - now: The time of a steady clock, in milliseconds.
    mutating func delay(after received: Int, milliseconds now: Int64) -> Int64 {
        let start = self.start ?? now
        self.start = start
        return max(Int64(received) * 1_000 / Int64(bytesPerSecond) - (now - start), 0)
    }
}
