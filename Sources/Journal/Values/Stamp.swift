/// A hybrid logical clock value: 48 bits of milliseconds since 1970, then 16 bits of counter.
///
/// Source: Kulkarni, Demirbas et al., "Logical Physical Clocks", 2014. It is stored in one `Int64`, so that
/// SQL can compare it. A counter that overflows carries into the milliseconds. The stamps of one origin are
/// strictly increasing.
public struct Stamp: Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates the stamp of a time, with counter 0.
    ///
    /// - Parameter milliseconds: Since 1970; clamped to 0...2^47-1, so a clock before 1970 or beyond the year
    ///   6429 cannot overflow.
    public init(milliseconds: Int64) {
        rawValue = min(max(milliseconds, 0), Stamp.latestMilliseconds) << 16
    }

    /// Less than the stamp of every change.
    public static let zero = Stamp(rawValue: 0)

    /// The greatest time that a stamp can hold: 2^47 - 1 ms, in the year 6429.
    static let latestMilliseconds: Int64 = (1 << 47) - 1

    /// The milliseconds since 1970.
    public var milliseconds: Int64 { rawValue >> 16 }
    /// The counter, 0...65535, which distinguishes stamps of one millisecond.
    public var counter: Int64 { rawValue & 0xFFFF }

    /// Returns the stamp of the next local change: greater than `previous`, and not less than the wall clock
    /// `now`.
    ///
    /// It saturates at the greatest stamp instead of trapping. Receivers defer changes with stamps that far
    /// ahead.
    public static func next(after previous: Stamp, now: Stamp) -> Stamp {
        let successor = previous.rawValue == .max ? .max : previous.rawValue + 1
        return Stamp(rawValue: max(successor, now.rawValue))
    }

    public static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}
