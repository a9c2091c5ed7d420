/// How long frames of changes took from their arrival to their commit: a histogram.
package struct ApplyTimes: Sendable, Hashable {
    /// The longest time of each bucket but the last one, in milliseconds, ascending.
    package static let bounds: [Int64] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

    /// Frames in each bucket; the last one has those that took longer than every bound.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// All times together, in milliseconds.
    package private(set) var milliseconds: Int64 = 0

    /// Creates a histogram of nothing.
    package init() {}

    mutating func add(_ milliseconds: Int64) {
        counts[ApplyTimes.bounds.firstIndex { milliseconds <= $0 } ?? ApplyTimes.bounds.count] += 1
        self.milliseconds += milliseconds
    }
}
