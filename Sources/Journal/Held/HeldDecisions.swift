import GRDB

/// What an operator decides about held rows, as ordinary local changes: peers receive them, and they are later
/// than all changes known here.
///
/// Call it in a write of ``Replica/write(enforcingForeignKeys:_:)`` without foreign keys: a restored parent
/// may need one itself. The rows return to their tables at the next merge. After an error, the transaction
/// must be rolled back.
struct HeldDecisions {
    private let db: Database
    private let reader: JournalReader

    init(_ db: Database) throws {
        // Held state that a program has overwritten is dropped first.
        try DerivedState.materialize(db)
        self.db = db
        reader = try JournalReader(db)
    }

    // MARK: - Drop

    /// Deletes the row. A row that is shown with a substitute stays, and the substitute becomes its value.
    func drop(_ id: Int64) throws {
        let row = try record(id)
        if row.isShown {
            let visible = try RawStatement.rows(
                "SELECT \(row.table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")) FROM "
                    + "\(SQLText.quote(identifier: row.table.name)) WHERE \(row.table.keyCondition())",
                row.keyValues, db)
            guard let visible = visible.first else {
                throw JournalError(.corrupt, "The row that is held with the number \(id) is not in its table")
            }
            let columns = row.table.stored.indices.filter {
                $0 >= row.table.keyCount && row.image[row.table, $0] != nil
            }
            try LocalEntry.update(visible, columns: columns, row.shape).append(db)
        } else {
            try row.delete(db)
            try LocalEntry.delete(row.keyValues, row.shape).append(db)
            try evaluateAll()
        }
        try DerivedState.materialize(db)
    }

    // MARK: - Restore

    /// Inserts the missing parents of the row again, as they were when they were deleted; also theirs.
    ///
    /// - Returns: The keys of the rows that were inserted, parents first.
    func restore(_ id: Int64) throws -> [RestoredParent] {
        var restored: [RestoredParent] = []
        var visited: Set<Int64> = []
        try restore(try record(id), asked: id, visited: &visited, into: &restored)
        try DerivedState.materialize(db)
        return restored
    }

    private func restore(
        _ row: HeldRecord, asked id: Int64, visited: inout Set<Int64>, into restored: inout [RestoredParent]
    ) throws {
        guard visited.insert(row.id).inserted else { return }
        try checkLacksParent(row, "be restored", asked: id)
        for missing in try MissingParent.all(of: row, db) {
            let name = missing.parent.name
            guard let key = missing.parentKey, let entry = reader.registry.tracked(table: name) else {
                throw JournalError(
                    .refused,
                    "The held row \(id) cannot be restored: it does not refer to \(name) by the key of a tracked table",
                    hint: "Insert the row that it refers to, or `syncd held DB reparent \(id) --to KEY`.")
            }
            let parentKey = Key(key, collations: missing.parent.keyCollations)
            if let held = try heldID(table: entry.table, key: parentKey) {
                try restore(try record(held), asked: id, visited: &visited, into: &restored)
                continue
            }
            guard let columns = try reader.lastColumns(of: missing.parent, entry, key: parentKey) else {
                throw JournalError(
                    .refused,
                    "The held row \(id) cannot be restored: the journal has no row of \(name) to which it refers",
                    hint: "Insert that row, or `syncd held DB reparent \(id) --to KEY`, or `syncd held DB drop \(id)`.")
            }
            try insert(columns, into: missing.parent, asked: id)
            restored.append(
                RestoredParent(
                    table: name,
                    key: zip(missing.parent.stored, key).map { (column: $0.name, value: $1) }))
        }
    }

    private func insert(_ columns: [Int: Value], into table: TableInspection, asked id: Int64) throws {
        let places = columns.keys.sorted()
        let names = places.map { SQLText.quote(identifier: table.stored[$0].name) }
        do {
            _ = try RawStatement.rows(
                "INSERT INTO \(SQLText.quote(identifier: table.name)) (\(names.joined(separator: ", "))) "
                    + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))",
                places.compactMap { columns[$0] }, db)
        } catch let error as JournalError where error.isConstraint {
            throw JournalError(
                .refused,
                "The held row \(id) cannot be restored: the row that it refers to is refused: \(error.message)",
                hint: "Remove the cause first, or `syncd held DB reparent \(id) --to KEY`.",
                sqliteCode: error.sqliteCode)
        }
    }

    // MARK: - Reparent

    /// Makes the row refer to another row.
    ///
    /// - Parameters:
    ///   - key: The primary key of that row, which must be visible. A text that names no row also counts as
    ///     the number that it spells.
    ///   - column: A column of the foreign key to change; nil when one parent only is missing.
    func reparent(_ id: Int64, to key: [Value], column: String?) throws {
        var row = try record(id)
        try checkLacksParent(row, "get another parent", asked: id)
        let missing = try missingParent(of: row, column: column)
        let values = try parentValues(missing, key)
        guard missing.childColumns.allSatisfy({ $0 >= row.table.keyCount }) else {
            throw JournalError(
                .refused, "The held row \(id) cannot get another parent: the reference is part of its key",
                hint: "`syncd held DB drop \(id)`, and insert the row under another key.")
        }
        if row.isShown {
            let assignments = missing.childColumns.map { "\(SQLText.quote(identifier: row.table.stored[$0].name)) = ?" }
            _ = try RawStatement.rows(
                "UPDATE \(SQLText.quote(identifier: row.table.name)) SET \(assignments.joined(separator: ", ")) "
                    + "WHERE \(row.table.keyCondition())", values + row.keyValues, db)
            return try DerivedState.materialize(db)
        }
        var changed = row.values
        for (column, value) in zip(missing.childColumns, values) {
            changed[column] = value
            row.image.columns[row.table.stored[column].name] = value
        }
        // The entry must not count as a program's insert over the held row, so it is folded meanwhile.
        try row.delete(db)
        try LocalEntry.update(changed, columns: missing.childColumns.sorted(), row.shape).append(db)
        try DerivedState.materialize(db)
        try row.insert(db)
        try evaluateAll()
    }

    private func missingParent(of row: HeldRecord, column: String?) throws -> MissingParent {
        var missing = try MissingParent.all(of: row, db)
        if let column {
            let place = row.table.position(of: column)
            missing = missing.filter { missing in place.map(missing.childColumns.contains) ?? false }
        }
        let names = missing.map { $0.childColumns.map { row.table.stored[$0].name }.joined(separator: ", ") }
        guard let first = missing.first else {
            throw JournalError(
                .refused, "The held row \(row.id) refers to no missing row" + (column.map { " by \($0)" } ?? ""),
                hint: "`syncd held` shows why it is held.")
        }
        guard missing.count == 1 else {
            throw JournalError(
                .refused,
                "The held row \(row.id) refers to several missing rows, by \(names.joined(separator: " and by "))",
                hint: "Name one of these columns with --column.")
        }
        return first
    }

    /// What a child has in its columns to refer to the row with `key`.
    private func parentValues(_ missing: MissingParent, _ key: [Value]) throws -> [Value] {
        let table = missing.parent
        let columns = missing.parentColumns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")
        let sql =
            "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name)) WHERE \(table.keyCondition())"
        let numbers = key.map { value -> Value in
            guard case .text(let bytes) = value, let number = Int64(String(decoding: bytes, as: UTF8.self)) else {
                return value
            }
            return .integer(number)
        }
        guard key.count == table.keyCount else {
            throw JournalError(
                .invalid, "The key of \(table.name) has \(table.keyCount) columns",
                hint: "Give a key of several columns as a JSON array.")
        }
        for candidate in key == numbers ? [key] : [key, numbers] {
            if let values = try RawStatement.rows(sql, candidate, db).first, !values.contains(.null) { return values }
        }
        throw JournalError(
            .refused, "\(table.name) shows no row with that key",
            hint: "Insert the row first; --to takes its primary key, a JSON array for a key of several columns.")
    }

    // MARK: - Pieces

    private func record(_ id: Int64) throws -> HeldRecord { try HeldRecord(id, reader.registry, db) }

    private func heldID(table: Int64, key: Key) throws -> Int64? {
        try RawStatement.rows(
            "SELECT id FROM _journal_held WHERE tbl = ? AND key = ?", [.integer(table), .blob(key.bytes[...])], db
        ).first.flatMap { row in
            if case .integer(let id) = row[0] { id } else { nil }
        }
    }

    private func checkLacksParent(_ row: HeldRecord, _ what: String, asked id: Int64) throws {
        guard row.reason != HoldReason.foreignKey.rawValue else { return }
        let subject =
            row.id == id
            ? "The held row \(id) cannot \(what): it lacks no parent"
            : "The held row \(id) cannot \(what): it refers to the held row \(row.id), which lacks no parent"
        throw JournalError(
            .refused, "\(subject), its reason is \(row.reason): \(row.detail)",
            hint: "Remove the cause, and it returns by itself; `syncd held DB drop \(row.id)` deletes it.")
    }

    /// Makes the next merge evaluate all held rows.
    private func evaluateAll() throws {
        try db.execute(sql: "UPDATE _journal_replica SET checked_held = NULL WHERE checked_held IS NOT NULL")
    }
}

/// A row that was inserted again, because a held row refers to it.
package struct RestoredParent: Sendable {
    /// The table of the row.
    package let table: String
    /// Its primary key.
    package let key: [ConflictEntry.Column]
}
