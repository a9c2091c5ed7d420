import GRDB
import Journal

extension ApplySession {
    /// Reads the merged state of rows of this file from the journal, in one pass.
    ///
    /// - Parameters:
    ///   - tables: The ids of the tables. A table that is not in this file has no rows.
    ///   - keys: The rows that are wanted; nil for all rows of the tables.
    func mergedRows(
        of tables: Set<Int64>, among keys: Set<TableKey>? = nil, in db: Database
    ) throws -> [TableKey: MergedRow<JournalCell>] {
        try JournalReader(db).mergedRows(
            of: tables, among: keys, policy: { context(of: $0).policy },
            change: { change in
                let context = context(of: change.shape)
                return change.rowChange(
                    in: context.translation(of: change.shape), isWanted: { $0 < context.storedCount }, cell: { $0 })
            })
    }
}

extension MergedRow<JournalCell> {
    /// The values of the latest change of each column, in the order of ``TableInspection/stored``, and the
    /// columns that have one. A column that no change carries has its computed default.
    ///
    /// - Returns: nil when the row's key is not complete.
    func latestImage(
        of table: TableInspection, _ values: JournalValues, defaults: ComputedDefaults?
    ) throws -> (image: [Value?], columns: ColumnMask)? {
        guard key.count == table.keyCount else { return nil }
        var image = [Value?](repeating: nil, count: table.stored.count)
        var columns = ColumnMask()
        for (index, cell) in key.enumerated() { image[index] = try values.value(of: cell) }
        for (column, cell) in latestCells.enumerated() {
            guard let cell else { continue }
            image[column] = try values.value(of: cell)
            columns.insert(column)
        }
        if let defaults, let insertOrder {
            var missing = defaults.columns
            missing.subtract(columns)
            for (column, value) in defaults.values(of: missing, for: insertOrder) {
                image[column] = value
                columns.insert(column)
            }
        }
        return (image, columns)
    }
}
