import GRDB

/// Gives the updates of a migration their ranks (``MigrationRank``), and takes back what a second run of the same
/// migration did.
///
/// An update counts after the latest write of its columns that it found. In tables that merge whole rows, updates
/// stay as they are: there, each change of a row must be later than all that its writer had seen.
///
/// A column is *done* when the migration of that name has run before, and what was found here came from it or was
/// written by someone who had seen it. The update then keeps the value that was found: two runs of one migration
/// are one change.
///
/// It takes one pass over the journal to find the rows, and one for each part of them.
struct MigratedUpdates {
    private let stretch: MigrationMarks.Stretch
    private let db: Database
    private let reader: JournalReader
    private let policies: MergePolicies
    private let values: JournalValues

    /// How many rows are ranked in one pass over the journal.
    private static let rowsPerPart: Int64 = 100_000

    init(_ stretch: MigrationMarks.Stretch, _ db: Database) throws {
        self.stretch = stretch
        self.db = db
        reader = try JournalReader(db)
        policies = try MergePolicies(db, names: reader.registry.names)
        values = JournalValues(db)
    }

    /// - Throws: ``JournalError/Code/corrupt``; errors of SQLite. The transaction must then be rolled back.
    func rank() throws {
        var tables: Set<Int64> = []
        var updates: Int64 = 0
        for shape in try Row.fetchAll(
            db,
            sql: "SELECT shape, count(*) AS updates FROM _journal WHERE seq BETWEEN ? AND ? AND op = 2 GROUP BY shape",
            arguments: [stretch.range.lowerBound, stretch.range.upperBound])
        {
            guard let entry = reader.registry[shape["shape"]], policies[entry.shape.table] == .column else { continue }
            tables.insert(entry.table)
            updates += shape["updates"]
        }
        guard !tables.isEmpty else { return }
        var changed: Set<Int64> = []
        for part in KeyPart.parts(of: updates, atMost: MigratedUpdates.rowsPerPart) {
            changed.formUnion(try rank(part, of: tables))
        }
        try showAgain(changed)
    }

    // MARK: - One part of the rows

    /// - Returns: The tables whose rows show what a second run did.
    private func rank(_ part: KeyPart, of tables: Set<Int64>) throws -> Set<Int64> {
        var spaces: [Int64: ColumnSpace] = [:]
        func translation(of shape: ShapeRegistry.Entry) -> ColumnSpace.Translation {
            spaces[shape.table, default: ColumnSpace(columns: shape.shape.columns, keyCount: shape.shape.keyCount)]
                .translation(of: shape)
        }
        var rows: [TableKey: FoundRow] = [:]
        var columns: [Int64: ColumnMask] = [:]
        try reader.scan(tables: tables, from: stretch.range.lowerBound) { change in
            guard isUpdate(change), part.contains(change.key) else { return }
            let key = TableKey(table: change.shape.table, key: change.key)
            if rows[key] == nil { rows[key] = FoundRow() }
            let positions = translation(of: change.shape).positions
            change.mask.forEach { columns[key.table, default: ColumnMask()].insert(positions[$0]) }
        }
        var ranks: [(seq: Int64, rank: MigrationRank)] = []
        var repeated: [(seq: Int64, column: Int, found: JournalCell)] = []
        var changed: Set<Int64> = []
        try reader.scan(tables: tables) { change in
            let key = TableKey(table: change.shape.table, key: change.key)
            guard change.seq <= stretch.range.upperBound, rows[key] != nil else { return }
            let translation = translation(of: change.shape)
            let wanted = columns[key.table] ?? ColumnMask()
            guard isUpdate(change) else {
                rows[key]?.find(change, translation, wanted)
                return
            }
            guard let outcome = rows[key]?.rank(change, translation, wanted, name: stretch.name) else { return }
            ranks.append((change.seq, outcome.rank))
            for (column, found) in outcome.done {
                repeated.append((change.seq, column, found))
                changed.insert(key.table)
            }
        }
        for (seq, rank) in ranks { try MigratedEntries.note(rank, at: seq, db) }
        try keep(repeated)
        return changed
    }

    /// Makes updates of a second run say what they found.
    private func keep(_ repeated: [(seq: Int64, column: Int, found: JournalCell)]) throws {
        for (column, entries) in Dictionary(grouping: repeated, by: \.column) {
            let update = try RawStatement(db, "UPDATE _journal SET v\(column) = ? WHERE seq = ?")
            for entry in entries {
                try update.bind(values.value(of: entry.found), at: 1)
                try update.bind(entry.seq, at: 2)
                try update.run()
            }
        }
    }

    /// Has the rows of tables follow the journal again, at the next contact of a process that merges: it also
    /// does what the triggers of programs do to their indexes.
    private func showAgain(_ tables: Set<Int64>) throws {
        guard !tables.isEmpty else { return }
        var registry = reader.registry
        for table in tables { try registry.backfillAgain(table: table, hiding: [], in: db) }
        try MintedClaims.State.renew(db)
    }

    /// True for an update that the migration made.
    private func isUpdate(_ change: ScannedChange) -> Bool {
        change.operation == .update && stretch.range.contains(change.seq)
    }

    // MARK: - One row

    /// What the changes of one row have made of it so far, in the columns that the migration updates.
    private struct FoundRow {
        /// The latest write of a column.
        private struct Found {
            let order: WriteOrder
            let version: Int64
            let known: VersionVector
            let cell: JournalCell

            func knows(_ origin: OriginID, _ version: Int64) -> Bool {
                origin == order.origin ? self.version >= version : known[origin] >= version
            }
        }

        private var life: Int64 = 0
        private var level: Int64 = 0
        private var found: [Int: Found] = [:]
        /// For each column, the migrations' updates of it.
        private var migrated: [Int: [(name: String, origin: OriginID, version: Int64)]] = [:]
        /// For each column that this migration has updated, what the first of its updates found where the
        /// migration was done already; nil where it was not.
        private var done: [Int: JournalCell?] = [:]

        /// Takes a change that is not the migration's, or not an update.
        mutating func find(_ change: ScannedChange, _ translation: ColumnSpace.Translation, _ wanted: ColumnMask) {
            guard change.life >= life, translation.hasSameKey else { return }
            if change.life > life {
                self = FoundRow()
                life = change.life
            }
            take(change, as: change.migration, translation, wanted)
        }

        private mutating func take(
            _ change: ScannedChange, as migration: MigrationRank?, _ translation: ColumnSpace.Translation,
            _ wanted: ColumnMask
        ) {
            let order = WriteOrder(stamp: change.stamp, origin: change.origin, migration: migration)
            level = max(level, order.level)
            change.mask.forEach { column in
                let position = translation.positions[column]
                guard column >= change.shape.shape.keyCount, wanted.contains(position) else { return }
                if let migration {
                    migrated[position, default: []].append((migration.name, change.origin, change.version))
                }
                if let before = found[position], order < before.order { return }
                found[position] = Found(
                    order: order, version: change.version, known: change.known,
                    cell: JournalCell(seq: change.seq, column: column))
            }
        }

        /// Ranks an update of the migration.
        ///
        /// - Returns: The rank, and the columns of the update's shape in which it repeats what was done, with
        ///   the places of the values that it found; nil when the row has another key or life.
        mutating func rank(
            _ update: ScannedChange, _ translation: ColumnSpace.Translation, _ wanted: ColumnMask, name: String
        ) -> (rank: MigrationRank, done: [(column: Int, found: JournalCell)])? {
            guard update.life == life, translation.hasSameKey else { return nil }
            var base: Stamp = .zero
            var repeated: [(column: Int, found: JournalCell)] = []
            update.mask.forEach { column in
                guard column >= update.shape.shape.keyCount else { return }
                let position = translation.positions[column]
                if let before = found[position] { base = max(base, before.order.stamp) }
                let known: JournalCell? = done[position] ?? whatIsDone(in: position, by: name)
                done[position] = .some(known)
                if let known { repeated.append((column, known)) }
            }
            let rank = MigrationRank(name: name, stamp: base, level: level + 1)
            take(update, as: rank, translation, wanted)
            return (rank, repeated)
        }

        /// Where the value is that a column has, when the migration was done there; nil when it was not.
        private func whatIsDone(in position: Int, by name: String) -> JournalCell? {
            guard let before = found[position] else { return nil }
            let isDone = (migrated[position] ?? []).contains { $0.name == name && before.knows($0.origin, $0.version) }
            return isDone ? before.cell : nil
        }
    }
}
