/// Numbers of steps as text with ranges: `0-4,7`.
package enum StepList {
    package static func text(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        // An empty list needs a word, too.
        guard !ranges.isEmpty else { return "none" }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
            separator: ",")
    }

    /// - Returns: nil for a text that is no such list.
    package static func numbers(_ text: String) -> [Int]? {
        if text == "none" { return [] }
        var numbers: [Int] = []
        for part in text.split(separator: ",") {
            let bounds = part.split(separator: "-").map { Int($0) }
            guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds[bounds.count - 1],
                0 <= first, first <= last, last < 100_000
            else { return nil }
            numbers += first...last
        }
        return numbers
    }
}
