import Journal

extension VisibleRows {
    /// Holds visible rows until none lacks a hard parent. Each round only removes rows, so it ends.
    func setAsideOrphans() throws {
        while !store.unchecked.isEmpty || !store.removedParents.isEmpty {
            let rows = store.unchecked.values
            store.unchecked = [:]
            for row in rows { try setAsideIfOrphan(row) }
            let removed = store.removedParents
            store.removedParents = []
            for (key, values) in removed where try !foreignKeys.parentExists(key, values: values) {
                for child in try children(of: key, values: values) { try setAsideIfOrphan(child) }
            }
        }
    }

    private func setAsideIfOrphan(_ row: RowStore.RowID) throws {
        guard let values = try store.session.writer(of: row.context, row.table).select(key: row.values) else { return }
        let image = RowImage(values, of: row.table)
        for key in row.context.foreignKeys {
            guard let reference = try foreignKeys.reference(key, row: { image[row.table, $0] }),
                try !foreignKeys.parentExists(key, values: reference)
            else { continue }
            if try isSatisfied(softly: key) {
                softRows[row.key] = row
            } else {
                let whole = try store.setAside(row)?.image ?? image
                try store.remove(row)
                try store.held.hold(
                    row.key, HeldRow(reason: .foreignKey, detail: detail(of: key), image: whole))
                return
            }
        }
    }
}
