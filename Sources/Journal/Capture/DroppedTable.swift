import GRDB

/// What rows here showed of a table before it was dropped or renamed.
///
/// When a table of that name is made again, a migration removed the rows that it had, and nothing else: what
/// others have written since is not its doing. So the result does not depend on whether anyone looked at the
/// file in between.
struct DroppedTable {
    /// The position of the last entry that rows here showed.
    let position: Int64
    /// The id of the table that has the rows now, under another name; nil when they are gone.
    let successor: Int64?
    /// True when the table was renamed and not dropped: a table that is made again has none of its rows.
    let isRenamed: Bool

    /// Returns what is recorded, by table id.
    fileprivate static func all(_ db: Database) throws -> [Int64: DroppedTable] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT DISTINCT tbl, dropped, successor FROM _journal_tables WHERE dropped IS NOT NULL")
        return Dictionary(
            rows.map { row in
                let successor: Int64? = row["successor"]
                return (
                    row["tbl"],
                    DroppedTable(position: row["dropped"], successor: successor, isRenamed: successor != nil)
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Records that the table with the id `table` is gone.
    func record(_ table: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET dropped = ?, successor = ? WHERE tbl = ?",
            arguments: [position, successor, table])
    }

    /// Records that the table is here again.
    static func forget(_ table: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET dropped = NULL, successor = NULL WHERE tbl = ? AND dropped IS NOT NULL",
            arguments: [table])
    }

    /// The keys of the table that others wrote when rows here did not show it any more, or after they had
    /// seen that another machine renamed it.
    func news(of table: Int64, _ db: Database) throws -> Set<Key> {
        let reader = try JournalReader(db)
        let own = reader.identity.origin
        var renamings: [OriginID: Int64] = [:]
        if let successor {
            try reader.scan(tables: [successor]) { change in
                guard change.origin != own else { return }
                renamings[change.origin] = min(renamings[change.origin] ?? .max, change.version)
            }
        }
        var keys: Set<Key> = []
        try reader.scan(tables: [table]) { change in
            guard change.origin != own else { return }
            if change.seq > position || renamings.contains(where: { change.knows($0.key, $0.value) }) {
                keys.insert(change.key)
            }
        }
        return keys
    }
}

/// The tables that are not where the last contact left them.
struct PastTables {
    private let dropped: [Int64: DroppedTable]
    /// The names of tracked tables that have been renamed, by their ids: SQLite moves the triggers with the
    /// table.
    private let newNames: [Int64: String]
    /// The position of the newest entry.
    private let end: Int64

    init(_ registry: ShapeRegistry, _ db: Database) throws {
        dropped = try DroppedTable.all(db)
        end = try JournalReader.lastSeq(db)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, tbl_name FROM sqlite_master
                WHERE type = 'trigger' AND name GLOB '\(JournalSchema.prefix)_*_insert'
                """)
        let tables = Dictionary(
            rows.map { ($0["name"] as String, $0["tbl_name"] as String) }, uniquingKeysWith: { first, _ in first })
        var newNames: [Int64: String] = [:]
        for entry in registry.entries.values where entry.isTracked {
            guard let name = tables[CaptureTriggers.namePrefix(tableID: entry.table) + "insert"],
                registry.names.folded(name) != registry.names.folded(entry.wireName)
            else { continue }
            newNames[entry.table] = name
        }
        self.newNames = newNames
    }

    /// True for a table that had another name, under which it was tracked.
    func isNewName(_ name: String) -> Bool {
        newNames.values.contains { SQLText.foldedName($0) == SQLText.foldedName(name) }
    }

    /// What is to be recorded of a tracked table that is gone.
    func missing(_ table: Int64, _ registry: ShapeRegistry) -> DroppedTable {
        let successor = newNames[table].flatMap { registry.tableID(named: $0) }
        return DroppedTable(position: end, successor: successor, isRenamed: successor != nil)
    }

    /// What rows showed before the table of `entry` was dropped or renamed; nil for one that was not.
    func former(of entry: ShapeRegistry.Entry, _ registry: ShapeRegistry) -> DroppedTable? {
        if let name = newNames[entry.table] {
            return DroppedTable(position: end, successor: registry.tableID(named: name), isRenamed: true)
        }
        guard let past = dropped[entry.table] else { return nil }
        // Renamed back, it has its own rows.
        if let name = past.successor.flatMap({ newNames[$0] }),
            registry.names.folded(name) == registry.names.folded(entry.wireName)
        {
            return DroppedTable(position: past.position, successor: nil, isRenamed: false)
        }
        return past
    }

    /// The keys that a table with the new name `name` has from a table that was renamed to it, although the
    /// rows were written after another machine had renamed that table.
    func laterKeys(in name: String, _ entry: ShapeRegistry.Entry, _ db: Database) throws -> Set<Key> {
        guard let source = newNames.first(where: { SQLText.foldedName($0.value) == SQLText.foldedName(name) })?.key
        else { return [] }
        return try DroppedTable(position: end, successor: entry.table, isRenamed: true).news(of: source, db)
    }
}
