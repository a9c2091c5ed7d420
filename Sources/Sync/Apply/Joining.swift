import GRDB
import Journal

/// Makes rows show what the journal already holds of tables and columns that a migration has made known here.
///
/// Changes of unknown columns and tables are kept in the journal and passed on like all others. When the schema comes to know them,
/// the merged state of their tables is read from the journal once, and rows get what they lack; no exchange is needed.
struct Joining {
    let db: Database
    let session: ApplySession

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
                guard let joined = entry.joined else { return false }
                return !Set(visible(entry, session: session)).isSubset(of: joined)
            }.map(\.table))
    }

    /// Brings rows up to date with the journal, and notes for each shape what rows show of it.
    ///
    /// Call it when the schema may have changed, inside of a transaction of the merge connection, before changes are applied.
    func run() throws {
        var registry = try ShapeRegistry(db)
        let due = Joining.due(registry, session: session)
        for (id, entry) in registry.entries.sorted(by: { $0.key < $1.key }) {
            try registry.join(Joining.visible(entry, session: session), of: id, in: db)
        }
        guard !due.isEmpty else { return }
        let rows = try RowStore(db, session: session, registry: registry)
        for (key, merged) in try mergedRows(of: due).sorted(by: { $0.key < $1.key }) {
            try join(key, merged, rows: rows, registry: registry)
        }
        try rows.settle(all: true)
        // What rows have gained stands in the journal since long.
        for table in due.sorted() { try SettledRows.append(table: table, .update, key: nil, to: db) }
        try SettledRows.prune(db)
    }

    // MARK: - The merged state

    struct Winner {
        let claim: Claim
        let seq: Int64
        /// The position in the shape of the entry at ``seq``.
        let column: Int
    }

    struct MergedRow {
        var life: Int64
        var isWhole = false
        /// By position in the common column space; the key columns too.
        var winners: [Int: Winner] = [:]
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
            let claim = Claim(stamp: change.stamp, origin: change.origin)
            func offer(_ column: Int, _ claim: Claim) {
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
        _ key: ConcurrentChanges.TableKey, _ merged: MergedRow, rows: RowStore, registry: ShapeRegistry
    ) throws {
        guard let (context, table) = session.table(key.table, registry: registry) else { return }
        let values = JournalValues(db)
        var image = [Value?](repeating: nil, count: table.stored.count)
        var columns = ColumnMask()
        for (position, winner) in merged.winners {
            image[position] = try values.value(at: winner.seq, column: winner.column)
            if position >= table.keyCount { columns.insert(position) }
        }
        let keys = image.prefix(table.keyCount).compactMap { $0 }
        guard keys.count == table.keyCount, context.keeps(keys[...]) else { return }
        let row = RowStore.RowID(key: key, context: context, table: table, values: keys)
        guard merged.life % 2 == 1 else {
            // It may have been deleted under another name of the table.
            rows.held.release(key)
            return try rows.remove(row)
        }
        try rows.write(columns, isWhole: merged.isWhole, row: row, image: image)
    }
}
