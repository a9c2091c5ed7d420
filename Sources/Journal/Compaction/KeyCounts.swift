/// Tells keys that occur once from keys that may occur more than once, in a fixed amount of memory.
///
/// Two keys may share a counter, so a key that occurs once can count as several. The reverse never happens.
struct KeyCounts {
    private var counts: [UInt8]
    /// The sum of the counts that are more than one, approximately the entries of repeated keys.
    private(set) var repeated = 0

    /// - Parameter entries: How many keys will be added, approximately.
    init(entries: Int64) {
        var size = 1 << 12
        while size < 2 * entries, size < 1 << 24 { size *= 2 }
        counts = [UInt8](repeating: 0, count: size)
    }

    mutating func add(_ hash: UInt64) {
        let index = Int(hash & UInt64(counts.count - 1))
        switch counts[index] {
        case 0: counts[index] = 1
        case 1:
            counts[index] = 2
            repeated += 2
        default: repeated += 1
        }
    }

    func isRepeated(_ hash: UInt64) -> Bool { counts[Int(hash & UInt64(counts.count - 1))] > 1 }
}
