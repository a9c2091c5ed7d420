/// A hybrid logical clock value: 48 bits of milliseconds since 1970, then 16 bits of counter.
///
/// Source: Kulkarni, Demirbas et al., "Logical Physical Clocks", 2014. Kept in one `Int64`, so that SQL can compare it.
/// A counter that overflows carries into the milliseconds; stamps of one origin are strictly increasing.
public struct Stamp: Hashable, Comparable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The stamp with counter 0 of a moment.
    ///
    /// - Parameter milliseconds: Since 1970; clamped to 0...2^47-1, so a clock before 1970 or beyond the year 6429
    ///   cannot overflow.
    public init(milliseconds: Int64) {
        rawValue = min(max(milliseconds, 0), Stamp.latestMilliseconds) << 16
    }

    /// Before every stamp of a change.
    public static let zero = Stamp(rawValue: 0)

    /// The greatest time a stamp can hold: 2^47 - 1 ms, in the year 6429.
    static let latestMilliseconds: Int64 = (1 << 47) - 1

    /// Since 1970.
    public var milliseconds: Int64 { rawValue >> 16 }
    /// 0...65535: tells stamps of one millisecond apart.
    public var counter: Int64 { rawValue & 0xFFFF }

    /// The stamp of the next local change: after `previous`, and not before the wall clock `now`.
    ///
    /// Saturates at the end of time instead of trapping; a stamp that far ahead is refused at the door.
    public static func next(after previous: Stamp, now: Stamp) -> Stamp {
        let successor = previous.rawValue == .max ? .max : previous.rawValue + 1
        return Stamp(rawValue: max(successor, now.rawValue))
    }

    public static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}
