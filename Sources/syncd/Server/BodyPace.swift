/// The average rate at which the body of a request must arrive. Pure: the caller passes the time in.
///
/// A body that arrives a byte at a time would otherwise occupy one of the few slots for bodies until the
/// request times out.
struct BodyPace: Sendable {
    let start: Int64
    let graceMilliseconds: Int64
    let bytesPerSecond: Int

    private(set) var received = 0

    /// - Parameter start: The time of a steady clock in milliseconds.
    init(start: Int64, _ limits: ServerLimits) {
        self.start = start
        graceMilliseconds = limits.slowBodySeconds * 1_000
        bytesPerSecond = limits.bodyBytesPerSecond
    }

    /// - Throws: ``Refusal`` 408 when the body is too slow.
    mutating func receive(_ bytes: Int, milliseconds now: Int64) throws {
        received += bytes
        let elapsed = now - start
        guard elapsed > graceMilliseconds, Int64(received) < elapsed / 1_000 * Int64(bytesPerSecond) else { return }
        throw Refusal(
            status: 408, code: "timed_out", "the body arrives at less than \(bytesPerSecond) bytes a second",
            hint: "On a slow network, send fewer changes in one request")
    }
}
