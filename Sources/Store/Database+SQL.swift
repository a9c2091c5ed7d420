import GRDB
import GRDBSQLite
import Journal

extension Database {
    /// Runs SQL that writes: one statement with its values, or a script of several statements.
    ///
    /// Live objects follow, and the journal records every changed row. The call is one transaction, or a part
    /// of the calling thread's transaction.
    ///
    /// - Parameters:
    ///   - sql: One or more statements. Interpolated values are bound.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    /// - Returns: The number of rows that the statements changed, without the rows that triggers changed.
    /// - Throws: ``StoreError``: `sql`, `missingTable` and `missingColumn` for a statement that SQLite does
    ///   not accept; `argumentCount`; `unstorable` for a value that cannot be bound; `transactionControl`; a
    ///   constraint's code; `writeInsideRead`, `readOnly`, `busy`, `full`, `closed`. A script is undone as a
    ///   whole.
    @discardableResult
    public func execute(_ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> Int {
        try execute(sql.binding(arguments), operation: "executing SQL")
    }

    func execute(_ sql: SQL, operation: String, table: String? = nil) throws -> Int {
        do {
            return try write(operation: operation, table: table) { context in
                // The savepoint undoes all statements of a script that fails inside a transaction.
                try context.inSavepoint {
                    try context.confirm()
                    let (changes, changedSchema) = try context.runScript(sql)
                    if changedSchema { try context.schemaChanged() }
                    try context.absorb()
                    return changes
                }
            }
        } catch let error as StoreError {
            throw error.during(operation, table: table)
        }
    }

    /// Returns the rows of any SELECT.
    ///
    /// - Parameters:
    ///   - sql: One statement. Interpolated values are bound. A statement that writes and returns rows, such
    ///     as `INSERT … RETURNING`, needs a transaction.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    /// - Returns: The rows in the order of the query, all of them in memory.
    /// - Throws: ``StoreError``: `sql`, `missingTable` and `missingColumn` for a statement that SQLite does
    ///   not accept; `argumentCount`; `unstorable` for a value that cannot be bound; `transactionControl`;
    ///   `readOnly` for a statement that writes, outside a transaction; `closed`.
    public func rows(_ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> [SQLRow] {
        try query(sql.binding(arguments)) { statement, _ in
            let columns = statement.columnNames
            var rows: [SQLRow] = []
            while try statement.step() { rows.append(SQLRow(columns: columns, values: statement.values)) }
            return rows
        }
    }

    /// Returns the rows of any SELECT as values of a struct. Columns are matched to properties by name.
    ///
    /// - Throws: ``StoreError/Code/missingColumn`` when the SELECT lacks the column of a property that has no
    ///   default value; ``StoreError/Code/undecodable`` for a value of another type; what ``rows(_:_:)``
    ///   throws.
    public func rows<Row: ValueModel>(
        as type: Row.Type, _ sql: SQL, _ arguments: (any ColumnValue)?...
    ) throws -> [Row] {
        try rows(as: type, sql.binding(arguments))
    }

    func rows<Row: ValueModel>(as type: Row.Type, _ sql: SQL, table: String? = nil) throws -> [Row] {
        let reading = RowReading(as: type, sql)
        return try query(reading.sql, table: table) { statement, context in
            let read = reading.reader(statement)
            var rows: [Row] = []
            while try statement.step() { if let row = try read(context) { rows.append(row) } }
            return rows
        }
    }

    /// Returns the first column of the first row; nil when there is no row, or when it holds NULL.
    ///
    /// - Throws: ``StoreError/Code/undecodable`` for a value of another type, and what ``rows(_:_:)`` throws.
    public func value<T: ColumnValue>(_ type: T.Type, _ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> T? {
        try value(type, sql.binding(arguments), operation: "querying")
    }

    func value<T: ColumnValue>(_ type: T.Type, _ sql: SQL, operation: String, table: String? = nil) throws -> T? {
        try query(sql, operation: operation, table: table) { statement, _ in
            guard try statement.step() else { return nil }
            do {
                let value: T? = try statement.row.read(0)
                return value
            } catch let error as StoreError {
                throw error.ofResult.of(sql: statement.text)
            }
        }
    }

    /// Returns the first column of every row.
    ///
    /// - Throws: ``StoreError/Code/undecodable`` for a value of another type, and for NULL unless `T` is
    ///   optional; what ``rows(_:_:)`` throws.
    public func values<T: ColumnValue>(_ type: T.Type, _ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> [T] {
        try query(sql.binding(arguments)) { statement, _ in
            var values: [T] = []
            while try statement.step() {
                do { values.append(try statement.row.read(0)) } catch let error as StoreError {
                    throw error.ofResult.of(sql: statement.text)
                }
            }
            return values
        }
    }

    private func query<Result>(
        _ sql: SQL, operation: String = "querying", table: String? = nil,
        _ body: (PreparedStatement, AccessContext) throws -> Result
    ) throws -> Result {
        do {
            return try access(operation: operation, table: table) { context in
                let writer = context as? WriteContext
                try writer?.confirm()
                let statement = try context.prepare(sql.text)
                try Database.refuseTransactionControl(sql.text)
                func run() throws -> Result {
                    try StatementOwner.program.runs {
                        try statement.run { statement in
                            try statement.bind(sql.bindings)
                            return try body(statement, context)
                        }
                    }
                }
                guard let writer, !statement.isReadOnly else { return try run() }
                // An `INSERT … RETURNING` writes too: when a returned value cannot be read, the savepoint
                // undoes the write.
                return try writer.inSavepoint {
                    let result = try run()
                    try writer.absorb()
                    return result
                }
            }
        } catch let error as StoreError {
            throw error.during(operation, table: table)
        }
    }

    /// Refuses SQL that begins or ends transactions. Only ``transaction(_:)`` keeps live objects and events
    /// in step with the file.
    static func refuseTransactionControl(_ sql: String) throws {
        let keyword = SQLPlaceholders.keyword(sql)
        guard ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"].contains(keyword) else { return }
        throw StoreError(
            .transactionControl, "\(keyword) cannot be executed as SQL", hint: "Use `db.transaction { … }`.")
    }
}

extension WriteContext {
    /// Runs the statements of a script one after another.
    ///
    /// - Returns: The changed rows, and whether a statement may have changed the schema.
    func runScript(_ sql: SQL) throws -> (changes: Int, changedSchema: Bool) {
        guard let connection = db.sqliteConnection else { throw StoreError.closed }
        var changes = 0
        var changedSchema = false
        var remaining = sql.bindings[...]
        try sql.text.withCString { start in
            var next: UnsafePointer<CChar>? = start
            while let current = next, current.pointee != 0 {
                var handle: OpaquePointer?
                var tail: UnsafePointer<CChar>?
                guard sqlite3_prepare_v3(connection, current, -1, 0, &handle, &tail) == SQLITE_OK else {
                    throw StoreError(connection: connection, sql: String(cString: current))
                }
                next = tail
                // White space or a comment gives no statement.
                guard let handle else { continue }
                defer { sqlite3_finalize(handle) }
                let text = String(cString: sqlite3_sql(handle))
                try Database.refuseTransactionControl(text)
                let count = Int(sqlite3_bind_parameter_count(handle))
                guard count <= remaining.count else { throw argumentCount(sql) }
                for (position, value) in remaining.prefix(count).enumerated() {
                    do {
                        try value.bind(to: ParameterCursor(statement: handle), at: position)
                    } catch {
                        throw StoreError.unstorable(error, column: nil)
                    }
                }
                remaining = remaining.dropFirst(count)
                changes += try StatementOwner.program.runs { try run(handle, connection) }
                changedSchema = changedSchema || WriteContext.mayChangeSchema(text)
                try checkOpen()
            }
        }
        guard remaining.isEmpty else { throw argumentCount(sql) }
        return (changes, changedSchema)
    }

    private func run(_ handle: OpaquePointer, _ connection: OpaquePointer) throws -> Int {
        let before = sqlite3_total_changes(connection)
        var code = sqlite3_step(handle)
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        guard code == SQLITE_DONE else { throw StoreError(statement: handle) }
        // `sqlite3_changes` keeps the count of an earlier statement when this one changed nothing.
        return sqlite3_total_changes(connection) == before ? 0 : Int(sqlite3_changes(connection))
    }

    private func argumentCount(_ sql: SQL) -> StoreError {
        StoreError(
            .argumentCount,
            "\(StoreError.count(sql.bindings.count, "value")) \(sql.bindings.count == 1 ? "was" : "were") given, and "
                + "the SQL has another number of parameters",
            hint: "Give one value for each `?`, in the order of the statements.")
    }

    private static func mayChangeSchema(_ sql: String) -> Bool {
        !["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "SELECT", "VALUES", "EXPLAIN"].contains(
            SQLPlaceholders.keyword(sql))
    }
}
