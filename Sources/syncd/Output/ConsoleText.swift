import Foundation

/// Formats values for the output of commands.
enum ConsoleText {
    /// Returns `text` without characters that move a terminal's cursor: names and values come from files that
    /// are not trusted.
    static func printable(_ text: some StringProtocol) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
                out += scalar == "\n" ? "\\n" : scalar == "\t" ? "\\t" : "\\u{\(String(scalar.value, radix: 16))}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// `2026-11-21T08:40:19.123Z`
    static func time(milliseconds: Int64) -> String {
        let rest = (milliseconds % 1_000 + 1_000) % 1_000
        let second = Date(timeIntervalSince1970: Double((milliseconds - rest) / 1_000))
        // Foundation cuts what it takes for a fraction: 0.123 s can become 122 ms.
        let fraction = String(1_000 + rest).dropFirst()
        return second.formatted(Date.ISO8601FormatStyle()).dropLast() + ".\(fraction)Z"
    }

    static func time(_ date: Date) -> String {
        time(milliseconds: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }

    /// Parses a time as typed: `2026-11-21` or `2026-11-21T08:40:19Z`, with or without fractions, or with an
    /// offset.
    ///
    /// - Returns: Seconds since 1970; nil for anything else.
    static func parseTime(_ text: String) -> Double? {
        for fraction in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: fraction)
            if let date = try? Date(text, strategy: style) { return date.timeIntervalSince1970 }
        }
        let day = Date.ISO8601FormatStyle().year().month().day()
        return (try? Date(text, strategy: day))?.timeIntervalSince1970
    }

    /// `4 min`, `3 h`, `3 653 days`: the greatest unit of which there are at least two.
    static func duration(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        if seconds >= 2 * 86_400 { return count(seconds / 86_400, "day") }
        if seconds >= 2 * 3_600 { return number(seconds / 3_600) + " h" }
        if seconds >= 120 { return number(seconds / 60) + " min" }
        return number(seconds) + " s"
    }

    /// `3 503`: thousands separated by spaces.
    static func number(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var out = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { out += " " }
            out.append(digit)
        }
        return value < 0 ? "-" + out : out
    }

    /// `1 row`, `3 503 rows`
    static func count(_ value: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
        number(value) + " " + (value == 1 ? noun : plural ?? noun + "s")
    }

    /// `name, age`
    static func list(_ names: [String]) -> String { names.map { printable($0) }.joined(separator: ", ") }

    /// Aligns the cells of the rows in columns, two spaces apart. The last column is not padded.
    static func table(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cell.count)
            }
        }
        return rows.map { row in
            row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
