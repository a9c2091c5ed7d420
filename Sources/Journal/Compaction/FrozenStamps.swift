import GRDB

/// The local entries whose stamps could no longer be derived once entries before them are gone.
///
/// The stamp of a local entry follows from the entry before it (``LocalFold``). So the entry after each one
/// that goes gets its stamp stored: one that stays, and the first one of each step, which outlives the entry before it
/// by at least a transaction.
struct FrozenStamps {
    private let removals: [Int64]
    private let rowsPerStep: Int

    /// - Parameters:
    ///   - removals: The positions of the entries that go, ascending.
    ///   - rowsPerStep: How many of them go in one transaction.
    init(removing removals: [Int64], rowsPerStep: Int) {
        self.removals = removals
        self.rowsPerStep = rowsPerStep
    }

    func entries(_ walk: CompactionWalk) throws -> [(position: Int64, stamp: Stamp)] {
        guard let first = removals.first else { return [] }
        var frozen: [(position: Int64, stamp: Stamp)] = []
        var rest = removals[...]
        // The run of the entry before, when that entry goes.
        var gap: Int64?
        try walk.forEach(from: first) { cursor, run in
            let goes = rest.first == cursor.seq
            if !goes || rest.startIndex.isMultiple(of: rowsPerStep), run.isCaptured, gap == run.firstSeq,
                !cursor.hasStoredStamp
            {
                frozen.append((cursor.seq, cursor.stamp))
            }
            if goes { rest = rest.dropFirst() }
            gap = goes ? run.firstSeq : nil
        }
        return frozen
    }
}
