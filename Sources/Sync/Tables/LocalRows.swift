import GRDB
import GRDBSQLite
import Journal

/// Finds rows that local programs wrote in violation of constraints: rows without a parent, written while
/// `PRAGMA foreign_keys` was off, and rows that break a CHECK, written under `PRAGMA
/// ignore_check_constraints`.
///
/// Other replicas hold such rows, so they are held here too (decision 0008). Only rows that new journal
/// entries name are checked, and only in tables that have such constraints.
struct LocalRows {
    let db: Database
    let session: ApplySession
    let registry: ShapeRegistry

    /// The position up to which local entries have been checked, as recorded in the file.
    static func checkedSeq(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT checked_seq FROM _journal_replica") ?? 0
    }

    static func setCheckedSeq(_ seq: Int64, _ db: Database) throws {
        try db.execute(sql: "UPDATE _journal_replica SET checked_seq = ?", arguments: [seq])
    }

    /// True when local changes in `range` touch tables that have constraints. ``db`` may be any connection of
    /// the file.
    func isDue(in range: ClosedRange<Int64>) throws -> Bool { try !constrainedShapes(in: range).isEmpty }

    /// Notes the rows that may lack a parent for ``RowStore/updateVisibility(all:)``.
    ///
    /// - Parameter refuses: Called for each row of a table with CHECK constraints; true when the row breaks
    ///   one, and needs no parent.
    func note(
        in range: ClosedRange<Int64>, rows: RowStore, refuses: (RowStore.RowID) throws -> Bool
    ) throws {
        var searched: [Int: ForeignKey] = [:]
        var removed: [Int: (key: ForeignKey, values: [[Value]])] = [:]
        for shape in try constrainedShapes(in: range) {
            guard let entry = registry[shape], let (context, table) = session.table(entry.table, registry: registry)
            else { continue }
            // An update never changes a primary key: that is journalled as a delete and an insert.
            for key in context.references where !key.refersToPrimaryKey(of: table) {
                if try hasUpdates(of: key.parentColumns, of: entry, in: range) { searched[key.id] = key }
            }
            let hasCheck = session.hasCheck(table)
            // Rows that are only referred to break nothing while they are there.
            let isParentOnly = !hasCheck && context.foreignKeys.isEmpty
            try forEachRow(of: entry, in: range, onlyDeletes: isParentOnly) { operation, values in
                guard context.translation(of: entry).hasSameKey else { return }
                guard operation == .delete else {
                    let key = TableKey(
                        table: entry.table, key: Key(values, collations: context.collations))
                    let row = RowStore.RowID(key: key, context: context, table: table, values: values)
                    if hasCheck, try refuses(row) { return }
                    if !context.foreignKeys.isEmpty { rows.unchecked[key] = row }
                    return
                }
                for key in context.references {
                    // Of a row that was deleted, the journal has only the primary key.
                    guard key.refersToPrimaryKey(of: table) else {
                        searched[key.id] = key
                        continue
                    }
                    removed[key.id, default: (key, [])].values.append(order(values, key, table))
                }
            }
        }
        for (id, parents) in removed.sorted(by: { $0.key < $1.key }) where searched[id] == nil {
            // One walk through the children is cheaper than a search for each of many parents.
            if parents.values.count > LocalRows.mostSearches {
                searched[id] = parents.key
            } else {
                rows.removedParents += parents.values.map { (parents.key, $0) }
            }
        }
        for (_, key) in searched.sorted(by: { $0.key < $1.key }) {
            guard let context = session.context(ofTable: key.child, registry: registry), let table = context.inspection
            else { continue }
            try rows.noteOrphans(of: key, context: context, table: table)
        }
    }

    private static let mostSearches = 64

    private func order(_ values: [Value], _ key: ForeignKey, _ table: TableInspection) -> [Value] {
        key.parentColumns.compactMap { name in
            table.stored.prefix(table.keyCount).firstIndex { SQLText.foldedName($0.name) == SQLText.foldedName(name) }
                .map { values[$0] }
        }
    }

    /// The shapes of local changes in `range` whose tables have constraints.
    private func constrainedShapes(in range: ClosedRange<Int64>) throws -> [Int64] {
        try shapes(in: range).filter { shape in
            guard let entry = registry[shape], let (context, _) = session.table(entry.table, registry: registry)
            else { return false }
            return session.hasRowConstraints(context)
        }
    }

    /// The shapes of local changes in `range`, in ascending order.
    func shapes(in range: ClosedRange<Int64>) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: "SELECT DISTINCT shape FROM _journal WHERE seq BETWEEN ? AND ? AND origin IS NULL ORDER BY shape"),
            arguments: [range.lowerBound, range.upperBound])
    }

    /// True when local updates in `range` have set one of the columns.
    func hasUpdates(
        of columns: [String], of entry: ShapeRegistry.Entry, in range: ClosedRange<Int64>
    ) throws -> Bool {
        let wanted = Set(columns.map(SQLText.foldedName))
        let conditions = entry.shape.columns.enumerated().filter { wanted.contains(SQLText.foldedName($1)) }
            .map { column, _ in
                let (word, bit) = column.quotientAndRemainder(dividingBy: ColumnMask.bitsPerWord)
                return "\(JournalSchema.maskColumn(word)) >> \(bit) & 1"
            }
        guard !conditions.isEmpty else { return false }
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM _journal WHERE seq BETWEEN ? AND ? AND origin IS NULL AND shape = ?
                  AND op = 2 AND (\(conditions.joined(separator: " OR "))))
                """, arguments: [range.lowerBound, range.upperBound, entry.id]) ?? false
    }

    /// Calls `body` once for each pair of an operation and a key.
    func forEachRow(
        of entry: ShapeRegistry.Entry, in range: ClosedRange<Int64>, onlyDeletes: Bool = false,
        _ body: (Journal.Operation, [Value]) throws -> Void
    ) throws {
        let keys = (0..<entry.shape.keyCount).map { "v\($0)" }.joined(separator: ", ")
        let statement = try RawStatement(
            db,
            """
            SELECT op, max(seq), \(keys) FROM _journal WHERE seq BETWEEN ? AND ? AND origin IS NULL AND shape = ?
              \(onlyDeletes ? "AND op = 3" : "")
            GROUP BY op, \(keys)
            """)
        try statement.bind(range.lowerBound, at: 1)
        try statement.bind(range.upperBound, at: 2)
        try statement.bind(entry.id, at: 3)
        while try statement.step() {
            guard let operation = Operation(rawValue: statement.int64(0)) else { continue }
            try body(operation, (0..<entry.shape.keyCount).map { statement.column(2 + Int32($0)) })
        }
    }
}

extension ForeignKey {
    /// True when the key's parent columns are the primary key of `parent`, in any order.
    func refersToPrimaryKey(of parent: TableInspection) -> Bool {
        Set(parentColumns.map(SQLText.foldedName))
            == Set(parent.stored.prefix(parent.keyCount).map { SQLText.foldedName($0.name) })
    }
}

extension RowStore {
    /// Holds a visible row that its table would refuse if it were inserted now.
    ///
    /// - Returns: False when there is no such row, or nothing is wrong with it.
    func holdIfRefused(_ row: RowID) throws -> Bool {
        let writer = session.writer(of: row.context, row.table)
        guard let visible = try writer.select(key: row.values) else { return false }
        // SQLite evaluates CHECK constraints and column types before it finds that the key is taken, which it
        // always is here (https://sqlite.org/lang_createtable.html, section 3.7).
        let code = try writer.insert(ColumnMask(all: row.table.stored.count), values: visible[...])
        guard code != SQLITE_DONE, HoldReason(code) != .unique else { return false }
        let image = try setAside(row)?.image ?? RowImage(visible, of: row.table)
        let detail = db.lastErrorMessage ?? "refused by a constraint"
        try remove(row)
        try held.hold(row.key, HeldRow(reason: .init(code), detail: detail, image: image))
        return true
    }
}
