import GRDB
import GRDBSQLite
import Journal

/// Writes merged rows to their tables, and holds the rows that a constraint refuses.
///
/// A row of the merged state is in its table, or in `_journal_held`, or, with a substitute for a missing
/// parent, in both. A row in neither is dead, or belongs to a table that is not in this file. While changes
/// are applied, a row may be held temporarily; ``updateVisibility(all:)`` decides at the end of the
/// transaction what the tables show. See ``VisibleRows``, the other part of this mechanism.
///
/// Invariants at the end of a transaction, checked in debug builds for the held rows that it changed:
/// 1. A held row is in its table when it shows substitutes (``HeldRow/isShown``), and only then.
/// 2. Only a row without a parent shows substitutes: its reason is ``HoldReason/foreignKey``.
/// 3. The image of a held row contains the values of its key.
/// 4. ``unchecked`` and ``removedParents`` are empty: every foreign key that the transaction could break has
///    been checked.
final class RowStore {
    /// A row of a table, named by its key as this file spells it.
    struct RowID {
        let key: TableKey
        let context: TableContext
        let table: TableInspection
        let values: [Value]
    }

    let db: Database
    let session: ApplySession
    let registry: ShapeRegistry
    let held: HeldRows
    /// Visible rows whose foreign keys have to be checked at the end of the transaction.
    var unchecked: [TableKey: RowID] = [:]
    /// Values that were removed and that rows of other tables may refer to.
    var removedParents: [(key: ForeignKey, values: [Value])] = []
    /// The groups of tables (``ForeignKeyMap/group(of:)``) whose held rows have to be evaluated, because this
    /// transaction changed rows beside them.
    var touchedGroups: Set<String> = []
    /// What ``isBesideHeldRows(_:)`` has found, by table, while rows of so many tables were held.
    private var besideHeldRows: (tables: Int, answers: [Int64: Bool]) = (0, [:])

    init(_ db: Database, session: ApplySession, registry: ShapeRegistry) throws {
        self.db = db
        self.session = session
        self.registry = registry
        held = try HeldRows(db)
    }

    // MARK: - Applying what merging decided

    /// The row that a change names.
    ///
    /// - Returns: nil when the table is not in this file, has another primary key, or would convert this key
    ///   to another one.
    func id(of key: TableKey, entry: ShapeRegistry.Entry, values: ArraySlice<Value>) -> RowID? {
        let context = session.context(of: entry)
        guard let table = context.inspection, context.translation(of: entry).hasSameKey,
            context.keeps(values.prefix(entry.shape.keyCount))
        else { return nil }
        return RowID(key: key, context: context, table: table, values: Array(values.prefix(entry.shape.keyCount)))
    }

    /// Brings a row to what merging decided about a change.
    ///
    /// - Parameters:
    ///   - isLatest: False when a change of the row that is here is later.
    ///   - defaults: Values that belong to the change although it does not carry them.
    func apply(
        _ effect: Merge.Effect, of change: Change, isNewLife: Bool, isLatest: Bool, defaults: [Int: Value],
        key: TableKey, context: TableContext, entry: ShapeRegistry.Entry, values: ArraySlice<Value>
    ) throws {
        guard let row = id(of: key, entry: entry, values: values) else {
            return try apply(
                effect, toMisfit: key, isNewLife: isNewLife, change, context: context, entry: entry, values: values)
        }
        if isBesideHeldRows(context) { touchedGroups.insert(session.foreignKeys.group(of: row.table.name)) }
        switch effect {
        case .none: return
        case .delete:
            try held.release(key)
            try remove(row)
        case .write(let columns):
            if isNewLife {
                // No value of an earlier life may remain.
                try held.release(key)
                try remove(row)
            }
            var (columns, image) = (columns, context.row(change, of: entry, values: values))
            for (column, value) in defaults {
                columns.insert(column)
                image[column] = value
            }
            try write(columns, isWhole: change.operation == .insert, isLatest: isLatest, row: row, image: image)
        }
    }

    /// True when rows are held of this table, or of one that foreign keys connect to it: a change here can
    /// change what they show.
    func isBesideHeldRows(_ context: TableContext) -> Bool {
        guard !held.tables.isEmpty else { return false }
        if besideHeldRows.tables != held.tables.count { besideHeldRows = (held.tables.count, [:]) }
        if let known = besideHeldRows.answers[context.tableID] { return known }
        let answer =
            held.tables.contains(context.tableID)
            || context.inspection.map { groups(of: held.tables).contains(session.foreignKeys.group(of: $0.name)) }
                ?? false
        besideHeldRows.answers[context.tableID] = answer
        return answer
    }

    /// The groups of those of the tables that are in this file.
    func groups(of tables: Set<Int64>) -> Set<String> {
        Set(
            tables.compactMap { id in
                session.table(id, registry: registry).map { session.foreignKeys.group(of: $0.table.name) }
            })
    }

    /// Merges a change into a row that cannot be shown, because the local table would convert its key to
    /// another one.
    func apply(
        _ effect: Merge.Effect, toMisfit key: TableKey, isNewLife: Bool, _ change: Change,
        context: TableContext, entry: ShapeRegistry.Entry, values: ArraySlice<Value>
    ) throws {
        guard let table = context.inspection, context.translation(of: entry).hasSameKey else { return }
        switch effect {
        case .none: return
        case .delete: try held.release(key)
        case .write(let columns):
            var image = try isNewLife ? RowImage() : held[key]?.image ?? RowImage()
            let keys = Array(values.prefix(entry.shape.keyCount))
            image.overlay(
                row: RowID(key: key, context: context, table: table, values: keys), columns: columns,
                of: context.row(change, of: entry, values: values))
            try held.hold(
                key, HeldRow(reason: .key, detail: "the local table converts its key to another one", image: image))
        }
    }

    /// Shows held rows whose keys the table can store since a migration.
    ///
    /// - Returns: The rows of tables with a policy. The policy has to merge them again, because changes that
    ///   arrived while they were held were merged by the column.
    func showFittingKeys() throws -> [RowID] {
        var contested: [RowID] = []
        for (key, row) in try held.rows(for: .key) {
            guard let (context, table) = session.table(key.table, registry: registry) else { continue }
            guard let values = table.key(of: row.image), context.keeps(values[...]) else { continue }
            try held.release(key)
            let fitting = RowID(key: key, context: context, table: table, values: values)
            try show(fitting, row.image)
            if !context.mergesByColumn { contested.append(fitting) }
        }
        return contested
    }

    /// Writes the winning columns to the row, visible or held.
    ///
    /// - Parameters:
    ///   - isWhole: True when the merged changes include an insert of the row's life. Only then may the row be
    ///     shown.
    ///   - isLatest: False when a later change of the row is here. Before its insert arrives, a row has its
    ///     key as the latest change spells it, as in ``MergedRow``.
    func write(_ columns: ColumnMask, isWhole: Bool, isLatest: Bool = true, row: RowID, image: [Value?]) throws {
        if let before = try setAside(row) {
            var merged = before.image
            merged.overlay(row: row, columns: columns, of: image)
            if before.reason == .incomplete, !isWhole, isLatest {
                for (column, value) in row.values.enumerated() {
                    merged.columns[row.table.stored[column].name] = value
                }
            }
            if before.reason == .policy || (before.reason == .incomplete && !isWhole) {
                try held.hold(row.key, HeldRow(reason: before.reason, detail: before.detail, image: merged))
            } else {
                try show(row, merged)
            }
            return
        }
        if try update(columns, row: row, image: image) { return }
        var merged = RowImage()
        merged.overlay(row: row, columns: columns, of: image)
        if isWhole {
            try show(row, merged)
        } else {
            let detail = "the insert of the row has not arrived"
            try held.hold(row.key, HeldRow(reason: .incomplete, detail: detail, image: merged))
        }
    }

    /// Takes a row out of its table if the table shows it with a substitute, so that it is only held.
    ///
    /// - Returns: The held row with all its merged values; nil when nothing is held of the row. What was held
    ///   is dropped when a local writer inserted the same key again, or changed or deleted the row that was
    ///   shown: that writer had seen it.
    func setAside(_ row: RowID) throws -> HeldRow? {
        guard var before = try held[row.key] else { return nil }
        let visible = try session.writer(of: row.context, row.table).select(key: row.values)
        guard before.isShown else {
            guard visible != nil else { return before }
            try held.release(row.key)
            return nil
        }
        guard let visible, try showsSubstitutes(row, visible, before.image) else {
            try held.release(row.key)
            return nil
        }
        var whole = visible
        for column in row.table.keyCount..<whole.count {
            whole[column] = before.image[row.table, column] ?? whole[column]
        }
        before.image = RowImage(whole, of: row.table)
        before.isShown = false
        try remove(row)
        try held.hold(row.key, before)
        return before
    }

    /// Updates a visible row.
    ///
    /// - Returns: False when there is no visible row.
    private func update(_ columns: ColumnMask, row: RowID, image: [Value?]) throws -> Bool {
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
        var merged = RowImage(refused, of: row.table)
        merged.overlay(row: row, columns: columns, of: image)
        try remove(row)
        try hold(row, merged, code)
        return true
    }

    // MARK: - Rows in the table

    /// Inserts a complete row, or holds it until the end of the transaction.
    func show(_ row: RowID, _ image: RowImage) throws {
        let code = try insert(row, image)
        if code == SQLITE_DONE {
            try held.release(row.key)
            if !row.context.foreignKeys.isEmpty {
                try noteIfOrphan(row.table, context: row.context, keys: row.values[...]) { image[row.table, $0] }
            }
        } else {
            try hold(row, image, code)
        }
    }

    /// Inserts a row.
    ///
    /// - Returns: The result code; `SQLITE_DONE` when the row was inserted.
    func insert(_ row: RowID, _ image: RowImage) throws -> Int32 {
        let image = try completed(image, of: row)
        var mask = ColumnMask()
        var values: [Value] = []
        for (index, column) in row.table.stored.enumerated() {
            guard let value = image.columns[column.name] else { continue }
            mask.insert(index)
            values.append(value)
        }
        return try session.writer(of: row.context, row.table).insert(mask, values: values[...])
    }

    private func hold(_ row: RowID, _ image: RowImage, _ code: Int32) throws {
        try held.hold(
            row.key,
            HeldRow(reason: .init(code), detail: db.lastErrorMessage ?? "refused by a constraint", image: image))
    }

    /// Deletes a visible row from its table, and notes the values that other rows may have referred to.
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

    func parentValues(_ key: ForeignKey, table: TableInspection, row: [Value]) -> [Value]? {
        let values = key.parentColumns.compactMap { name in
            table.stored.firstIndex { SQLText.foldedName($0.name) == SQLText.foldedName(name) }.map { row[$0] }
        }
        return values.count == key.parentColumns.count && !values.contains(.null) ? values : nil
    }

    /// Notes a row that has just become visible if one of its parents is missing. The parent may still arrive
    /// in this transaction.
    func noteIfOrphan(
        _ table: TableInspection, context: TableContext, keys: ArraySlice<Value>, row: (Int) -> Value?
    ) throws {
        for foreignKey in context.foreignKeys {
            guard let values = try session.foreignKeys.reference(foreignKey, row: row),
                try !session.foreignKeys.parentExists(foreignKey, values: values)
            else { continue }
            let key = TableKey(
                table: context.tableID, key: Key(keys, collations: context.collations))
            unchecked[key] = RowID(key: key, context: context, table: table, values: Array(keys))
            return
        }
    }

    /// True when a visible row still shows the substitutes of the columns whose merged values are in `image`.
    func showsSubstitutes(_ row: RowID, _ visible: [Value], _ image: RowImage) throws -> Bool {
        for key in row.context.foreignKeys {
            guard case .values(let substitutes) = key.substitute,
                key.childColumns.allSatisfy({ image[row.table, $0] != nil })
            else { continue }
            if zip(key.childColumns, substitutes).contains(where: { visible[$0] != $1 }) { return false }
        }
        return true
    }
}

extension HoldReason {
    /// SQLITE_CONSTRAINT_DATATYPE, of STRICT tables: https://sqlite.org/rescode.html#constraint_datatype
    private static let wrongDatatype = ResultCode(rawValue: SQLITE_CONSTRAINT | 12 << 8)

    /// - Parameter code: The extended result code with which SQLite refused a row.
    init(_ code: Int32) {
        switch ResultCode(rawValue: code) {
        case .SQLITE_CONSTRAINT_NOTNULL: self = .notNull
        case .SQLITE_CONSTRAINT_CHECK, .SQLITE_CONSTRAINT_TRIGGER: self = .check
        case HoldReason.wrongDatatype, .SQLITE_MISMATCH: self = .datatype
        default: self = .unique
        }
    }
}

extension RowImage {
    /// Sets the columns of `mask` that the local table has. Also sets the key columns of `row` that the image
    /// lacks: a row keeps the spelling of its key until a change sets it.
    mutating func overlay(row: RowStore.RowID, columns mask: ColumnMask, of image: [Value?]) {
        for (column, value) in row.values.enumerated() where columns[row.table.stored[column].name] == nil {
            columns[row.table.stored[column].name] = value
        }
        mask.forEach { column in
            if column < row.table.stored.count, let value = image[column] {
                columns[row.table.stored[column].name] = value
            }
        }
    }
}
