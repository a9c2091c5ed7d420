import GRDB

/// Journals the difference between what the journal says of a table and what the table holds.
///
/// Needed when writes bypassed the triggers: a table that was dropped and rebuilt, or a user's trigger that ran before
/// capture's. Costs one pass over the table's journal entries and one over its rows, and memory for one hash a value.
struct Reconciliation {
    private let table: TableInspection
    private let entry: ShapeRegistry.Entry
    private let db: Database

    init(_ table: TableInspection, entry: ShapeRegistry.Entry, _ db: Database) {
        self.table = table
        self.entry = entry
        self.db = db
    }

    /// - Returns: How many changes were journalled.
    func run() throws -> Int64 {
        let expected = try expectedRows()
        let held = try heldKeys()
        var missing = expected
        var inserts: [[Value]] = []
        var updates: [(row: [Value], mask: ColumnMask)] = []
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        let rows = try RawStatement(db, "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name))")
        let defaults = try defaultValues()
        while try rows.step() {
            let row = table.stored.indices.map { rows.column(Int32($0)) }
            let keyValues = row.prefix(table.keyCount)
            guard !keyValues.contains(.null) else { continue }
            let key = Key(keyValues, collations: entry.collations)
            missing[key] = nil
            // With a substitute for a missing parent a row differs from the journal, and nobody has written that.
            guard !held.contains(key) else { continue }
            guard let known = expected[key] else {
                inserts.append(row)
                continue
            }
            var mask = ColumnMask()
            for index in table.keyCount..<table.stored.count {
                let expectedHash = known.columns[table.stored[index].name]?.hash ?? defaults[index].hashValue
                if expectedHash != row[index].hashValue { mask.insert(index) }
            }
            if !mask.isEmpty { updates.append((row, mask)) }
        }
        for row in inserts { try append(.insert, row: row, mask: nil) }
        for (row, mask) in updates { try append(.update, row: row, mask: mask) }
        var deleted: Int64 = 0
        for (key, row) in missing where !held.contains(key) {
            try append(.delete, row: row.key, mask: nil)
            deleted += 1
        }
        return Int64(inserts.count + updates.count) + deleted
    }

    // MARK: - What the journal says

    private struct Expected {
        struct Column {
            var hash: Int
            var stamp: Stamp
            var origin: OriginID
        }
        var life: Int64
        var key: [Value]
        var columns: [String: Column] = [:]
    }

    /// The rows that merging every entry of the table gives, dead ones left out.
    private func expectedRows() throws -> [Key: Expected] {
        let reader = try JournalReader(db)
        var rows: [Key: Expected] = [:]
        // What a peer's shape has and rows here do not show yet is not expected of them.
        let unjoined = Dictionary(
            reader.registry.entries.values.compactMap { entry in
                entry.shownColumns.map { (entry.shape, Set(entry.shape.valueColumns).subtracting($0)) }
            }, uniquingKeysWith: { $0.union($1) })
        var position: Int64 = 0
        while true {
            let entries = try reader.entries(after: position, limit: 4_096)
            guard let last = entries.last else { break }
            position = last.seq
            for change in entries where change.tableID == entry.table {
                let hidden = unjoined[change.shape] ?? []
                if !hidden.isEmpty, hidden.count == change.shape.valueColumns.count { continue }
                let origin = change.origin ?? reader.identity.origin
                var row = rows[change.key] ?? Expected(life: change.life, key: Array(change.keyValues))
                guard change.life >= row.life else { continue }
                if change.life > row.life { row = Expected(life: change.life, key: Array(change.keyValues)) }
                for (name, value) in change.columns where !hidden.contains(name) {
                    if let column = row.columns[name], (column.stamp, column.origin) > (change.stamp, origin) {
                        continue
                    }
                    row.columns[name] = .init(hash: value.hashValue, stamp: change.stamp, origin: origin)
                }
                rows[change.key] = row
            }
        }
        return rows.filter { $0.value.life % 2 == 1 }
    }

    private func heldKeys() throws -> Set<Key> {
        let statement = try RawStatement(db, "SELECT key FROM _journal_held WHERE tbl = ?")
        try statement.bind(entry.table, at: 1)
        var keys: Set<Key> = []
        while try statement.step() { keys.insert(Key(bytes: Array(statement.bytes(0)))) }
        return keys
    }

    private func defaultValues() throws -> [Value] {
        try table.stored.map { column in
            guard let sql = column.defaultSQL else { return .null }
            let statement = try RawStatement(db, "SELECT \(sql)")
            defer { statement.reset() }
            return try statement.step() ? statement.column(0) : .null
        }
    }

    // MARK: - Writing

    private func append(_ operation: Operation, row: [Value], mask: ColumnMask?) throws {
        let words = mask?.words.map { Value.integer(Int64(bitPattern: $0)) } ?? []
        let carried = row.indices.filter { $0 < table.keyCount || mask?.contains($0) ?? (operation == .insert) }
        let columns =
            ["shape", "op"] + words.indices.map { JournalSchema.maskColumn($0) } + carried.map { "v\($0)" }
        let bound = [.integer(entry.id), .integer(operation.rawValue)] + words + carried.map { row[$0] }
        let insert = try RawStatement(
            db,
            "INSERT INTO _journal (stamp, \(columns.joined(separator: ", "))) VALUES (julianday('now'), "
                + bound.map { _ in "?" }.joined(separator: ", ") + ")")
        for (index, value) in bound.enumerated() { try insert.bind(value, at: Int32(index + 1)) }
        try insert.run()
    }
}
