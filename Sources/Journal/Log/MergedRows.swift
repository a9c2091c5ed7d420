/// The place of a value in the journal: the entry's position, and the index of the column in the entry's
/// shape.
package struct JournalCell: Hashable, Sendable {
    package let seq: Int64
    package let column: Int
}

extension JournalValues {
    /// As ``value(at:column:)``.
    package func value(of cell: JournalCell) throws -> Value { try value(at: cell.seq, column: cell.column) }
}

extension ScannedChange {
    /// Returns the change in the form that ``MergedRow`` needs.
    ///
    /// - Parameters:
    ///   - translation: How the change's shape maps into the table's column space.
    ///   - isWanted: Returns false for a column of the space to leave out.
    ///   - cell: Returns the cell for a stored value.
    /// - Returns: nil when the shape's primary key is not that of the table, so that the change belongs to no
    ///   row of it.
    package func rowChange<Cell>(
        in translation: ColumnSpace.Translation, isWanted: (Int) -> Bool = { _ in true },
        cell: (JournalCell) throws -> Cell
    ) rethrows -> RowChange<Cell>? {
        guard translation.hasSameKey else { return nil }
        let keyCount = shape.shape.keyCount
        var cells: [(column: Int, cell: Cell)] = []
        try mask.forEach { column in
            let position = translation.positions[column]
            guard column >= keyCount, isWanted(position) else { return }
            cells.append((position, try cell(JournalCell(seq: seq, column: column))))
        }
        return RowChange(
            order: order, version: version, known: known, life: life,
            operation: operation, key: try (0..<keyCount).map { try cell(JournalCell(seq: seq, column: $0)) },
            cells: cells)
    }
}

extension JournalReader {
    /// Merges the entries of tables into rows, in one pass over the journal.
    ///
    /// - Parameters:
    ///   - tables: The ids of the tables.
    ///   - keys: The rows to return; nil for all rows of the tables.
    ///   - policy: Returns the policy of the table of a shape.
    ///   - change: Returns the change to add to its row; nil leaves it out.
    /// - Returns: The rows that have a change, including deleted rows.
    /// - Throws: What `change` throws; ``JournalError/Code/corrupt`` for a malformed entry or run; errors of
    ///   SQLite.
    package func mergedRows<Cell>(
        of tables: Set<Int64>, among keys: Set<TableKey>? = nil,
        policy: (ShapeRegistry.Entry) -> MergePolicy = { _ in .column },
        change: (ScannedChange) throws -> RowChange<Cell>?
    ) throws -> [TableKey: MergedRow<Cell>] {
        var rows: [TableKey: MergedRow<Cell>] = [:]
        try scan(tables: tables) { scanned in
            let key = TableKey(table: scanned.shape.table, key: scanned.key)
            if let keys, !keys.contains(key) { return }
            guard let change = try change(scanned) else { return }
            rows[key, default: MergedRow(policy: policy(scanned.shape))].add(change)
        }
        return rows
    }
}
