import GRDB

/// The second pass of compaction: folds the stable entries of each row that has several, and finds those that
/// the row does not need.
///
/// Rows are taken in parts by the hash of their keys, one pass over the journal each, so that memory stays
/// bounded.
struct CompactionFold {
    private let walk: CompactionWalk
    private let survey: CompactionSurvey
    private let scope: CompactionScope

    /// How many entries one pass keeps in memory.
    private static let entriesPerPass = 400_000

    /// Entries that stay although their rows may not need them.
    private let kept: Set<Int64>

    init(_ walk: CompactionWalk, survey: CompactionSurvey, scope: CompactionScope) {
        kept = scope.pinnedPositions.union(survey.heads)
        self.walk = walk
        self.survey = survey
        self.scope = scope
    }

    /// A row with its stable entries.
    private struct Row {
        let key: TableKey
        var merged = MergedRow<JournalCell>()
        var positions: [Int64] = []
        var isPinned = false
        /// True when other entries of the row stay, so that the row needs the entry that says that it is dead.
        var isReferred = false

        /// The entries that the row needs.
        var needed: Set<Int64> {
            let spelling = Set(merged.key.map(\.seq))
            guard merged.isAlive else { return isReferred ? spelling : [] }
            var needed = spelling
            for winner in merged.winners { if let winner { needed.insert(winner.cell.seq) } }
            return needed
        }
    }

    /// The entries that go.
    func removals() throws -> Set<Int64> {
        var removals: Set<Int64> = []
        let parts = UInt64(
            max(1, (survey.counts.repeated + CompactionFold.entriesPerPass - 1) / CompactionFold.entriesPerPass))
        for part in 0..<parts where survey.counts.repeated > 0 {
            for row in try rows(ofPart: part, of: parts)
            where !row.isPinned && (scope.columnwise.contains(row.key.table) || !row.merged.isAlive) {
                let needed = row.needed
                removals.formUnion(row.positions.filter { !needed.contains($0) })
            }
        }
        return removals.subtracting(kept)
    }

    private func rows(ofPart part: UInt64, of parts: UInt64) throws -> [Row] {
        var rows: [Row] = []
        // A row is changed in its place: taking it out of a dictionary and back costs more than the fold.
        var places: [TableKey: Int] = [:]
        var bytes: [UInt8] = []
        try walk.forEach { cursor, run in
            guard let treatment = scope.treatments[cursor.entry.id] else { return }
            let hash = CompactionSurvey.hash(cursor, &bytes)
            // The low bits choose the counter, so the high ones choose the part.
            guard survey.counts.isRepeated(hash), (hash >> 32) % parts == part else { return }
            let key = TableKey(table: cursor.entry.table, key: Key(bytes: bytes))
            let place: Int
            if let known = places[key] {
                place = known
            } else {
                place = rows.count
                places[key] = place
                rows.append(Row(key: key, isPinned: scope.pinnedKeys.contains(key)))
            }
            guard survey.isStable(cursor, in: run) else {
                rows[place].isReferred = true
                return
            }
            rows[place].positions.append(cursor.seq)
            if kept.contains(cursor.seq) { rows[place].isReferred = true }
            switch treatment {
            case .pins: rows[place].isPinned = true
            case .folds(let translation):
                let change = ScannedChange(
                    seq: cursor.seq, origin: run.origin, version: cursor.version, stamp: cursor.stamp,
                    life: cursor.life, operation: cursor.operation, mask: try cursor.mask(), shape: cursor.entry,
                    key: key.key, known: run.known, migration: cursor.migration)
                if let change = change.rowChange(in: translation, cell: { $0 }) { rows[place].merged.add(change) }
            }
        }
        return rows
    }
}
