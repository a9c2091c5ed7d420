import Foundation

/// The conversion between moments and the date texts of SQLite (https://sqlite.org/lang_datefunc.html), in
/// UTC.
enum CivilTime {
    /// Reads `YYYY-MM-DD`, then optionally a space or `T`, `HH:MM`, `:SS`, a fraction, and `Z`.
    static func parse(_ text: String) -> Date? {
        var rest = Substring(text)
        if rest.last == "Z" { rest.removeLast() }
        guard let year = number(4, &rest), drop("-", &rest), let month = number(2, &rest), drop("-", &rest),
            let day = number(2, &rest), (1...12).contains(month), (1...days(in: month, of: year)).contains(day)
        else { return nil }
        var seconds = Double(dayNumber(year, month, day)) * 86_400
        if !rest.isEmpty {
            guard drop(" ", &rest) || drop("T", &rest), let hour = number(2, &rest), drop(":", &rest),
                let minute = number(2, &rest), hour < 24, minute < 60
            else { return nil }
            seconds += Double(hour * 3_600 + minute * 60)
            if drop(":", &rest) {
                guard let second = number(2, &rest), second < 60 else { return nil }
                seconds += Double(second)
                if drop(".", &rest) {
                    guard !rest.isEmpty, rest.allSatisfy({ $0.isASCII && $0.isNumber }),
                        let fraction = Double("0.\(rest)")
                    else { return nil }
                    seconds += fraction
                    rest = ""
                }
            }
        }
        return rest.isEmpty ? Date(timeIntervalSince1970: seconds) : nil
    }

    /// Returns the date as SQLite writes it, in UTC, with milliseconds when they are not 0.
    ///
    /// - Returns: nil outside the years 0 to 9999, which SQLite's functions cannot read.
    static func format(_ date: Date) -> String? {
        let total = (date.timeIntervalSince1970 * 1_000).rounded()
        guard total >= -62_167_219_200_000, total < 253_402_300_800_000, let milliseconds = Int(exactly: total) else {
            return nil
        }
        let (day, rest) = floorDivision(milliseconds, 86_400_000)
        let (year, month, dayOfMonth) = civil(day)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { padded($0, 2) }
        let fraction = rest % 1_000 == 0 ? "" : ".\(padded(rest % 1_000, 3))"
        return
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2)) \(clock.joined(separator: ":"))\(fraction)"
    }

    // MARK: - The Gregorian calendar
    // Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil and
    // civil_from_days.

    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivision(shifted, 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = floorDivision(dayNumber + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    // MARK: - Text

    private static func number(_ digits: Int, _ text: inout Substring) -> Int? {
        let prefix = text.prefix(digits)
        guard prefix.utf8.count == digits, prefix.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        text.removeFirst(digits)
        return Int(prefix)
    }

    private static func drop(_ character: Character, _ text: inout Substring) -> Bool {
        guard text.first == character else { return false }
        text.removeFirst()
        return true
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
