import ArgumentParser

/// A rate of bytes as typed: `250k` or `2M` a second.
struct Bandwidth: Sendable, Hashable, ExpressibleByArgument {
    let bytesPerSecond: Int

    /// The slowest and the fastest rate. A request that goes slower than the slowest would not end in its time.
    private static let range = 64_000...1_000_000_000_000
    private static let units: [Character: Int] = ["k": 1_000, "M": 1_000_000, "G": 1_000_000_000]

    /// What a text must look like, for messages.
    static let form = "bytes a second, 64k or more, such as 250k, 2M or 1G"

    /// - Returns: nil for any other text, and for a rate that is too slow or too fast.
    init?(_ text: String) {
        let unit = text.last.flatMap { Bandwidth.units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits),
            case (let product, let overflow) = count.multipliedReportingOverflow(by: unit ?? 1), !overflow,
            Bandwidth.range.contains(product)
        else { return nil }
        bytesPerSecond = product
    }

    init?(argument: String) { self.init(argument) }
}
