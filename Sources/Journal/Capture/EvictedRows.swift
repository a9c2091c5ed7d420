import GRDB

/// Rows that REPLACE removed on connections without recursive triggers, where it fires no delete trigger
/// (https://sqlite.org/lang_conflict.html). The evict triggers noted them as candidates before each such
/// statement; see docs/decisions/0003-evictions-by-replace.md.
enum EvictedRows {
    /// Appends a delete for each eviction candidate that is gone although the journal has no delete of it.
    static func journal(_ db: Database) throws {
        let registry = try ShapeRegistry(db)
        let lives = try LifeReader(db)
        let suspects = try RawStatement(db, "SELECT * FROM _journal_suspects ORDER BY id")
        var deletes: [LocalEntry] = []
        var seen: Set<TableKey> = []
        var tables: [Int64: TableInspection?] = [:]
        while try suspects.step() {
            guard let entry = registry[suspects.int64(1)] else { continue }
            let values = (0..<entry.shape.keyCount).map { suspects.column(2 + Int32($0)) }
            let key = TableKey(table: entry.table, key: Key(values, collations: entry.collations))
            guard !values.contains(.null), seen.insert(key).inserted, try lives.life(of: key) % 2 == 1 else { continue }
            let table = try tables[entry.table] ?? currentTable(entry.table, db)
            tables[entry.table] = .some(table)
            guard let table, table.keyCount == values.count, try !exists(values, in: table, db) else { continue }
            deletes.append(.delete(values, entry))
        }
        for entry in deletes { try entry.append(db) }
        try db.execute(sql: "DELETE FROM _journal_suspects")
    }

    /// The table that carries the triggers of table `id`; nil when it was dropped. The table or its columns
    /// may have been renamed since the candidates were noted.
    private static func currentTable(_ id: Int64, _ db: Database) throws -> TableInspection? {
        let name = try String.fetchOne(
            db, sql: "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = ?",
            arguments: [CaptureTriggers.namePrefix(tableID: id) + "insert"])
        return try name.flatMap { try TableInspection.named($0, db) }
    }

    private static func exists(_ key: [Value], in table: TableInspection, _ db: Database) throws -> Bool {
        let select = try RawStatement(
            db, "SELECT 1 FROM \(SQLText.quote(identifier: table.name)) WHERE \(table.keyCondition("IS ?"))")
        for (index, value) in key.enumerated() { try select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step()
    }
}
