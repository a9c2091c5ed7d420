import GRDB

/// A row as the changes up to a time make it, by the stamps of the changes: what all machines had written by
/// then, also what reached this file later.
package struct PastRow: Sendable {
    /// A column of the row, with the change that wrote it.
    package struct Column: Sendable {
        package let name: String
        package let value: Value
        /// When the value was written, and by whom.
        package let order: WriteOrder

        package init(name: String, value: Value, order: WriteOrder) {
            self.name = name
            self.value = value
            self.order = order
        }
    }

    /// The primary key, in key order.
    package let key: [(name: String, value: Value)]
    /// The life of the key, 1 or more.
    package let life: Int64
    /// True when an insert of that life is among the changes.
    package let isWhole: Bool
    /// False for a row that was deleted by then.
    package var isAlive: Bool { life % 2 == 1 }
    /// The columns besides the key that a change carries; none for a deleted row.
    package let columns: [Column]
    /// The latest of the changes.
    package let last: WriteOrder

    package init(
        key: [(name: String, value: Value)], life: Int64, isWhole: Bool, columns: [Column], last: WriteOrder
    ) {
        self.key = key
        self.life = life
        self.isWhole = isWhole
        self.columns = columns
        self.last = last
    }
}

extension PastRow {
    /// The row of a table as listings show it, without the values of secret columns.
    package func hiding(_ secrets: SecretColumns, of table: String) -> PastRow {
        PastRow(
            key: key, life: life, isWhole: isWhole,
            columns: columns.map {
                Column(name: $0.name, value: secrets.shown($0.value, of: $0.name, in: table), order: $0.order)
            }, last: last)
    }
}

/// The rows of one table that ``JournalEntry`` values make, one after another.
package struct PastRows {
    private struct Row {
        var merged: MergedRow<Value>
        var last: WriteOrder
    }

    private let own: OriginID
    private let policy: MergePolicy
    private let keyCount: Int
    private var space: ColumnSpace
    private var rows: [Key: Row] = [:]

    package init(_ table: TableInspection, policy: MergePolicy, own: OriginID) {
        self.own = own
        self.policy = policy
        keyCount = table.keyCount
        space = ColumnSpace(columns: table.stored.map(\.name), keyCount: table.keyCount)
    }

    /// Adds a change. One whose key has other columns than the table's belongs to no row of it.
    package mutating func add(_ entry: JournalEntry) {
        guard let change = entry.rowChange(in: space.translation(of: entry.shape), own: own) else { return }
        var row = rows[entry.key] ?? Row(merged: MergedRow(policy: policy), last: change.order)
        row.merged.add(change)
        row.last = max(row.last, change.order)
        rows[entry.key] = row
    }

    /// The rows that have a change, deleted ones included, by key.
    package var all: [Key: PastRow] {
        rows.mapValues { row in
            let merged = row.merged
            // Where a function decides, the latest change of each column stands.
            let cells = merged.row() ?? merged.latestCells
            let columns = zip(space.names, zip(cells, merged.winners)).compactMap { name, cell -> PastRow.Column? in
                guard let value = cell.0, let winner = cell.1 else { return nil }
                return PastRow.Column(name: name, value: value, order: winner.order)
            }
            return PastRow(
                key: zip(space.names.prefix(keyCount), merged.key).map { (name: $0, value: $1) },
                life: merged.life, isWhole: merged.isWhole, columns: merged.isAlive ? columns : [], last: row.last)
        }
    }
}

extension JournalReader {
    /// Returns the row with a key as it was at a time.
    ///
    /// - Parameters:
    ///   - table: A tracked table's name in this file.
    ///   - until: Changes with a later stamp do not count.
    ///   - isWanted: Returns true for the key of the row.
    /// - Returns: nil when no change of the row is that old.
    /// - Throws: ``JournalError``: `unknownTable` for a table that is not tracked here, `invalid` for a time
    ///   before the oldest change of the journal, `corrupt`; errors of SQLite.
    package func row(
        of table: String, until: Stamp, isWanted: ([Value]) -> Bool
    ) throws -> PastRow? {
        guard let tracked = registry.tracked(table: table),
            let inspection = try TableInspection.named(tracked.shape.table, db)
        else {
            throw JournalError(
                .unknownTable, "The table \(table) is not tracked",
                hint: "`syncd status` lists the tables that are, and why others are not.")
        }
        let policy = try MergePolicies(db, names: registry.names)[inspection.name]
        var rows = PastRows(inspection, policy: policy, own: identity.origin)
        var oldest = Stamp(rawValue: .max)
        try forEachEntry { entry in
            oldest = min(oldest, entry.stamp)
            guard entry.tableID == tracked.table, entry.stamp <= until, isWanted(Array(entry.keyValues)) else { return }
            rows.add(entry)
        }
        try checkReach(of: until, oldest)
        return rows.all.values.max { $0.last < $1.last }
    }

    /// Returns what the row with a key had when it was last alive, by the index of the column in
    /// ``TableInspection/stored``, its key included. Reads the whole journal.
    ///
    /// - Parameters:
    ///   - table: The table in this file.
    ///   - tracked: Its tracked shape.
    ///   - key: The primary key of the row.
    /// - Returns: nil when the journal has no insert of the row.
    /// - Throws: ``JournalError/Code/corrupt``; errors of SQLite.
    func lastColumns(
        of table: TableInspection, _ tracked: ShapeRegistry.Entry, key: Key
    ) throws -> [Int: Value]? {
        var changes: [JournalEntry] = []
        try forEachEntry { if $0.tableID == tracked.table, $0.key == key { changes.append($0) } }
        guard let life = changes.filter({ $0.operation == .insert }).map(\.life).max() else { return nil }
        let policy = try MergePolicies(db, names: registry.names)[table.name]
        var rows = PastRows(table, policy: policy, own: identity.origin)
        for change in changes where change.life <= life { rows.add(change) }
        guard let row = rows.all[key], row.isAlive else { return nil }
        let values = row.key + row.columns.map { (name: $0.name, value: $0.value) }
        let places = values.compactMap { value in table.position(of: value.name).map { ($0, value.value) } }
        return Dictionary(places, uniquingKeysWith: { first, _ in first })
    }

    /// - Throws: ``JournalError/Code/invalid`` for a time before the oldest change, or before the horizon.
    func checkReach(of time: Stamp, _ oldest: Stamp) throws {
        let horizon = try Horizon(db)
        guard time < (horizon.isEmpty ? oldest : horizon.stamp) else { return }
        throw JournalError(
            .invalid, oldest.rawValue == .max ? "The journal has no changes" : "The history of the file begins later",
            hint:
                "`syncd status` shows how far the journal is compacted, and `syncd log` its first change; a backup may "
                + "reach further back.")
    }

    /// Calls `body` with all entries, oldest first.
    package func forEachEntry(_ body: (JournalEntry) throws -> Void) throws {
        var position: Int64 = 0
        while true {
            let entries = try entries(after: position, limit: 4_096)
            guard let last = entries.last else { return }
            position = last.seq
            for entry in entries { try body(entry) }
        }
    }
}
