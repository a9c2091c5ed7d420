import Journal

/// The rows that the entries of a journal describe: a slow and simple reader of `docs/JOURNAL.md`, made for
/// the test.
struct JournalReplay {
    struct ReplayedRow {
        var key: [Value]
        /// The values by column name. A column that no entry since the row's insert carried is absent and has
        /// its default.
        var columns: [String: Value] = [:]
    }

    /// The rows by table name and canonical key.
    private(set) var tables: [String: [Key: ReplayedRow]] = [:]
    private var lives: [String: [Key: Int64]] = [:]
    private(set) var position: Int64 = 0
    private var stamp = Stamp.zero

    /// The keys of a table that are alive by the lives of their entries.
    func living(_ table: String) -> Set<Key> {
        Set((lives[table] ?? [:]).lazy.filter { $0.value % 2 == 1 }.map(\.key))
    }

    /// Applies the next local entry.
    ///
    /// - Parameter defaultValue: The value of a column that no entry of the row carried.
    /// - Returns: The error in the entry, or nil.
    mutating func apply(
        _ entry: JournalEntry, defaultValue: (String, String) -> Value, isSelfReferencing: (String) -> Bool
    ) -> String? {
        guard entry.seq == position + 1, entry.version == entry.seq, entry.origin == nil else {
            return "entry \(entry.seq) has version \(entry.version) after position \(position)"
        }
        guard entry.stamp > stamp else { return "the stamp of entry \(entry.seq) does not rise" }
        position = entry.seq
        stamp = entry.stamp
        let table = entry.shape.table
        let key = entry.key
        if entry.keyValues.contains(.null) { return "entry \(entry.seq) has NULL in its key" }
        let before = lives[table]?[key] ?? 1
        let wasAlive = before % 2 == 1
        let after: Int64 =
            switch entry.operation {
            case .insert, .update: wasAlive ? before : before + 1
            case .delete: wasAlive ? before + 1 : before
            }
        guard entry.life == after else { return "entry \(entry.seq) has life \(entry.life), expected \(after)" }
        lives[table, default: [:]][key] = after
        switch entry.operation {
        case .insert:
            guard entry.mask == ColumnMask(all: entry.shape.columns.count) else {
                return "entry \(entry.seq) is partial"
            }
            tables[table, default: [:]][key] = ReplayedRow(
                key: Array(entry.keyValues),
                columns: Dictionary(uniqueKeysWithValues: entry.columns.map { ($0.name, $0.value) }))
        case .delete: tables[table, default: [:]][key] = nil
        case .update:
            // A foreign-key action of a row on itself runs before the trigger that journals the row's new
            // key. The insert that follows carries every column.
            guard var row = tables[table]?[key] else {
                return isSelfReferencing(table) ? nil : "entry \(entry.seq) updates a row that does not exist"
            }
            guard row.key == Array(entry.keyValues) else { return "entry \(entry.seq) updates under another key" }
            guard !entry.columns.isEmpty else { return "entry \(entry.seq) updates nothing" }
            for column in entry.columns {
                let old = row.columns[column.name] ?? defaultValue(table, column.name)
                if old == column.value { return "entry \(entry.seq) carries \(column.name), which did not change" }
                row.columns[column.name] = column.value
            }
            tables[table, default: [:]][key] = row
        }
        return nil
    }
}
