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
        var shapes: [Int64: TableShape?] = [:]
        while try suspects.step() {
            guard let entry = registry[suspects.int64(1)] else { continue }
            let values = (0..<entry.shape.keyCount).map { suspects.column(2 + Int32($0)) }
            let key = TableKey(table: entry.table, key: Key(values, collations: entry.collations))
            guard !values.contains(.null), seen.insert(key).inserted, try lives.life(of: key) % 2 == 1 else { continue }
            let shape = try shapes[entry.table] ?? currentShape(table: entry.table, db)
            shapes[entry.table] = .some(shape)
            guard let shape, shape.keyCount == values.count, try !exists(values, in: shape, db) else { continue }
            deletes.append(.delete(values, entry))
        }
        for entry in deletes { try entry.append(db) }
        try db.execute(sql: "DELETE FROM _journal_suspects")
    }

    /// The shape of the table that carries the triggers of table `id`; nil when the table was dropped. The
    /// table or its columns may have been renamed since the candidates were noted.
    private static func currentShape(table id: Int64, _ db: Database) throws -> TableShape? {
        let name = try String.fetchOne(
            db, sql: "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = ?",
            arguments: [CaptureTriggers.namePrefix(tableID: id) + "insert"])
        return try name.flatMap { try TableInspection.named($0, db)?.shape }
    }

    private static func exists(_ key: [Value], in shape: TableShape, _ db: Database) throws -> Bool {
        let condition = shape.keyColumns.map { "\(SQLText.quote(identifier: $0)) IS ?" }.joined(separator: " AND ")
        let select = try RawStatement(db, "SELECT 1 FROM \(SQLText.quote(identifier: shape.table)) WHERE \(condition)")
        for (index, value) in key.enumerated() { try select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step()
    }
}
