import GRDB
import GRDBSQLite
import Journal

/// The statements that put merged rows into one table. Each tells by its result code what a constraint refused; a conflict clause
/// of the schema, as in UNIQUE ON CONFLICT REPLACE, is for the programs that write, and is overridden.
final class RowWriter {
    private let db: Database
    private let table: TableInspection
    private let quotedTable: String
    private let keyCondition: String
    private var inserts: [ColumnMask: RawStatement] = [:]
    private var updates: [ColumnMask: RawStatement] = [:]
    /// Consecutive changes mostly carry the same columns, and comparing masks costs less than hashing one.
    private var lastInsert: (mask: ColumnMask, statement: RawStatement)?
    private var lastUpdate: (mask: ColumnMask, statement: RawStatement)?
    private var deletion: RawStatement?
    private var selection: RawStatement?

    init(_ db: Database, table: TableInspection) {
        self.db = db
        self.table = table
        quotedTable = SQLText.quote(identifier: table.name)
        keyCondition = table.stored.prefix(table.keyCount).map { "\(SQLText.quote(identifier: $0.name)) = ?" }
            .joined(separator: " AND ")
    }

    /// Inserts a row of the columns of `mask`, with `values` in ascending column order.
    ///
    /// - Returns: The extended SQLite result code; `SQLITE_DONE` when the row is in.
    func insert(_ mask: ColumnMask, values: some Collection<Value>) throws -> Int32 {
        let statement: RawStatement
        if let lastInsert, lastInsert.mask == mask {
            statement = lastInsert.statement
        } else if let known = inserts[mask] {
            statement = known
        } else {
            var names: [String] = []
            mask.forEach { names.append(SQLText.quote(identifier: table.stored[$0].name)) }
            statement = try RawStatement(
                db,
                "INSERT OR ABORT INTO \(quotedTable) (\(names.joined(separator: ", "))) "
                    + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
            inserts[mask] = statement
        }
        lastInsert = (mask, statement)
        var index: Int32 = 1
        for value in values {
            try statement.bindBorrowed(value, at: index)
            index += 1
        }
        return try checked(statement.runForResult())
    }

    /// Updates the columns of `mask` (key columns too, when their bytes change but not the key they stand for).
    ///
    /// - Returns: The result code, and whether there was such a row.
    func update(
        _ mask: ColumnMask, values: some Collection<Value>, key: some Collection<Value>
    ) throws -> (code: Int32, found: Bool) {
        let statement: RawStatement
        if let lastUpdate, lastUpdate.mask == mask {
            statement = lastUpdate.statement
        } else if let known = updates[mask] {
            statement = known
        } else {
            var assignments: [String] = []
            mask.forEach { assignments.append("\(SQLText.quote(identifier: table.stored[$0].name)) = ?") }
            statement = try RawStatement(
                db, "UPDATE OR ABORT \(quotedTable) SET \(assignments.joined(separator: ", ")) WHERE \(keyCondition)")
            updates[mask] = statement
        }
        lastUpdate = (mask, statement)
        var index: Int32 = 1
        for value in values {
            try statement.bindBorrowed(value, at: index)
            index += 1
        }
        for value in key {
            try statement.bindBorrowed(value, at: index)
            index += 1
        }
        let code = try checked(statement.runForResult())
        return (code, code == SQLITE_DONE && db.changesCount > 0)
    }

    /// - Returns: True when there was such a row.
    func delete(key: some Collection<Value>) throws -> Bool {
        let statement = try deletion ?? RawStatement(db, "DELETE FROM \(quotedTable) WHERE \(keyCondition)")
        deletion = statement
        for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
        return db.changesCount > 0
    }

    /// The visible row in the order of ``TableInspection/stored``; nil when there is none.
    func select(key: some Collection<Value>) throws -> [Value]? {
        let statement = try selection ?? makeSelection()
        selection = statement
        for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return table.stored.indices.map { statement.column(Int32($0)) }
    }

    private func makeSelection() throws -> RawStatement {
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        return try RawStatement(db, "SELECT \(columns) FROM \(quotedTable) WHERE \(keyCondition)")
    }

    /// Passes success and constraint failures on; everything else (no space, damage, interruption) ends the transaction.
    private func checked(_ code: Int32) throws -> Int32 {
        guard code == SQLITE_DONE || code & 0xFF == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
        }
        return code
    }
}
