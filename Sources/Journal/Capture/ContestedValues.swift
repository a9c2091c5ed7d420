import GRDB

/// Journals values that were written here while the journal held other values for the same columns that rows
/// here did not show. The writer had not seen those, so the entries are concurrent with them: the later ones
/// win, and the conflict ledger lists what lost, here as on all other replicas.
///
/// The entries belong to a run of their own, whose causal context leaves out the changes that were not shown.
struct ContestedValues {
    /// A row with values that were written here.
    struct Row {
        let key: Key
        /// The life of the key, odd.
        let life: Int64
        /// All values, in the order of ``TableInspection/stored``.
        let values: [Value]
        /// The columns that were written, ascending.
        let columns: [Int]
        /// For each of ``columns`` that had another name, the hashes of the values that stood here under that
        /// name.
        let shown: [Int: Set<Int>]

        /// The same row with those of its columns for which `isKept` returns true; nil when none is left.
        func limited(_ isKept: (Int) -> Bool) -> Row? {
            let kept = columns.filter(isKept)
            return kept.isEmpty ? nil : Row(key: key, life: life, values: values, columns: kept, shown: shown)
        }
    }

    /// A change of another origin with other values in some of the columns that were written.
    private struct Rival {
        let side: ConflictRecorder.Side
        /// Those columns.
        var columns: [Int] = []
        /// True when the writer here had seen all of its values: under former names of the columns, or before the
        /// columns or the table went away here, to come back now. What others are told of this file
        /// (``ShownKnowledge``) counts these as well, so nobody has compacted what counts as unseen here.
        var wasSeen = true
    }

    private let table: TableInspection
    private let entry: ShapeRegistry.Entry
    private let form: StoredForm
    private let db: Database

    init(_ table: TableInspection, entry: ShapeRegistry.Entry, form: StoredForm, _ db: Database) {
        self.table = table
        self.entry = entry
        self.form = form
        self.db = db
    }

    /// Appends one entry for each row, and records what loses to it.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal cannot be read; errors of SQLite. The
    ///   transaction must then be rolled back.
    func append(_ rows: [Row]) throws {
        guard !rows.isEmpty else { return }
        let reader = try JournalReader(db)
        let rivals = try rivals(of: rows, reader)
        let all = reader.origins.merged(except: reader.identity.origin)
        var firstUnseen: [OriginID: Int64] = [:]
        for rival in rivals.values.joined() where !rival.wasSeen {
            firstUnseen[rival.side.origin] = min(firstUnseen[rival.side.origin] ?? .max, rival.side.version)
        }
        let seen = VersionVector(
            all.entries.map { .init(origin: $0.origin, version: min($0.version, (firstUnseen[$0.origin] ?? .max) - 1)) }
        )
        guard try isSound(seen, rows, reader) else {
            for row in rows { try localEntry(row).append(db) }
            return
        }
        try LocalRun.start(known: seen, db)
        let first = try JournalReader.lastSeq(db) + 1
        for row in rows { try localEntry(row).append(db) }
        try LocalRun.start(known: all, db)
        for (index, row) in rows.enumerated() {
            guard let kept = try side(at: first + Int64(index)) else { continue }
            let losers = rivals[row.key, default: []].filter { $0.side.version > seen[$0.side.origin] }
            for loser in losers { try record(loser, lostTo: kept, row) }
        }
    }

    private func localEntry(_ row: Row) -> LocalEntry { .update(row.values, columns: row.columns, entry) }

    /// False when the causal context `known` would do harm: a policy that merges whole rows would undo other
    /// columns of the rows, and a receiver refuses a life that the context does not explain (`Admission`).
    /// The entries then win without a trace.
    private func isSound(_ known: VersionVector, _ rows: [Row], _ reader: JournalReader) throws -> Bool {
        let policy = try MergePolicies(db, names: reader.registry.names)[table.name]
        guard policy == .column, let run = try reader.runs.last() else { return false }
        // Others refuse a writer who had not seen what is compacted.
        guard try known.covers(Horizon(db).vector, except: reader.identity.origin) else { return false }
        let explained = known.entries.reduce(run.version(at: reader.lastSeq + 1)) { $0 + $1.version }
        return rows.allSatisfy { $0.life - 1 <= explained }
    }

    private func rivals(of rows: [Row], _ reader: JournalReader) throws -> [Key: [Rival]] {
        let wanted = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        let values = JournalValues(db)
        // Changes under an earlier identity of this file were written here.
        let own = Set(reader.origins.retired.compactMap { reader.origins.origins[$0] } + [reader.identity.origin])
        let tableShownUntil = try DroppedTable.all(db)[entry.table]?.position ?? 0
        var space = ColumnSpace(columns: table.stored.map(\.name), keyCount: table.keyCount)
        var rivals: [Key: [Rival]] = [:]
        try reader.scan(tables: [entry.table]) { change in
            guard !own.contains(change.origin), let row = wanted[change.key], change.life == row.life else { return }
            let translation = space.translation(of: change.shape)
            guard translation.hasSameKey else { return }
            var rival = Rival(
                side: .init(version: change.version, life: change.life, order: change.order, seq: change.seq))
            try change.mask.forEach { column in
                let position = translation.positions[column]
                guard position >= table.keyCount, row.columns.contains(position) else { return }
                let other = try form.stored(values.value(at: change.seq, column: column), in: position)
                guard other != row.values[position] else { return }
                rival.columns.append(position)
                if change.seq > max(tableShownUntil, change.shape.shownUntil),
                    row.shown[position]?.contains(other.hashValue) != true
                {
                    rival.wasSeen = false
                }
            }
            if !rival.columns.isEmpty { rivals[change.key, default: []].append(rival) }
        }
        return rivals
    }

    private func side(at seq: Int64) throws -> ConflictRecorder.Side? {
        let reader = try JournalReader(db)
        return try reader.entry(at: seq).map {
            .init(
                version: $0.version, life: $0.life, order: $0.order(own: reader.identity.origin), seq: $0.seq)
        }
    }

    private func record(_ loser: Rival, lostTo kept: ConflictRecorder.Side, _ row: Row) throws {
        try ConflictRecorder(db).record(
            kind: .updateUpdate, table: entry.table, key: row.key,
            columns: loser.columns.map { table.stored[$0].name }, lost: loser.side, kept: kept,
            origins: OriginTable(db), time: Double(kept.order.stamp.milliseconds) / 1_000)
    }
}
