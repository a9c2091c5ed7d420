/// How long something took, each time: a histogram.
package struct DurationHistogram: Sendable, Hashable {
    /// The longest time of each bucket but the last one, in microseconds, ascending.
    package let bounds: [Int64]

    /// The times in each bucket; the last one has those that were longer than every bound.
    package private(set) var counts: [Int]
    /// All times together, in microseconds.
    package private(set) var microseconds: Int64 = 0

    /// Creates a histogram of nothing.
    ///
    /// - Parameter bounds: In microseconds, ascending.
    package init(bounds: [Int64]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// Frames of changes, from their arrival to their commit: 1 ms to 10 s.
    package static let applying = DurationHistogram(
        bounds: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000].map { $0 * 1_000 })

    /// Syncs of a file: 0.1 ms, which a disk with a safe cache needs, to 5 s.
    package static let syncing = DurationHistogram(
        bounds: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000])

    /// Counts one duration.
    package mutating func add(microseconds: Int64) {
        counts[bounds.firstIndex { microseconds <= $0 } ?? bounds.count] += 1
        self.microseconds += microseconds
    }
}
