import GRDB

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
        return DroppedTable(position: end, successor: successor)
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
            return DroppedTable(position: past.position, successor: nil)
        }
        return past
    }

    /// The keys that a table with the new name `name` has from a table that was renamed to it, although the
    /// rows were written after another machine had renamed that table.
    func laterKeys(in name: String, _ entry: ShapeRegistry.Entry, _ db: Database) throws -> Set<Key> {
        guard let source = newNames.first(where: { SQLText.foldedName($0.value) == SQLText.foldedName(name) })?.key
        else { return [] }
        return try DroppedTable(position: end, successor: entry.table).news(of: source, db)
    }
}
