import GRDB

/// The local entries whose stamps could no longer be derived once entries before them are gone.
///
/// The stamp of a local entry follows from the entry before it (``LocalFold``). So the entry after each one
/// that goes gets its stamp stored.
struct FrozenStamps {
    private let removals: [Int64]

    /// - Parameter removals: The positions of the entries that go, ascending.
    init(removing removals: [Int64]) { self.removals = removals }

    func entries(_ walk: CompactionWalk) throws -> [(position: Int64, stamp: Stamp)] {
        guard let first = removals.first else { return [] }
        var frozen: [(position: Int64, stamp: Stamp)] = []
        var rest = removals[...]
        // The run of the entry before, when that entry goes.
        var gap: Int64?
        try walk.forEach(from: first) { cursor, run in
            if rest.first == cursor.seq {
                rest = rest.dropFirst()
                gap = run.firstSeq
            } else {
                if run.isCaptured, gap == run.firstSeq, !cursor.hasStoredStamp {
                    frozen.append((cursor.seq, cursor.stamp))
                }
                gap = nil
            }
        }
        return frozen
    }
}
