import GRDB

/// Visits the entries of a journal in order, in snapshots of bounded length: one that stays open keeps the log of
/// a busy program from starting again.
///
/// What is visited does not change meanwhile, except that another process may compact it too.
struct CompactionWalk {
    /// The file has another identity or another schema than at the beginning.
    struct Outdated: Error {}

    private let read: CompactionPlan.Reading
    private let basis: CompactionPlan.Basis
    /// The last position to visit.
    private let last: Int64
    private let entriesPerSnapshot: Int

    /// - Parameter entriesPerSnapshot: The most entries to visit in one snapshot, 1 or more.
    init(
        _ read: @escaping CompactionPlan.Reading, basis: CompactionPlan.Basis, through last: Int64,
        entriesPerSnapshot: Int
    ) {
        self.entriesPerSnapshot = entriesPerSnapshot
        self.read = read
        self.basis = basis
        self.last = last
    }

    /// Calls `visit` with a cursor on each entry, and its run.
    ///
    /// - Parameter start: The first position to visit.
    /// - Throws: ``Outdated``; what `visit` throws; ``JournalError/Code/corrupt``; errors of SQLite.
    func forEach(from start: Int64 = 1, _ visit: (JournalCursor, JournalRun) throws -> Void) throws {
        var done = start - 1
        while done < last {
            try read { db in
                guard try CompactionPlan.Basis(db) == basis else { throw Outdated() }
                done = try part(of: JournalReader(db), after: done, visit)
            }
        }
    }

    /// - Returns: The position up to which all entries were visited.
    private func part(
        of reader: JournalReader, after done: Int64, _ visit: (JournalCursor, JournalRun) throws -> Void
    ) throws -> Int64 {
        var count = 0
        for run in try reader.runs.runs(from: done + 1) where run.firstSeq <= last {
            let cursor = try reader.cursor(over: run, from: max(done + 1, run.firstSeq), reading: .keys)
            while try cursor.next(), cursor.seq <= last {
                guard cursor.seq > done else { continue }
                try visit(cursor, run)
                count += 1
                if count >= entriesPerSnapshot { return cursor.seq }
            }
        }
        return last
    }
}
