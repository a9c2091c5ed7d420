import GRDB
import GRDBSQLite
import Journal

/// Puts merged rows into their tables, and sets aside those that a constraint refuses.
///
/// A row of the merged state is either visible in its table or in `_journal_held`, never in both. What is in neither is dead,
/// or belongs to a table that is not here.
final class RowStore {
    /// A row of a table by its key as this file spells it.
    struct RowID {
        let key: ConcurrentChanges.TableKey
        let context: TableContext
        let table: TableInspection
        let values: [Value]
    }

    /// The change that is being applied, for claims.
    struct Claim {
        let stamp: Stamp
        let origin: OriginID
    }

    let db: Database
    let session: ApplySession
    let registry: ShapeRegistry
    let held: HeldRows
    /// Visible rows whose foreign keys have to be looked at when the transaction is complete.
    var unchecked: [ConcurrentChanges.TableKey: RowID] = [:]
    /// Values that rows of other tables may refer to, and that are gone.
    var removedParents: [(key: ForeignKey, values: [Value])] = []
    /// The run that is being applied, to look up the claims of rows that clash with it.
    var run: Run?

    init(_ db: Database, session: ApplySession, registry: ShapeRegistry) throws {
        self.db = db
        self.session = session
        self.registry = registry
        held = try HeldRows(db)
    }

    // MARK: - Without competitors

    /// Applies an insert or update that competes with nothing, in a file in which nothing is held: one statement.
    func applyUncontested(
        _ change: Change, context: TableContext, entry: ShapeRegistry.Entry, values: ArraySlice<Value>, origin: OriginID
    ) throws {
        let translation = context.translation(of: entry)
        guard let table = context.inspection, translation.hasSameKey else { return }
        let isWhole = translation.isIdentity && entry.shape.columns.count <= context.storedCount
        let writer = session.writer(of: context, table)
        let keys = values.prefix(entry.shape.keyCount)
        if isWhole, change.operation == .insert, values.count == entry.shape.columns.count {
            if try writer.insert(change.mask, values: values) == SQLITE_DONE {
                if !context.foreignKeys.isEmpty {
                    try checkForeignKeys(table, context: context, keys: keys) { column in
                        column < values.count ? values[values.startIndex + column] : nil
                    }
                }
                return
            }
        } else if isWhole, change.operation == .update,
            context.foreignKeys.isEmpty, context.references.isEmpty
        {
            let (code, found) = try writer.update(change.mask, values: values.dropFirst(keys.count), key: keys)
            if code == SQLITE_DONE, found { return }
        }
        let key = ConcurrentChanges.TableKey(
            table: entry.table, key: Key(keys, collations: context.collations))
        try write(
            context.columns(change.mask, of: entry), of: change,
            row: RowID(key: key, context: context, table: table, values: Array(keys)),
            image: context.row(change, of: entry, values: values), claim: Claim(stamp: change.stamp, origin: origin))
    }

    // MARK: - With what merging decided

    func apply(
        _ effect: Resolution.Effect, of change: Change, isNewLife: Bool, key: ConcurrentChanges.TableKey,
        context: TableContext, entry: ShapeRegistry.Entry, values: ArraySlice<Value>, run: Run
    ) throws {
        self.run = run
        guard let table = context.inspection, context.translation(of: entry).hasSameKey else { return }
        let row = RowID(
            key: key, context: context, table: table, values: Array(values.prefix(entry.shape.keyCount)))
        switch effect {
        case .none: return
        case .delete:
            try held.release(key)
            try remove(row)
        case .write(let columns):
            if isNewLife {
                // Nothing of an earlier life may shine through.
                try held.release(key)
                try remove(row)
            }
            try write(
                columns, of: change, row: row, image: context.row(change, of: entry, values: values),
                claim: Claim(stamp: change.stamp, origin: run.origin))
        }
    }

    /// Writes the winning columns over whatever there is of the row.
    private func write(_ columns: ColumnMask, of change: Change, row: RowID, image: [Value?], claim: Claim) throws {
        if let before = held[row.key] {
            var merged = before.image
            for (column, value) in row.values.enumerated() { merged.columns[row.context.names[column]] = value }
            columns.forEach { column in merged.columns[row.context.names[column]] = image[column] }
            let isStillIncomplete = before.reason == .incomplete && change.operation != .insert
            if isStillIncomplete {
                try hold(row, merged, .incomplete, detail: before.detail, claim: claim)
            } else {
                try show(row, merged, claim: claim)
            }
            return
        }
        if try update(columns, row: row, image: image, claim: claim) { return }
        var merged = RowImage()
        for (column, value) in row.values.enumerated() { merged.columns[row.context.names[column]] = value }
        columns.forEach { column in merged.columns[row.context.names[column]] = image[column] }
        if change.operation == .insert {
            try show(row, merged, claim: claim)
        } else {
            try hold(row, merged, .incomplete, detail: "the insert of the row has not arrived", claim: claim)
        }
    }

    /// Updates a visible row.
    ///
    /// - Returns: False when there is no visible row.
    private func update(_ columns: ColumnMask, row: RowID, image: [Value?], claim: Claim) throws -> Bool {
        let writer = session.writer(of: row.context, row.table)
        var mask = ColumnMask()
        var values: [Value] = []
        columns.forEach { column in
            if column < row.context.storedCount, let value = image[column] {
                mask.insert(column)
                values.append(value)
            }
        }
        guard !mask.isEmpty else { return try writer.select(key: row.values) != nil }
        let movesParents = !mask.intersection(row.context.referencedColumns).isEmpty
        let before = movesParents ? try writer.select(key: row.values) : nil
        let (code, found) = try writer.update(mask, values: values, key: row.values)
        if code == SQLITE_DONE {
            guard found else { return false }
            if let before { noteChangedParents(row, before: before, mask: mask) }
            if !mask.intersection(row.context.childColumns).isEmpty { unchecked[row.key] = row }
            return true
        }
        guard let refused = try writer.select(key: row.values) else { return false }
        var merged = RowImage()
        for (column, value) in refused.enumerated() { merged.columns[row.context.names[column]] = value }
        columns.forEach { column in merged.columns[row.context.names[column]] = image[column] }
        try remove(row)
        try show(row, merged, claim: claim)
        return true
    }

    // MARK: - Rows in the table

    /// Inserts a complete row, or sets it aside with the reason for which it cannot be shown.
    func show(_ row: RowID, _ image: RowImage, claim: Claim) throws {
        let code = try insert(row, image)
        if code == SQLITE_DONE {
            try held.release(row.key)
            return
        }
        if reason(code) == .unique, try evictLaterClaims(than: claim, row: row, image: image),
            try insert(row, image) == SQLITE_DONE
        {
            try held.release(row.key)
            return
        }
        try hold(row, image, reason(code), detail: db.lastErrorMessage ?? "refused by a constraint", claim: claim)
    }

    private func insert(_ row: RowID, _ image: RowImage) throws -> Int32 {
        var mask = ColumnMask()
        var values: [Value] = []
        for (index, column) in row.table.stored.enumerated() {
            guard let value = image.columns[column.name] else { continue }
            mask.insert(index)
            values.append(value)
        }
        let code = try session.writer(of: row.context, row.table).insert(mask, values: values)
        if code == SQLITE_DONE, !row.context.foreignKeys.isEmpty {
            try checkForeignKeys(row.table, context: row.context, keys: row.values[...]) { column in
                image.columns[row.table.stored[column].name]
            }
        }
        return code
    }

    /// Takes a visible row out of its table, and notes what others may have referred to.
    func remove(_ row: RowID) throws {
        let writer = session.writer(of: row.context, row.table)
        unchecked[row.key] = nil
        guard !row.context.references.isEmpty else {
            _ = try writer.delete(key: row.values)
            return
        }
        guard let before = try writer.select(key: row.values) else { return }
        _ = try writer.delete(key: row.values)
        for key in row.context.references {
            if let values = parentValues(key, table: row.table, row: before) { removedParents.append((key, values)) }
        }
    }

    func hold(_ row: RowID, _ image: RowImage, _ reason: HoldReason, detail: String, claim: Claim) throws {
        try held.hold(
            row.key,
            HeldRow(reason: reason, detail: detail, stamp: claim.stamp, origin: claim.origin, image: image))
    }

    private func noteChangedParents(_ row: RowID, before: [Value], mask: ColumnMask) {
        for key in row.context.references {
            let touches = row.table.stored.indices.contains { index in
                mask.contains(index)
                    && key.parentColumns.contains {
                        SQLText.foldedName($0) == SQLText.foldedName(row.table.stored[index].name)
                    }
            }
            if touches, let old = parentValues(key, table: row.table, row: before) { removedParents.append((key, old)) }
        }
    }

    private func parentValues(_ key: ForeignKey, table: TableInspection, row: [Value]) -> [Value]? {
        let values = key.parentColumns.compactMap { name in
            table.stored.firstIndex { SQLText.foldedName($0.name) == SQLText.foldedName(name) }.map { row[$0] }
        }
        return values.count == key.parentColumns.count && !values.contains(.null) ? values : nil
    }

    /// Looks for the parents of a row that has just become visible; a missing one may still come in this transaction.
    private func checkForeignKeys(
        _ table: TableInspection, context: TableContext, keys: ArraySlice<Value>, row: (Int) -> Value?
    ) throws {
        guard try session.foreignKeys.violation(of: context.foreignKeys, row: row) != nil else { return }
        let key = ConcurrentChanges.TableKey(
            table: context.tableID, key: Key(keys, collations: context.collations))
        unchecked[key] = RowID(key: key, context: context, table: table, values: Array(keys))
    }

    /// SQLITE_CONSTRAINT_DATATYPE, of STRICT tables: https://sqlite.org/rescode.html#constraint_datatype
    private static let wrongDatatype = ResultCode(rawValue: SQLITE_CONSTRAINT | 12 << 8)

    private func reason(_ code: Int32) -> HoldReason {
        switch ResultCode(rawValue: code) {
        case .SQLITE_CONSTRAINT_NOTNULL: .notNull
        case .SQLITE_CONSTRAINT_CHECK: .check
        case RowStore.wrongDatatype, .SQLITE_MISMATCH: .datatype
        default: .unique
        }
    }
}
