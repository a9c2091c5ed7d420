import GRDBSQLite
import Journal

extension VisibleRows {
    /// Gives shown rows substitutes for soft parents that are not shown, and their merged values for parents
    /// that are shown.
    ///
    /// - Returns: False when a row was taken out and the evaluation has to start over: a constraint refuses
    ///   the row with its substitute, and its keys are hard from then on, or the substitute refers to a row
    ///   that is not shown.
    func substitute() throws -> Bool {
        for row in softRows.values.sorted(by: { $0.key < $1.key }) {
            let writer = store.session.writer(of: row.context, row.table)
            guard let visible = try writer.select(key: row.values) else { continue }
            var merged = visible
            if let held = try store.held[row.key] {
                guard held.isShown, try store.showsSubstitutes(row, visible, held.image) else {
                    if held.isShown { try store.held.release(row.key) }
                    continue
                }
                for column in row.table.keyCount..<merged.count {
                    merged[column] = held.image[row.table, column] ?? merged[column]
                }
            }
            var target = merged
            var substituted = RowImage()
            var detail = ""
            for key in row.context.foreignKeys {
                guard case .values(let substitutes) = key.substitute,
                    let values = try foreignKeys.reference(key, row: { merged[$0] }),
                    try !foreignKeys.parentExists(key, values: values)
                else { continue }
                // The evaluation may have taken out the row that the substitute refers to.
                if involved[row.key] == nil, try !isSatisfied(softly: key) {
                    try startOver(with: row, merged: merged)
                    return false
                }
                for (column, value) in zip(key.childColumns, substitutes) {
                    target[column] = value
                    substituted.columns[row.table.stored[column].name] = merged[column]
                }
                detail = self.detail(of: key)
            }
            if try !write(target, over: visible, of: row) {
                try startOver(with: row, merged: merged)
                involved[row.key]?.isHardened = true
                return false
            }
            if substituted.columns.isEmpty {
                try store.held.release(row.key)
            } else {
                for column in 0..<row.table.keyCount {
                    substituted.columns[row.table.stored[column].name] = visible[column]
                }
                try store.held.hold(
                    row.key, HeldRow(reason: .foreignKey, detail: detail, image: substituted, isShown: true))
            }
        }
        return true
    }

    /// Updates the columns in which `target` differs from the visible row.
    ///
    /// - Returns: False when a constraint refuses the row.
    private func write(_ target: [Value], over visible: [Value], of row: RowStore.RowID) throws -> Bool {
        var mask = ColumnMask()
        var values: [Value] = []
        for (column, value) in target.enumerated() where value != visible[column] {
            mask.insert(column)
            values.append(value)
        }
        guard !mask.isEmpty else { return true }
        let writer = store.session.writer(of: row.context, row.table)
        return try writer.update(mask, values: values, key: row.values).code == SQLITE_DONE
    }

    /// Takes a row out of its table because it cannot be stored with the present substitutes, and undoes the
    /// evaluation that counted on it.
    private func startOver(with row: RowStore.RowID, merged: [Value]) throws {
        for (key, member) in involved where shown.contains(key) {
            try takeOut([member])
            try store.held.release(key)
        }
        shown = []
        if involved[row.key] == nil {
            _ = try store.session.writer(of: row.context, row.table).delete(key: row.values)
            try store.held.release(row.key)
            involved[row.key] = Member(row: row, image: RowImage(merged, of: row.table))
        }
        softRows[row.key] = nil
    }
}
