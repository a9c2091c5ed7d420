/// One figure over a span of time, in bins of equal length.
///
/// Pure: the caller passes the time in. It holds a fixed number of bins, so its memory does not grow.
struct Trend: Sendable, Hashable {
    /// What becomes of several values in one bin.
    enum Kind: Sendable, Hashable {
        /// The largest one stands for the bin.
        case peak
        /// They are added up.
        case sum
    }

    let kind: Kind
    let binSeconds: Int64
    /// The value of bin `n` is at `n % bins.count`.
    private var bins: [Int64?]
    /// The number of the newest bin, counted from second 0; nil before the first value.
    private var newest: Int64?

    /// - Parameters:
    ///   - kind: What becomes of several values in one bin.
    ///   - binSeconds: The length of a bin in seconds, 1 or more.
    ///   - count: The number of bins, 1 or more.
    init(_ kind: Kind, binSeconds: Int64, count: Int) {
        self.kind = kind
        self.binSeconds = max(binSeconds, 1)
        bins = Array(repeating: nil, count: max(count, 1))
    }

    /// Adds one value.
    ///
    /// - Parameters:
    ///   - value: A count, a size or a time.
    ///   - second: The time of a steady clock, in seconds, 0 or more. A time before the newest bin counts as
    ///     in that bin.
    mutating func add(_ value: Int64, at second: Int64) {
        let bin = max(second / binSeconds, newest ?? 0)
        if let newest, bin > newest {
            for passed in max(newest + 1, bin - Int64(bins.count) + 1)...bin { bins[index(passed)] = nil }
        }
        newest = bin
        let before = bins[index(bin)]
        switch kind {
        case .peak: bins[index(bin)] = max(before ?? value, value)
        case .sum: bins[index(bin)] = (before ?? 0).addingReportingOverflow(value).partialValue
        }
    }

    /// The values of all bins, the oldest first.
    ///
    /// - Parameter second: The time at which the last bin ends, as for ``add(_:at:)``.
    /// - Returns: One element for each bin; nil where no value was added.
    func values(at second: Int64) -> [Int64?] {
        let last = second / binSeconds
        return (last - Int64(bins.count) + 1...last).map { bin in
            guard let newest, bin <= newest, bin > newest - Int64(bins.count), bin >= 0 else { return nil }
            return bins[index(bin)]
        }
    }

    private func index(_ bin: Int64) -> Int { Int(bin % Int64(bins.count)) }
}
