import Journal

/// Decides when enough has become stable to be worth a pass over the journal. Pure.
struct CompactionPace: Sendable, Hashable {
    /// A pass is worth its time when this share of the journal has become stable since the last one.
    private static let share: Int64 = 16

    /// The longest time between two passes, in milliseconds: what was stable and too young grows old enough.
    private let longest: Int64
    private var stable = VersionVector()
    private var time: Int64?

    init(longestMilliseconds: Int64) { longest = longestMilliseconds }

    /// - Parameters:
    ///   - vector: What is stable.
    ///   - entries: How many entries the journal has.
    ///   - now: The time of a steady clock, in milliseconds.
    func isDue(_ vector: VersionVector, entries: Int64, now: Int64) -> Bool {
        guard !vector.isEmpty else { return false }
        if let time, now - time >= longest { return true }
        let news = vector.entries.reduce(Int64(0)) { $0 + max(0, $1.version - stable[$1.origin]) }
        return news > 0 && news >= entries / CompactionPace.share
    }

    /// Notes a pass.
    ///
    /// - Parameter vector: What was stable then.
    mutating func passed(_ vector: VersionVector, now: Int64) {
        stable = vector
        time = now
    }
}
