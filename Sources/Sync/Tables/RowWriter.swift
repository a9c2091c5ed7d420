import GRDB
import GRDBSQLite
import Journal

/// The statements that write merged rows to one table. Each reports by its result code what a constraint
/// refused. A conflict clause of the schema, such as UNIQUE ON CONFLICT REPLACE, is meant for local programs;
/// the statements override it.
final class RowWriter {
    private let db: Database
    /// The indexes that triggers keep; nil where there are none.
    private let indexes: IndexTriggers?
    private let table: TableInspection
    private let quotedTable: String
    private let keyCondition: String
    private var inserts: [ColumnMask: RawStatement] = [:]
    private var updates: [ColumnMask: RawStatement] = [:]
    /// By the number of columns; each statement inserts the first columns of the table.
    private var batchInserts: [Int: RawStatement] = [:]
    private var deletion: RawStatement?
    private var selection: RawStatement?

    private static let mostRows = 16
    /// Below SQLite's own limit (https://sqlite.org/limits.html, point 9).
    private static let mostParameters = 16_000

    init(_ db: Database, table: TableInspection, indexes: IndexTriggers? = nil) {
        self.db = db
        self.indexes = indexes
        self.table = table
        quotedTable = SQLText.quote(identifier: table.name)
        keyCondition = table.keyCondition()
    }

    // MARK: - One row

    /// Inserts a row with the columns of `mask`; `values` are in ascending column order.
    ///
    /// - Returns: The extended SQLite result code; `SQLITE_DONE` when the row was inserted.
    func insert(_ mask: ColumnMask, values: ArraySlice<Value>) throws -> Int32 {
        let statement = try inserts[mask] ?? prepareInsert(of: mask, rows: 1, or: "ABORT")
        inserts[mask] = statement
        try statement.bindBorrowed(values, from: 1)
        return try run(statement)
    }

    /// The statement that updates the columns of `mask`, for ``update(_:values:key:)`` and
    /// ``run(_:values:keyCount:)``. It can be run repeatedly.
    func update(of mask: ColumnMask) throws -> RawStatement {
        if let statement = updates[mask] { return statement }
        var assignments: [String] = []
        mask.forEach { assignments.append("\(SQLText.quote(identifier: table.stored[$0].name)) = ?") }
        let statement = try RawStatement(
            db, "UPDATE OR ABORT \(quotedTable) SET \(assignments.joined(separator: ", ")) WHERE \(keyCondition)")
        updates[mask] = statement
        return statement
    }

    /// Updates the columns of `mask`. Key columns may be among them when their bytes change but still stand
    /// for the same key.
    ///
    /// - Returns: The result code, and whether a row was updated.
    func update(_ mask: ColumnMask, values: [Value], key: [Value]) throws -> (code: Int32, found: Bool) {
        let statement = try update(of: mask)
        try statement.bindBorrowed(values[...], from: 1)
        try statement.bindBorrowed(key[...], from: Int32(1 + values.count))
        let code = try run(statement)
        return (code, code == SQLITE_DONE && statement.changesCount > 0)
    }

    /// Runs a statement of ``update(of:)`` with values in the order of a change: the key first.
    ///
    /// - Returns: True when a row was updated.
    func run(_ update: RawStatement, values: ArraySlice<Value>, keyCount: Int) throws -> Bool {
        try update.bindBorrowed(values.dropFirst(keyCount), from: 1)
        try update.bindBorrowed(values.prefix(keyCount), from: Int32(1 + values.count - keyCount))
        return try run(update) == SQLITE_DONE && update.changesCount > 0
    }

    /// Deletes the row with the key `key`.
    ///
    /// - Returns: True when there was such a row.
    func delete(key: some Collection<Value>) throws -> Bool {
        let statement = try deletion ?? RawStatement(db, "DELETE FROM \(quotedTable) WHERE \(keyCondition)")
        deletion = statement
        for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        return try run(statement) == SQLITE_DONE && statement.changesCount > 0
    }

    /// The visible row with the key `key`, in the order of ``TableInspection/stored``; nil when there is
    /// none.
    func select(key: some Collection<Value>) throws -> [Value]? {
        let statement = try selection ?? makeSelection()
        selection = statement
        for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return table.stored.indices.map { statement.column(Int32($0)) }
    }

    // MARK: - Many rows

    /// The number of rows that one statement of ``insertBatch(_:width:)`` inserts.
    static func batchSize(width: Int) -> Int { max(1, min(mostRows, mostParameters / max(1, width))) }

    /// Inserts ``batchSize(width:)`` rows with the first `width` columns. Starting a statement costs SQLite
    /// half as much as a row.
    ///
    /// OR FAIL keeps the rows before a refused one. To be able to undo them, SQLite would first copy each
    /// page that they touch (https://sqlite.org/lang_conflict.html).
    ///
    /// - Returns: False when a row was refused; any number of the rows before it may have been inserted.
    func insertBatch(_ values: ArraySlice<Value>, width: Int) throws -> Bool {
        let rows = RowWriter.batchSize(width: width)
        let statement = try batchInserts[width] ?? prepareInsert(of: ColumnMask(all: width), rows: rows, or: "FAIL")
        batchInserts[width] = statement
        try statement.bindBorrowed(values, from: 1)
        return try run(statement) == SQLITE_DONE
    }

    // MARK: - Pieces

    private func prepareInsert(of mask: ColumnMask, rows: Int, or onConflict: String) throws -> RawStatement {
        var names: [String] = []
        mask.forEach { names.append(SQLText.quote(identifier: table.stored[$0].name)) }
        let parameters = "(\(names.map { _ in "?" }.joined(separator: ", ")))"
        return try RawStatement(
            db,
            "INSERT OR \(onConflict) INTO \(quotedTable) (\(names.joined(separator: ", "))) VALUES "
                + Array(repeating: parameters, count: rows).joined(separator: ", "))
    }

    private func makeSelection() throws -> RawStatement {
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        return try RawStatement(db, "SELECT \(columns) FROM \(quotedTable) WHERE \(keyCondition)")
    }

    /// Runs a statement. When it finds an index damaged, it runs again after the index was built anew.
    private func run(_ statement: RawStatement) throws -> Int32 {
        var code = statement.runForResult()
        if code == ResultCode.SQLITE_CORRUPT_VTAB.rawValue, try indexes?.rebuild(table: table.name) == true {
            code = statement.runForResult()
        }
        return try checked(code)
    }

    /// Returns success and constraint failures. Throws for everything else (no space, damage, interruption),
    /// which ends the transaction.
    ///
    /// A function that fails on the row's values, in a CHECK, an index or a generated column, refuses the row
    /// like a CHECK: json_extract() of a text that is no JSON.
    private func checked(_ code: Int32) throws -> Int32 {
        if code == SQLITE_ERROR { return ResultCode.SQLITE_CONSTRAINT_CHECK.rawValue }
        guard code == SQLITE_DONE || code & 0xFF == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
        }
        return code
    }
}
