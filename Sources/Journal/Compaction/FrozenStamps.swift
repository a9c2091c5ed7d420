import GRDB

/// The local entries whose stamps could no longer be derived once entries before them are gone.
///
/// The stamp of a local entry follows from the entry before it (``LocalFold``). So the entry after each one
/// that goes gets its stamp stored.
struct FrozenStamps {
    private let reader: JournalReader
    private let removals: [Int64]

    /// - Parameter removals: The positions of the entries that go, ascending.
    init(_ reader: JournalReader, removing removals: [Int64]) {
        self.reader = reader
        self.removals = removals
    }

    func entries() throws -> [(position: Int64, stamp: Stamp)] {
        guard let first = removals.first else { return [] }
        var frozen: [(position: Int64, stamp: Stamp)] = []
        var rest = removals[...]
        for run in try reader.runs.runs(from: first) where run.isCaptured {
            rest = rest.drop { $0 < run.firstSeq }
            guard let next = rest.first, next < run.endSeq else { continue }
            let cursor = try reader.cursor(over: run, from: run.firstSeq, reading: .keys)
            var isAfterGap = false
            while try cursor.next() {
                if rest.first == cursor.seq {
                    rest = rest.dropFirst()
                    isAfterGap = true
                } else {
                    if isAfterGap, !cursor.hasStoredStamp { frozen.append((cursor.seq, cursor.stamp)) }
                    isAfterGap = false
                    guard let next = rest.first, next < run.endSeq else { break }
                }
            }
        }
        return frozen
    }
}
