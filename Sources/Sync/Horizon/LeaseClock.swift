/// Tells whether leases can be judged by the time of day. Pure.
///
/// When the clock is set ahead, or the machine wakes from a long sleep, the leases of all other replicas seem to have
/// ended. Those that live say so within some time, and until then nobody's lease ends.
struct LeaseClock: Sendable, Hashable {
    /// What one look at the clocks showed, in milliseconds.
    struct Reading: Sendable, Hashable {
        /// The time of day since 1970, which may jump.
        var wall: Int64
        /// The time of a steady clock.
        var steady: Int64
    }

    /// By how much the time of day may differ from the time that has passed.
    private let tolerance: Int64
    /// How long after an odd reading it takes until all replicas that live are met.
    private let wait: Int64
    private var last: Reading?
    /// The steady time of the last odd reading.
    private var odd: Int64?

    /// - Parameters:
    ///   - toleranceMilliseconds: By how much the time of day may differ from the time that has passed.
    ///   - waitMilliseconds: How long after an odd reading leases cannot be judged.
    init(toleranceMilliseconds: Int64, waitMilliseconds: Int64) {
        tolerance = toleranceMilliseconds
        wait = waitMilliseconds
    }

    /// Notes a look at the clocks.
    ///
    /// - Parameter pause: How long a pause was meant to be that began at the last look, in milliseconds; nil when
    ///   there was none, and the steady clock tells how much time has passed.
    mutating func note(_ reading: Reading, afterPauseOf pause: Int64? = nil) {
        defer { last = reading }
        guard let last else { return }
        let passed = pause ?? (reading.steady - last.steady)
        let (day, overflow) = reading.wall.subtractingReportingOverflow(last.wall)
        let (difference, overflow2) = day.subtractingReportingOverflow(passed)
        if overflow || overflow2 || difference.magnitude > tolerance.magnitude { odd = reading.steady }
    }

    /// True when leases can be judged at the last look.
    var isSure: Bool {
        guard let last, let odd else { return true }
        return last.steady - odd > wait
    }
}
