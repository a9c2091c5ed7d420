import Foundation
import GRDB
import Journal

/// What a snapshot of the file tells of local changes. Nothing here writes or takes the write lock, so a
/// program that writes notices nothing of it.
extension LocalRows {
    /// True when local changes in `range` left a row that has to be held. ``db`` is the merge connection.
    func hasViolation(in range: ClosedRange<Int64>) throws -> Bool {
        let rows = try RowStore(db, session: session, registry: registry)
        var isRefused = false
        try note(in: range, rows: rows) { row in
            guard !isRefused, let trial = try session.trial(of: row.context, row.table) else {
                isRefused = true
                return true
            }
            let visible = try session.writer(of: row.context, row.table).select(key: row.values)
            isRefused = try visible.map { try trial.refuses($0, keyCount: row.table.keyCount) } ?? false
            return isRefused
        }
        return try isRefused || rows.hasOrphans()
    }

    /// The tables whose local changes in `range` may have freed a held row, or have overwritten one. ``db``
    /// may be any connection of the file.
    ///
    /// A row returns when its parent is inserted, or the row with its UNIQUE value goes or changes. When its
    /// parent goes, it is held for another reason. Other changes beside it do not matter.
    func tablesFreeingHeldRows(in range: ClosedRange<Int64>) throws -> Set<Int64> {
        let held = try heldReasons()
        guard !held.isEmpty else { return [] }
        let shapes = try shapes(in: range).compactMap { registry[$0] }
        guard !shapes.isEmpty else { return [] }
        var parents: [String: [ForeignKey]] = [:]
        for table in held.keys {
            guard let (context, _) = session.table(table, registry: registry) else { continue }
            for key in context.foreignKeys { parents[SQLText.foldedName(key.parent), default: []].append(key) }
        }
        var freeing: Set<Int64> = []
        for entry in shapes where !freeing.contains(entry.table) {
            guard let (context, table) = session.table(entry.table, registry: registry) else { continue }
            if try frees(
                entry, table, context, parentOf: parents[SQLText.foldedName(table.name)] ?? [],
                reasons: held[entry.table] ?? [], in: range)
            {
                freeing.insert(entry.table)
            }
        }
        return freeing
    }

    /// - Parameters:
    ///   - keys: The foreign keys of tables with held rows that refer to the entry's table.
    ///   - reasons: The reasons of the held rows of the entry's table.
    private func frees(
        _ entry: ShapeRegistry.Entry, _ table: TableInspection, _ context: TableContext, parentOf keys: [ForeignKey],
        reasons: Set<HoldReason>, in range: ClosedRange<Int64>
    ) throws -> Bool {
        if !keys.isEmpty {
            for operation in [Journal.Operation.insert, .delete] {
                if try hasEntries(of: entry, operation: operation, in: range) { return true }
            }
            for key in keys where !key.refersToPrimaryKey(of: table) {
                if try hasUpdates(of: key.parentColumns, of: entry, in: range) { return true }
            }
        }
        guard !reasons.isEmpty else { return false }
        if reasons.contains(where: \.dependsOnRowsOfTable) {
            // REPLACE writes an insert in place of an update.
            for operation in [Journal.Operation.insert, .update, .delete] {
                if try hasEntries(of: entry, operation: operation, in: range) { return true }
            }
        }
        var isHeld = false
        try forEachRow(of: entry, in: range) { _, values in
            guard !isHeld else { return }
            isHeld = try isRowHeld(TableKey(table: entry.table, key: Key(values, collations: context.collations)))
        }
        return isHeld
    }

    /// The reasons of the held rows, by table.
    private func heldReasons() throws -> [Int64: Set<HoldReason>] {
        try HeldRows.tables(db).reduce(into: [:]) { held, kind in
            for table in kind.value { held[table, default: []].insert(kind.key) }
        }
    }

    private func hasEntries(
        of entry: ShapeRegistry.Entry, operation: Journal.Operation, in range: ClosedRange<Int64>
    ) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM _journal WHERE seq BETWEEN ? AND ? AND origin IS NULL AND shape = ?
                      AND op = ?)
                    """),
            arguments: [range.lowerBound, range.upperBound, entry.id, operation.rawValue]) ?? false
    }

    private func isRowHeld(_ key: TableKey) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM _journal_held WHERE tbl = ? AND key = ?)"),
            arguments: [key.table, Data(key.key.bytes)]) ?? false
    }
}

extension HoldReason {
    /// True when a row of the same table can be in the way. A missing parent is a matter of another table, or
    /// of an insert.
    fileprivate var dependsOnRowsOfTable: Bool { dependsOnOthers && self != .foreignKey }
}

extension RowStore {
    /// True when one of the noted rows lacks a parent.
    fileprivate func hasOrphans() throws -> Bool {
        for row in unchecked.values where try isOrphan(row) { return true }
        for (key, values) in removedParents where try !session.foreignKeys.parentExists(key, values: values) {
            guard let context = session.context(ofTable: key.child, registry: registry), let table = context.inspection
            else { continue }
            for child in try session.foreignKeys.children(of: key, table: table, values: values) {
                let tableKey = TableKey(table: context.tableID, key: Key(child, collations: context.collations))
                if try isOrphan(RowID(key: tableKey, context: context, table: table, values: child)) { return true }
            }
        }
        return false
    }

    private func isOrphan(_ row: RowID) throws -> Bool {
        guard let values = try session.writer(of: row.context, row.table).select(key: row.values) else { return false }
        return try row.context.foreignKeys.contains { key in
            guard let reference = try session.foreignKeys.reference(key, row: { values[$0] }) else { return false }
            return try !session.foreignKeys.parentExists(key, values: reference)
        }
    }
}
