import GRDB
import Journal

/// Makes rows show what the journal already holds of tables and columns that a migration has made known here.
///
/// Changes of unknown columns and tables are kept in the journal and passed on like all others. When the schema comes to know them,
/// the merged state of their tables is read from the journal once, and rows get what they lack; no exchange is needed.
struct Backfill {
    let db: Database
    let session: ApplySession
    /// For tables whose conflicts a function decides; ``run()`` alone needs them.
    var functions = ConflictFunctions()

    /// Which columns of a shape rows here can show: none, when there is no such table or it has another key.
    static func visible(_ entry: ShapeRegistry.Entry, session: ApplySession) -> [String] {
        let context = session.context(of: entry)
        let translation = context.translation(of: entry)
        guard translation.hasSameKey else { return [] }
        return zip(entry.shape.columns, translation.positions).filter { $1 < context.storedCount }.map(\.0)
    }

    /// The tables of which the journal holds more than rows show.
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

    /// Brings rows up to date with the journal, and notes for each shape what rows show of it.
    ///
    /// Call it when the schema may have changed, inside of a transaction of the merge connection, before changes are applied.
    func run() throws {
        var registry = try ShapeRegistry(db)
        let due = Backfill.due(registry, session: session)
        for (id, entry) in registry.entries.sorted(by: { $0.key < $1.key }) {
            try registry.show(Backfill.visible(entry, session: session), of: id, in: db)
        }
        guard !due.isEmpty else { return }
        let rows = try RowStore(db, session: session, registry: registry)
        let contested = PolicyResolver(db, session: session, functions: functions)
        for (key, merged) in try mergedRows(of: due).sorted(by: { $0.key < $1.key }) {
            try join(key, merged, rows: rows, contested: contested, registry: registry)
        }
        try contested.resolve(into: rows)
        try rows.updateVisibility(all: true)
        // What rows have gained stands in the journal since long.
        for table in due.sorted() { try VisibilityNotice.append(table: table, .update, key: nil, to: db) }
        try VisibilityNotice.prune(db)
    }

    // MARK: - The merged state

    struct Winner {
        let claim: WriteOrder
        let seq: Int64
        /// The position in the shape of the entry at ``seq``.
        let column: Int
    }

    struct MergedRow {
        var life: Int64
        var isWhole = false
        /// By position in the common column space; the key columns too.
        var winners: [Int: Winner] = [:]
        /// True when changes of this life may not have seen each other; only noted where a policy decides such rows.
        var isContested = false
        /// The change of this life that was read last.
        var latest: (origin: OriginID, version: Int64)?

        /// Who knows a change knows all that its writer knew, so one look back at each is enough.
        mutating func follow(_ change: ScannedChange) {
            if let latest, !change.knows(latest.origin, latest.version) { isContested = true }
            latest = (origin: change.origin, version: change.version)
        }
    }

    /// - Parameter keys: The rows that are asked for; nil for all of the tables.
    func mergedRows(
        of tables: Set<Int64>, among keys: Set<ConcurrentChanges.TableKey>? = nil
    ) throws -> [ConcurrentChanges.TableKey: MergedRow] {
        var rows: [ConcurrentChanges.TableKey: MergedRow] = [:]
        try JournalReader(db).scan(tables: tables) { change in
            let context = session.context(of: change.shape)
            let translation = context.translation(of: change.shape)
            guard translation.hasSameKey else { return }
            let key = ConcurrentChanges.TableKey(table: change.shape.table, key: change.key)
            if let keys, !keys.contains(key) { return }
            var row = rows[key] ?? MergedRow(life: change.life)
            guard change.life >= row.life else { return }
            if change.life > row.life { row = MergedRow(life: change.life) }
            if change.operation == .insert { row.isWhole = true }
            if !context.mergesByColumn { row.follow(change) }
            let claim = WriteOrder(stamp: change.stamp, origin: change.origin)
            func offer(_ column: Int, _ claim: WriteOrder) {
                let position = translation.positions[column]
                guard position < context.storedCount, row.winners[position].map({ $0.claim < claim }) ?? true else {
                    return
                }
                row.winners[position] = Winner(claim: claim, seq: change.seq, column: column)
            }
            // An insert decides how the key is spelled; others only name it.
            let keyClaim = change.operation == .insert ? claim : .eldest
            for column in 0..<change.shape.shape.keyCount { offer(column, keyClaim) }
            change.mask.forEach { if $0 >= change.shape.shape.keyCount { offer($0, claim) } }
            rows[key] = row
        }
        return rows
    }

    private func join(
        _ key: ConcurrentChanges.TableKey, _ merged: MergedRow, rows: RowStore, contested: PolicyResolver,
        registry: ShapeRegistry
    ) throws {
        guard let (context, table) = session.table(key.table, registry: registry) else { return }
        let values = JournalValues(db)
        var image = [Value?](repeating: nil, count: table.stored.count)
        var columns = ColumnMask()
        for (position, winner) in merged.winners {
            image[position] = try values.value(at: winner.seq, column: winner.column)
            // An insert also decides how the key is spelled: two keys may have become one.
            if position >= table.keyCount || (merged.isWhole && context.hasKeySpellings) { columns.insert(position) }
        }
        let keys = image.prefix(table.keyCount).compactMap { $0 }
        guard keys.count == table.keyCount else { return }
        let row = RowStore.RowID(key: key, context: context, table: table, values: keys)
        guard context.keeps(keys[...]) else {
            return holdMisfit(row, isAlive: merged.life % 2 == 1, columns: columns, image: image, in: rows.held)
        }
        guard merged.life % 2 == 1 else {
            // It may have been deleted under another name of the table.
            rows.held.release(key)
            return try rows.remove(row)
        }
        // By column first, as a change that arrives: without its function a contested row is held as that.
        try rows.write(columns, isWhole: merged.isWhole, row: row, image: image)
        if merged.isContested { contested.add(row) }
    }

    /// Sets a row aside whose key would become another one, as ``RowStore`` does with one that arrives.
    private func holdMisfit(
        _ row: RowStore.RowID, isAlive: Bool, columns: ColumnMask, image values: [Value?], in held: HeldRows
    ) {
        guard isAlive else { return held.release(row.key) }
        var image = RowImage()
        image.overlay(row: row, columns: columns, of: values)
        held.hold(
            row.key, HeldRow(reason: .key, detail: "the table here stores its key as another one", image: image))
    }
}
