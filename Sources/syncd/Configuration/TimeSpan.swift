import ArgumentParser

/// A length of time as typed: `30d`, `12h`, `45m` or `90s`.
struct TimeSpan: Sendable, Hashable, CustomStringConvertible, ExpressibleByArgument {
    /// 0 or more.
    let milliseconds: Int64

    private static let units: [(letter: Character, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
    ]

    /// A hundred years: more than that is a mistake.
    private static let longest: Int64 = 36_525 * 86_400_000

    /// What a text must look like, for messages.
    static let form = "a number of days, hours, minutes or seconds, such as 30d, 12h, 45m or 90s"

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// - Returns: nil for any other text, and for more than a hundred years.
    init?(_ text: String) {
        guard let unit = TimeSpan.units.first(where: { $0.letter == text.last }),
            let count = Int64(text.dropLast()), text.dropLast().allSatisfy(\.isNumber), count >= 0,
            case (let product, let overflow) = count.multipliedReportingOverflow(by: unit.milliseconds), !overflow,
            product <= TimeSpan.longest
        else { return nil }
        milliseconds = product
    }

    init?(argument: String) { self.init(argument) }

    /// True for a time for which changes may gather before they are written to an archive.
    var isFlushTime: Bool { milliseconds <= 60_000 }

    var description: String {
        for unit in TimeSpan.units where milliseconds >= unit.milliseconds && milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.letter)"
        }
        return "\(milliseconds / 1_000)s"
    }
}
