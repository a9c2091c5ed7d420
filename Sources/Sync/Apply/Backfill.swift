import GRDB
import Journal

/// Makes rows show what the journal already holds of tables and columns that a migration has added here.
///
/// Changes of unknown tables and columns are kept in the journal and passed on like all others. When the
/// schema gains such a table or column, the merged state of its rows is read from the journal once and the
/// rows get the missing values. No exchange is needed.
struct Backfill {
    let db: Database
    let session: ApplySession
    /// The functions of tables with the policy ``MergePolicy/custom(_:)``; only ``run()`` uses them.
    var functions = ConflictFunctions()

    /// The columns of a shape that rows here can show: none when there is no such table, or one with another
    /// primary key.
    static func visible(_ entry: ShapeRegistry.Entry, session: ApplySession) -> [String] {
        let context = session.context(of: entry)
        let translation = context.translation(of: entry)
        guard translation.hasSameKey else { return [] }
        return zip(entry.shape.columns, translation.positions).filter { $1 < context.storedCount }.map(\.0)
    }

    /// The tables whose journal entries hold columns that rows here could show but do not show yet.
    static func due(_ registry: ShapeRegistry, session: ApplySession) -> Set<Int64> {
        Set(
            registry.entries.values.filter { entry in
                guard let shown = entry.shownColumns else { return false }
                let columns = visible(entry, session: session)
                guard shown.contains(ShapeRegistry.Entry.isDueMark) else {
                    return !Set(columns).isSubset(of: shown)
                }
                return !columns.isEmpty
            }.map(\.table))
    }

    /// Brings rows up to date with the journal, and records for each shape the columns that rows show.
    ///
    /// Call it when the schema may have changed, inside a transaction of the merge connection, before changes
    /// are applied.
    func run() throws {
        var registry = try ShapeRegistry(db)
        let due = Backfill.due(registry, session: session)
        for (id, entry) in registry.entries.sorted(by: { $0.key < $1.key }) {
            try registry.show(Backfill.visible(entry, session: session), of: id, in: db)
        }
        guard !due.isEmpty else { return }
        let rows = try RowStore(db, session: session, registry: registry)
        let contested = PolicyResolver(db, session: session, functions: functions)
        let values = JournalValues(db)
        for (key, merged) in try session.mergedRows(of: due, in: db).sorted(by: { $0.key < $1.key }) {
            try show(key, merged, values, rows: rows, contested: contested, registry: registry)
        }
        try contested.resolve(into: rows)
        try rows.updateVisibility(all: true)
        // The journal already holds the new values; followers only need a notice.
        for table in due.sorted() { try VisibilityNotice.append(table: table, .update, key: nil, to: db) }
        try VisibilityNotice.prune(db)
    }

    /// Makes a row show what the journal has of it.
    func show(
        _ key: TableKey, _ merged: MergedRow<JournalCell>, _ values: JournalValues, rows: RowStore,
        contested: PolicyResolver, registry: ShapeRegistry
    ) throws {
        guard let (context, table) = session.table(key.table, registry: registry),
            let (image, latest) = try merged.latestImage(
                of: table, values, defaults: session.computedDefaults(of: context))
        else { return }
        var columns = latest
        // An insert also sets the spelling of the key: two keys may have become one.
        if merged.isWhole, context.hasKeySpellings { columns.formUnion(ColumnMask(all: table.keyCount)) }
        let keys = image.prefix(table.keyCount).compactMap { $0 }
        let row = RowStore.RowID(key: key, context: context, table: table, values: keys)
        guard context.keeps(keys[...]) else {
            return try holdMisfit(row, isAlive: merged.isAlive, columns: columns, image: image, in: rows.held)
        }
        guard merged.isAlive else {
            // The row may have been deleted under another name of the table.
            try rows.held.release(key)
            return try rows.remove(row)
        }
        // Written by column first, like a change that arrives. If a function is missing, the row is then held
        // like any other conflict.
        try rows.write(columns, isWhole: merged.isWhole, row: row, image: image)
        if merged.isContested { contested.add(row) }
    }

    /// Holds a row whose key the local table would convert to another one, as ``RowStore`` does with a row
    /// that arrives.
    private func holdMisfit(
        _ row: RowStore.RowID, isAlive: Bool, columns: ColumnMask, image values: [Value?], in held: HeldRows
    ) throws {
        guard isAlive else { return try held.release(row.key) }
        var image = RowImage()
        image.overlay(row: row, columns: columns, of: values)
        try held.hold(
            row.key, HeldRow(reason: .key, detail: "the local table converts its key to another one", image: image))
    }
}
