import Journal

extension RowStore {
    /// Makes the tables show what the merged state and the constraints say. This is the last step of a
    /// transaction.
    ///
    /// - Parameter all: True to evaluate every held row, because the schema or merged rows of whole tables
    ///   may have changed; false to evaluate the rows of tables that this transaction has touched.
    func updateVisibility(all: Bool) throws {
        var groups = touchedGroups
        if !all {
            for key in held.changedKeys {
                if let (_, table) = session.table(key.table, registry: registry) {
                    groups.insert(session.foreignKeys.group(of: table.name))
                }
            }
            for row in unchecked.values { groups.insert(session.foreignKeys.group(of: row.table.name)) }
            for (key, _) in removedParents { groups.insert(session.foreignKeys.group(of: key.parent)) }
        }
        if all || !groups.isEmpty {
            try VisibleRows(self).run { all || groups.contains(self.session.foreignKeys.group(of: $0.name)) }
            try complete(all ? held.rows(of: held.tables).map(\.key) : held.changedKeys)
        }
        try noteVisibility()
        try checkInvariants()
        try held.write()
        if all || held.wereEmpty { try session.noteEvaluation() }
    }

    /// Gives held rows the defaults of columns that were added to their tables, as the tables will show them
    /// when the rows return. So `_journal_held` is the same on a machine that held the row before the
    /// migration and on one that held it afterwards.
    private func complete(_ keys: [TableKey]) throws {
        for key in keys {
            guard var row = try held[key], !row.isShown, row.reason != .incomplete,
                let (context, table) = session.table(key.table, registry: registry)
            else { continue }
            for (column, value) in zip(table.stored, try session.defaults(of: context, table))
            where row.image.columns[column.name] == nil { row.image.columns[column.name] = value }
            if let values = table.key(of: row.image) {
                row.image = try completed(
                    row.image, of: RowID(key: key, context: context, table: table, values: values))
            }
            try held.hold(key, row)
        }
    }

    /// Gives the image of a row the computed defaults that it lacks, because its table got the columns while
    /// it was held. The journal says to which insert they belong.
    func completed(_ image: RowImage, of row: RowID) throws -> RowImage {
        guard let defaults = try session.computedDefaults(of: row.context) else { return image }
        var missing = defaults.columns
        for (index, column) in row.table.stored.enumerated() where image.columns[column.name] != nil {
            missing.remove(index)
        }
        guard !missing.isEmpty,
            let merged = try session.mergedRows(of: [row.key.table], among: [row.key], in: db)[row.key],
            let insert = merged.insertOrder
        else { return image }
        var whole = image
        for (index, value) in defaults.values(of: missing, for: insert) {
            whole.columns[row.table.stored[index].name] = value
        }
        return whole
    }
}
