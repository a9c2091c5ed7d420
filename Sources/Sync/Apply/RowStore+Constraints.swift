import GRDB
import GRDBSQLite
import Journal

/// DESIGN section 4.4: converge first, then show what the constraints allow.
extension RowStore {
    /// Makes every visible row keep its foreign keys, and shows every held row that can be shown again.
    ///
    /// Runs at the end of a transaction, because inside of one a child may come before its parent.
    func settle() throws {
        try setAsideOrphans()
        guard !held.isEmpty else { return }
        var isChanging = true
        while isChanging {
            isChanging = false
            for (key, row) in held.byClaim where row.reason != .incomplete {
                if try bringBack(key, row) { isChanging = true }
            }
            try setAsideOrphans()
        }
    }

    /// Sets rows aside until no visible row lacks a parent. Each round can only take rows away, so it ends.
    private func setAsideOrphans() throws {
        while !unchecked.isEmpty || !removedParents.isEmpty {
            let rows = unchecked.values
            unchecked = [:]
            for row in rows { try setAsideIfOrphan(row) }
            let removed = removedParents
            removedParents = []
            for (key, values) in removed where try !session.foreignKeys.parentExists(key, values: values) {
                guard let context = session.context(ofTable: key.child, registry: registry),
                    let table = context.inspection
                else { continue }
                for child in try session.foreignKeys.children(of: key, table: table, values: values) {
                    let tableKey = ConcurrentChanges.TableKey(
                        table: context.tableID, key: Key(child, collations: context.collations))
                    try setAsideIfOrphan(RowID(key: tableKey, context: context, table: table, values: child))
                }
            }
        }
    }

    private func setAsideIfOrphan(_ row: RowID) throws {
        guard let values = try session.writer(of: row.context, row.table).select(key: row.values),
            let key = try session.foreignKeys.violation(of: row.context.foreignKeys, row: { values[$0] })
        else { return }
        var image = RowImage()
        for (column, value) in values.enumerated() { image.columns[row.table.stored[column].name] = value }
        try remove(row)
        try hold(
            row, image, .foreignKey, detail: "no row of \(key.parent) for \(key.parentColumns.joined(separator: ", "))",
            claim: claim(of: row))
    }

    /// - Returns: True when the row is visible again.
    private func bringBack(_ key: ConcurrentChanges.TableKey, _ row: HeldRow) throws -> Bool {
        guard let entry = registry.entries.values.first(where: { $0.table == key.table && $0.isTracked }) else {
            return false
        }
        let context = session.context(of: entry)
        guard let table = context.inspection else { return false }
        let values = table.stored.prefix(table.keyCount).compactMap { row.image.columns[$0.name] }
        guard values.count == table.keyCount,
            try session.foreignKeys.violation(
                of: context.foreignKeys, row: { row.image.columns[table.stored[$0].name] }) == nil
        else { return false }
        let id = RowID(key: key, context: context, table: table, values: values)
        var mask = ColumnMask()
        var columns: [Value] = []
        for (index, column) in table.stored.enumerated() {
            guard let value = row.image.columns[column.name] else { continue }
            mask.insert(index)
            columns.append(value)
        }
        guard try session.writer(of: context, table).insert(mask, values: columns) == SQLITE_DONE else { return false }
        try held.release(id.key)
        return true
    }

    /// Sets aside the visible rows that hold a UNIQUE value of `image` by a later claim.
    ///
    /// A row without a change that the incoming writer had not seen was there before: its claim is the earlier one.
    ///
    /// - Returns: True when a row was set aside.
    func evictLaterClaims(than claim: Claim, row: RowID, image: RowImage) throws -> Bool {
        var hasEvicted = false
        for index in try session.uniqueIndexes(of: row.context, row.table) {
            let columns = index.terms.compactMap(\.column)
            guard columns.count == index.terms.count else { continue }
            for other in try rows(of: row, holding: columns, index: index, image: image) {
                let rival = self.claim(of: other, on: columns)
                guard (rival.stamp, rival.origin) > (claim.stamp, claim.origin),
                    let values = try session.writer(of: other.context, other.table).select(key: other.values)
                else { continue }
                var rivalImage = RowImage()
                for (column, value) in values.enumerated() {
                    rivalImage.columns[other.table.stored[column].name] = value
                }
                try remove(other)
                try hold(
                    other, rivalImage, .unique,
                    detail: "\(columns.joined(separator: ", ")) is taken by an earlier claim",
                    claim: rival)
                hasEvicted = true
            }
        }
        return hasEvicted
    }

    private func rows(of row: RowID, holding columns: [String], index: UniqueIndex, image: RowImage) throws -> [RowID] {
        let values = columns.compactMap { image.columns[$0] }
        guard values.count == columns.count, !values.contains(.null) else { return [] }
        let keys = row.table.stored.prefix(row.table.keyCount).map { SQLText.quote(identifier: $0.name) }
        let conditions = zip(columns, index.terms).map { column, term in
            "\(SQLText.quote(identifier: column)) = ? COLLATE \(SQLText.quote(identifier: term.collation))"
        }
        let partial = index.condition.map { ["(\($0))"] } ?? []
        let statement = try RawStatement(
            db,
            "SELECT \(keys.joined(separator: ", ")) FROM \(SQLText.quote(identifier: row.table.name)) "
                + "WHERE \((conditions + partial).joined(separator: " AND "))")
        for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
        var found: [RowID] = []
        while try statement.step() {
            let values = keys.indices.map { statement.column(Int32($0)) }
            let key = ConcurrentChanges.TableKey(
                table: row.key.table, key: Key(values, collations: row.context.collations))
            if key != row.key { found.append(RowID(key: key, context: row.context, table: row.table, values: values)) }
        }
        return found
    }

    /// The latest change of a row that the running run's writer had not seen, of those that touch `columns`.
    private func claim(of row: RowID, on columns: [String]? = nil) -> Claim {
        // Before every real claim: no origin id is smaller.
        let none = Claim(stamp: .zero, origin: OriginID(high: 0, low: 1))
        guard let run else { return none }
        let folded = columns.map { Set($0.map(SQLText.foldedName)) }
        let changes = session.concurrent.competitors(table: row.key.table, key: row.key.key, run: run).filter {
            change in
            guard let folded else { return true }
            var touches = false
            change.mask.forEach { column in
                if folded.contains(SQLText.foldedName(change.shape.shape.columns[column])) { touches = true }
            }
            return touches
        }
        return changes.map { Claim(stamp: $0.stamp, origin: $0.origin) }
            .max { ($0.stamp, $0.origin) < ($1.stamp, $1.origin) } ?? none
    }
}
