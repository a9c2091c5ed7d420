import GRDB

/// Journals the difference between the rows that the journal implies for a table and the rows that the table
/// holds.
///
/// It is needed when writes bypassed the triggers: when a table was dropped and rebuilt, or a user's trigger
/// ran before capture's. It costs one pass over the journal and one over the table's rows, and memory for one
/// hash for each value of the table.
///
/// Invariant: a value that a merge produced is never journalled, because no program wrote it. So each row is
/// compared with the row that merging would show, under the table's policy and in the form in which the
/// columns store values. Held rows and rows that a function decided are not compared.
struct Reconciliation {
    private let table: TableInspection
    private let entry: ShapeRegistry.Entry
    private let db: Database
    private let form: StoredForm

    init(_ table: TableInspection, entry: ShapeRegistry.Entry, _ db: Database) {
        self.table = table
        self.entry = entry
        self.db = db
        form = StoredForm(table, db)
    }

    /// Compares the table with the journal, and appends an entry for each difference.
    ///
    /// - Returns: The number of journalled changes.
    func run() throws -> Int64 {
        let expected = try expectedRows()
        let held = try heldKeys()
        var missing = expected
        var entries: [LocalEntry] = []
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        let rows = try RawStatement(db, "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name))")
        let defaults = try table.stored.indices.map { index in
            try form.stored(table.stored[index].defaultValue(db) ?? .null, in: index).hashValue
        }
        var updates: [LocalEntry] = []
        while try rows.step() {
            let row = table.stored.indices.map { rows.column(Int32($0)) }
            let keyValues = row.prefix(table.keyCount)
            guard !keyValues.contains(.null) else { continue }
            let key = Key(keyValues, collations: entry.collations)
            missing[key] = nil
            // A row with a substitute for a missing parent differs from the journal, but no program wrote the
            // substitute.
            guard !held.contains(key) else { continue }
            guard let known = expected[key]?.row else {
                entries.append(.insert(row, entry))
                continue
            }
            // A function decided the row, and only merging can call it.
            guard let known = known.row() else { continue }
            let changed = (table.keyCount..<table.stored.count).filter { index in
                (index < known.count ? known[index] : nil) ?? defaults[index] != row[index].hashValue
            }
            if !changed.isEmpty { updates.append(.update(row, columns: changed, entry)) }
        }
        entries += updates
        for (key, row) in missing where !held.contains(key) { entries.append(.delete(row.key, entry)) }
        for entry in entries { try entry.append(db) }
        return Int64(entries.count)
    }

    // MARK: - Expected rows

    private struct Expected {
        /// The values as hashes.
        var row: MergedRow<Int>
        /// The key as the first change of the row's life spells it.
        var key: [Value]
    }

    /// How rows here show the changes of one shape.
    private struct View {
        let translation: ColumnSpace.Translation
        /// For each column of the shape, whether rows here show it.
        let isShown: [Bool]
        /// False when rows here show nothing of the shape's changes: the table has another key, or a
        /// migration added the columns and the backfill has not run.
        let isVisible: Bool

        init(_ shape: ShapeRegistry.Entry, in space: inout ColumnSpace, storedCount: Int) {
            let translation = space.translation(of: shape)
            let shown = shape.shownColumns.map(Set.init)
            isShown = zip(shape.shape.columns, translation.positions).map { name, position in
                position < storedCount && shown?.contains(name) ?? true
            }
            let hidden = shown.map { Set(shape.shape.valueColumns).isDisjoint(with: $0) } ?? false
            isVisible = translation.hasSameKey && !(hidden && !shape.shape.valueColumns.isEmpty)
            self.translation = translation
        }
    }

    /// Returns the living rows that the journal's entries of the table imply.
    private func expectedRows() throws -> [Key: Expected] {
        let reader = try JournalReader(db)
        let policy = try MergePolicies(db, names: reader.registry.names)[table.name]
        var space = ColumnSpace(columns: table.stored.map(\.name), keyCount: table.keyCount)
        let views = reader.registry.entries.mapValues { View($0, in: &space, storedCount: table.stored.count) }
        var rows: [Key: Expected] = [:]
        var position: Int64 = 0
        while true {
            let entries = try reader.entries(after: position, limit: 4_096)
            guard let last = entries.last else { break }
            position = last.seq
            for change in entries where change.tableID == entry.table {
                guard let view = views[change.shapeID], view.isVisible else { continue }
                let isNewLife = change.life > rows[change.key]?.row.life ?? 0
                let folded = try rowChange(change, view, own: reader.identity.origin)
                rows[change.key, default: Expected(row: MergedRow(policy: policy), key: [])].row.add(folded)
                if isNewLife { rows[change.key]?.key = Array(change.keyValues) }
            }
        }
        return rows.filter { $0.value.row.isAlive }
    }

    private func rowChange(_ change: JournalEntry, _ view: View, own: OriginID) throws -> RowChange<Int> {
        let keyCount = change.shape.keyCount
        var cells: [(column: Int, cell: Int)] = []
        var next = keyCount
        try change.mask.forEach { column in
            guard column >= keyCount else { return }
            defer { next += 1 }
            guard view.isShown[column] else { return }
            let position = view.translation.positions[column]
            let value = change.values[next]
            // Triggers journal values as the table stored them. A value of another machine may be stored as
            // another class.
            cells.append((position, try (change.isLocal ? value : form.stored(value, in: position)).hashValue))
        }
        return RowChange(
            order: WriteOrder(stamp: change.stamp, origin: change.origin ?? own), version: change.version,
            known: change.known, life: change.life, operation: change.operation, key: [], cells: cells)
    }

    private func heldKeys() throws -> Set<Key> {
        let statement = try RawStatement(db, "SELECT key FROM _journal_held WHERE tbl = ?")
        try statement.bind(entry.table, at: 1)
        var keys: Set<Key> = []
        while try statement.step() { keys.insert(Key(bytes: Array(statement.bytes(0)))) }
        return keys
    }
}
