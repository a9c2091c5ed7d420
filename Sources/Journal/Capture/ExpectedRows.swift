import GRDB

/// The rows of a table as the journal implies them, with hashes in place of values.
///
/// It costs one pass over the journal, and memory for one hash for each value of the rows.
struct ExpectedRows {
    /// One row.
    struct Row {
        /// The merged row of the changes that rows here show.
        var merged: MergedRow<Int>
        /// The key as the first change of the row's life spells it.
        var key: [Value] = []
        /// For each fresh column, the hashes of all values that any change of the key carries.
        var past: [Int: Set<Int>] = [:]
        /// For each fresh column that had another name, the same of the column of that name.
        var formerPast: [Int: Set<Int>] = [:]
        /// The greatest life of the key among all changes, 1 or more.
        var life: Int64 = 0

        /// True when a change of the key carried this value of a fresh column, or when none carried the
        /// column and `hash` is that of the column's default.
        func knew(_ hash: Int, in column: Int, default defaultHash: Int?) -> Bool {
            past[column]?.contains(hash) ?? (hash == defaultHash)
        }

        /// True when all values that changes of the key carry for a fresh column stood here under its former
        /// name. They were made by the same renaming elsewhere, and the writer here had seen them.
        func showedPast(of column: Int) -> Bool {
            formerPast[column]?.isSuperset(of: past[column] ?? []) ?? false
        }
    }

    /// The rows by key, deleted ones included.
    private(set) var rows: [Key: Row] = [:]
    private let hasKeySpellings: Bool

    /// Reads the journal.
    ///
    /// - Parameters:
    ///   - fresh: The columns that rows here have not shown so far, as indices of
    ///     ``TableInspection/stored``.
    ///   - renamed: The former names of columns, as in ``ColumnChange``.
    ///   - part: The keys to read.
    ///   - end: The last position to read, when rows showed all columns; nil for what they show now.
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    init(
        _ table: TableInspection, id: Int64, fresh: Set<Int>, renamed: [Int: String], form: StoredForm,
        part: KeyPart, through end: Int64? = nil, _ db: Database
    ) throws {
        hasKeySpellings = table.hasKeySpellings
        let reader = try JournalReader(db)
        let policy = try MergePolicies(db, names: reader.registry.names)[table.name]
        var space = ColumnSpace(columns: table.stored.map(\.name), keyCount: table.keyCount)
        let views = reader.registry.entries.mapValues {
            View(
                $0, in: &space, storedCount: table.stored.count, fresh: fresh, renamed: renamed, showsAll: end != nil)
        }
        var position: Int64 = 0
        while true {
            let entries = try reader.entries(after: position, limit: 4_096)
            guard let last = entries.last else { break }
            position = last.seq
            for change in entries where change.tableID == id && change.seq <= end ?? .max {
                guard let view = views[change.shapeID], view.translation.hasSameKey, part.contains(change.key)
                else { continue }
                var row = rows[change.key] ?? Row(merged: MergedRow(policy: policy))
                try add(change, to: &row, view, form, own: reader.identity.origin)
                rows[change.key] = row
            }
        }
    }

    private func add(
        _ change: JournalEntry, to row: inout Row, _ view: View, _ form: StoredForm, own: OriginID
    ) throws {
        row.life = max(row.life, change.life)
        var cells: [(column: Int, cell: Int)] = []
        var next = change.shape.keyCount
        try change.mask.forEach { column in
            guard column >= change.shape.keyCount else { return }
            defer { next += 1 }
            let value = change.values[next]
            if let position = view.became[column] {
                row.formerPast[position, default: []].insert(try form.stored(value, in: position).hashValue)
            }
            guard view.isShown[column] || view.isFresh[column] else { return }
            let position = view.translation.positions[column]
            // Triggers journal values as the table stored them. A value of another machine may be stored as
            // another class.
            let hash = try (change.isLocal ? value : form.stored(value, in: position)).hashValue
            if view.isFresh[column] { row.past[position, default: []].insert(hash) }
            if view.isShown[column] { cells.append((position, hash)) }
        }
        guard view.isVisible else { return }
        let isNewLife = change.life > row.merged.life
        row.merged.add(
            RowChange(
                order: change.order(own: own), version: change.version,
                known: change.known, life: change.life, operation: change.operation,
                key: hasKeySpellings ? try key(of: change, form) : [], cells: cells))
        if isNewLife { row.key = Array(change.keyValues) }
    }

    /// The hashes of the key as the change spells it.
    private func key(of change: JournalEntry, _ form: StoredForm) throws -> [Int] {
        try change.keyValues.enumerated().map { index, value in
            try (change.isLocal ? value : form.stored(value, in: index)).hashValue
        }
    }

    /// How rows here show the changes of one shape.
    private struct View {
        let translation: ColumnSpace.Translation
        /// For each column of the shape, whether rows here show it.
        let isShown: [Bool]
        /// For each column of the shape, whether it is fresh.
        let isFresh: [Bool]
        /// For each column of the shape that was renamed here, the column that it became.
        let became: [Int?]
        /// False when rows here show nothing of the shape's changes: the table has another key, or a
        /// migration added the columns and the backfill has not run.
        let isVisible: Bool

        init(
            _ shape: ShapeRegistry.Entry, in space: inout ColumnSpace, storedCount: Int, fresh: Set<Int>,
            renamed: [Int: String], showsAll: Bool
        ) {
            let translation = space.translation(of: shape)
            let shown = showsAll ? nil : shape.shownColumns.map(Set.init)
            isShown = zip(shape.shape.columns, translation.positions).map { name, position in
                position < storedCount && !fresh.contains(position) && shown?.contains(name) ?? true
            }
            isFresh = translation.positions.map(fresh.contains)
            became = shape.shape.columns.map { name in
                renamed.first { $0.value == SQLText.foldedName(name) }?.key
            }
            let hidden = shown.map { Set(shape.shape.valueColumns).isDisjoint(with: $0) } ?? false
            isVisible = translation.hasSameKey && !(hidden && !shape.shape.valueColumns.isEmpty)
            self.translation = translation
        }
    }
}
