import Foundation
import GRDB

extension ConflictLedger {
    /// Writes the lost values of entries back as an ordinary local write. Triggers capture it, peers receive
    /// it, and it is later than all changes known here.
    ///
    /// If the row exists, its columns that lost are set. After a key change that won, this is the row under
    /// the new key. If the row does not exist, it is inserted with all columns as the writer of the losing
    /// change had them, as far as the journal holds them.
    ///
    /// Call it in a write of ``Replica/write(enforcingForeignKeys:_:)``, whose triggers capture the change.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``). Entries that were dismissed or restored may be
    ///     restored again.
    ///   - time: The current time, in seconds since 1970.
    /// - Returns: The restored entries.
    /// - Throws: ``JournalError``: `unknownConflict`, `unknownTable`, `unknownColumn`, `rowIsHeld`; `refused`
    ///   with the message of the constraint or trigger. The transaction must then be rolled back.
    @discardableResult
    package func restore(_ ids: [Int64], time: Double) throws -> [ConflictEntry] {
        let conflicts = try ids.map(known)
        try restoreParentsFirst(conflicts)
        return try conflicts.map { try close($0, .restored, time: time) }
    }

    /// Restores the conflicts in an order that foreign keys allow: a row that a foreign key refuses is tried
    /// again after the others.
    private func restoreParentsFirst(_ conflicts: [ConflictEntry]) throws {
        var waiting = conflicts
        while !waiting.isEmpty {
            var refused: [(conflict: ConflictEntry, error: JournalError)] = []
            for conflict in waiting {
                do {
                    try restore(conflict)
                } catch let error as JournalError
                    where error.sqliteCode == ResultCode.SQLITE_CONSTRAINT_FOREIGNKEY.rawValue
                {
                    refused.append((conflict, error))
                }
            }
            if let first = refused.first, refused.count == waiting.count { throw first.error }
            // A refusal mostly means that children come before their parents, so the order is reversed.
            waiting = refused.reversed().map(\.conflict)
        }
    }

    // MARK: - One entry

    private func restore(_ conflict: ConflictEntry) throws {
        let table = try table(of: conflict)
        let target = try RestoreTarget(conflict, table: table, db)
        let lost = try conflict.lost.map { (index: try target.place(of: $0.column), value: $0.value) }
        guard try !isOfAnother(conflict, table) else {
            throw JournalError(
                .refused,
                "Conflict \(conflict.id) cannot be restored in its place: SQLite has given its key to another row",
                hint: "--as-new-row restores it under a new key.")
        }
        if try target.update(lost) { return }
        try target.insert(lostRow(of: conflict, in: target))
    }

    /// The table of a conflict that can be restored.
    func table(of conflict: ConflictEntry) throws -> TableInspection {
        guard conflict.kind != .rekeyed else {
            throw JournalError(
                .refused, "Conflict \(conflict.id) lost nothing but its key: both rows are there",
                hint: "Dismiss the conflict. To give the row another key, update it.")
        }
        guard let table = try TableInspection.named(conflict.table, db),
            reader.registry.tracked(table: conflict.table) != nil
        else {
            throw JournalError(
                .unknownTable,
                "Conflict \(conflict.id) cannot be restored: there is no tracked table \(conflict.table)",
                hint: "Create or track the table again, or dismiss the conflict.")
        }
        return table
    }

    /// The columns of the row as the writer of the losing change had it, with the values that lost.
    func lostRow(of conflict: ConflictEntry, in target: RestoreTarget) throws -> [Int: Value] {
        guard let loser = try reader.entry(at: conflict.lostSeq) else {
            throw JournalError(.corrupt, "The journal no longer holds the change that conflict \(conflict.id) is about")
        }
        // Columns that the table does not have are left out. The columns that lost all exist, as checked
        // above.
        var row: [Int: Value] = [:]
        for (column, value) in try RowHistory(db: db, reader: reader).columns(after: loser) {
            if let index = target.index(of: column) { row[index] = value }
        }
        for column in conflict.lost { row[try target.place(of: column.column)] = column.value }
        return row
    }

    func known(_ id: Int64) throws -> ConflictEntry {
        guard let entry = try entry(id) else {
            throw JournalError(
                .unknownConflict, "The ledger has no conflict \(id)", hint: "`syncd conflicts` lists them.")
        }
        return entry
    }

    /// Marks an entry as handled.
    func close(_ conflict: ConflictEntry, _ state: ConflictEntry.State, time: Double) throws -> ConflictEntry {
        try db.execute(
            sql: "UPDATE _journal_conflicts SET state = ?, closed = ? WHERE id = ?",
            arguments: [state.rawValue, time, conflict.id])
        return try known(conflict.id)
    }
}

/// The row that a restore writes.
struct RestoreTarget {
    let conflict: ConflictEntry
    let table: TableInspection
    let key: [Value]
    let db: Database
    /// True when the row exists under the key that a key change gave it.
    private let isMoved: Bool

    init(_ conflict: ConflictEntry, table: TableInspection, _ db: Database) throws {
        self.conflict = conflict
        self.table = table
        self.db = db
        let names = Set(table.stored.prefix(table.keyCount).map { SQLText.foldedName($0.name) })
        guard names == Set(conflict.key.map { SQLText.foldedName($0.column) }) else {
            throw JournalError(
                .unknownColumn, "Conflict \(conflict.id) cannot be restored: \(table.name) has another primary key now",
                hint: "Dismiss the conflict.")
        }
        func ordered(_ key: [ConflictEntry.Column]) -> [Value] {
            table.stored.prefix(table.keyCount).compactMap { column in
                key.first { SQLText.foldedName($0.column) == SQLText.foldedName(column.name) }?.value
            }
        }
        if let moved = conflict.movedTo.map(ordered), try RestoreTarget.exists(moved, in: table, db) {
            key = moved
            isMoved = true
        } else {
            key = ordered(conflict.key)
            isMoved = false
        }
    }

    func index(of column: String) -> Int? {
        table.stored.firstIndex { SQLText.foldedName($0.name) == SQLText.foldedName(column) }
    }

    func place(of column: String) throws -> Int {
        guard let index = index(of: column) else {
            throw JournalError(
                .unknownColumn,
                "Conflict \(conflict.id) cannot be restored: \(table.name) has no column \(column)",
                hint: "Dismiss the conflict, or write its values by hand.")
        }
        return index
    }

    /// - Returns: False when there is no such row.
    func update(_ columns: [(index: Int, value: Value)]) throws -> Bool {
        guard try RestoreTarget.exists(key, in: table, db) else { return false }
        guard !columns.isEmpty else { return true }
        let assignments = columns.map { "\(name($0.index)) = ?" }.joined(separator: ", ")
        try run(
            "UPDATE \(quotedTable) SET \(assignments) WHERE \(RestoreTarget.keyCondition(table))",
            columns.map(\.value) + key)
        return true
    }

    func insert(_ columns: [Int: Value]) throws {
        let bytes = Key(key, collations: table.keyCollations).bytes
        let held = try Row.fetchOne(
            db,
            sql: """
                SELECT reason FROM _journal_held WHERE key = ?
                  AND tbl IN (SELECT tbl FROM _journal_tables WHERE lower(name) = lower(?))
                """, arguments: [Data(bytes), table.name])
        if let held {
            throw JournalError(
                .rowIsHeld,
                "Conflict \(conflict.id) cannot be restored: its row is set aside (\(held["reason"] as String))",
                hint: "`syncd held` shows why; restore the conflict when the row is back.")
        }
        let others = columns.keys.filter { $0 >= table.keyCount }.sorted()
        let names = (0..<table.keyCount).map(name) + others.map(name)
        try run(
            "INSERT INTO \(quotedTable) (\(names.joined(separator: ", "))) "
                + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))", key + others.compactMap { columns[$0] })
    }

    /// Inserts a row without its key.
    ///
    /// - Returns: The key that SQLite chose.
    func insertNew(_ columns: [Int: Value]) throws -> Int64 {
        let others = columns.keys.filter { $0 >= table.keyCount }.sorted()
        let marks = others.map { _ in "?" }.joined(separator: ", ")
        try run(
            others.isEmpty
                ? "INSERT INTO \(quotedTable) DEFAULT VALUES"
                : "INSERT INTO \(quotedTable) (\(others.map(name).joined(separator: ", "))) VALUES (\(marks))",
            others.compactMap { columns[$0] })
        return db.lastInsertedRowID
    }

    // MARK: - Pieces

    private var quotedTable: String { SQLText.quote(identifier: table.name) }
    private func name(_ index: Int) -> String { SQLText.quote(identifier: table.stored[index].name) }

    private static func keyCondition(_ table: TableInspection) -> String {
        table.keyCondition()
    }

    private static func exists(_ key: [Value], in table: TableInspection, _ db: Database) throws -> Bool {
        let select = try RawStatement(
            db, "SELECT 1 FROM \(SQLText.quote(identifier: table.name)) WHERE \(keyCondition(table))")
        for (index, value) in key.enumerated() { try select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step()
    }

    private func run(_ sql: String, _ values: [Value]) throws {
        let before = db.totalChangesCount
        do {
            let statement = try RawStatement(db, sql)
            for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
            try statement.run()
        } catch let error as JournalError where error.isConstraint {
            throw JournalError(
                .refused, "Conflict \(conflict.id) cannot be restored: \(error.message)",
                hint: "Remove the cause first, or dismiss the conflict.", sqliteCode: error.sqliteCode)
        }
        guard db.totalChangesCount > before else {
            throw JournalError(
                .refused, "Conflict \(conflict.id) cannot be restored: a trigger of \(table.name) ignores the write",
                hint: "Dismiss the conflict, or write its values by hand.")
        }
    }
}
