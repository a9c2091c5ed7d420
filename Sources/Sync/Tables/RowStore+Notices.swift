import Journal

extension RowStore {
    /// Writes visibility notices for followers of the journal: one for each row whose visibility has changed.
    /// Journal entries of these rows in the same transaction do not show that.
    ///
    /// Call it before the held rows are written.
    func noteVisibility() throws {
        let changed = held.changedKeys.sorted()
        guard !changed.isEmpty else { return }
        var perTable: [Int64: Int64] = [:]
        for key in changed { perTable[key.table, default: 0] += 1 }
        // With more notices for one table, the first ones could be pruned before a reader sees them.
        let many = Set(perTable.filter { $0.value > VisibilityNotice.limit / 4 }.keys)
        for table in many.sorted() { try VisibilityNotice.append(table: table, .update, key: nil, to: db) }
        for key in changed where !many.contains(key.table) { try noteVisibility(key) }
        try VisibilityNotice.prune(db)
    }

    private func noteVisibility(_ key: TableKey) throws {
        let (before, after) = (held.before(key), try held[key])
        guard let image = after?.image ?? before?.image,
            let (context, table) = session.table(key.table, registry: registry)
        else { return }
        guard let values = table.key(of: image) else { return }
        let isVisible = try session.writer(of: context, table).select(key: values) != nil
        let operation: Journal.Operation
        switch (before.map { !$0.isShown } ?? false, isVisible) {
        case (true, true): operation = .insert
        case (false, true): operation = .update
        // A row that is neither held nor visible was deleted, and the journal has that change.
        case (false, false) where after != nil: operation = .delete
        default: return
        }
        var keyImage = RowImage()
        for (column, value) in zip(table.stored, values) { keyImage.columns[column.name] = value }
        try VisibilityNotice.append(table: key.table, operation, key: keyImage, to: db)
    }
}
