/// The database as the steps of one version see it: inside of the transaction that brings the schema up to date.
public struct SchemaStep {
    let database: Database

    /// Runs SQL: a statement with its values, or a script without any.
    ///
    /// - Returns: How many rows were changed, without those that triggers changed.
    /// - Throws: As ``Database/execute(_:_:)``; a script is undone as a whole. Thrown on, it fails the opening, and the
    ///   file is as it was before.
    @discardableResult
    public func execute(_ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> Int {
        try database.execute(sql.binding(arguments), operation: "changing the schema")
    }

    /// The rows of a SELECT, for steps that move data.
    ///
    /// - Throws: ``StoreError`` for SQL that SQLite does not understand.
    public func rows(_ sql: SQL) throws -> [SQLRow] { try database.rows(sql) }

    /// The first column of the first row of a SELECT; nil when there is no row, or when it holds NULL.
    ///
    /// - Throws: ``StoreError``: `undecodable` for a value of another type; as ``rows(_:)`` for the SQL.
    public func value<T: ColumnValue>(_ type: T.Type, _ sql: SQL) throws -> T? { try database.value(type, sql) }

    /// Makes an index for full-text search on a table, or changes the one of that name.
    ///
    /// ```swift
    /// schema.version(3) { try $0.textIndex(TextIndex("title", "body"), on: "Article") }
    /// ```
    ///
    /// - Parameters:
    ///   - index: Names its columns as the table names them.
    ///   - table: One with a primary key.
    /// - Throws: ``StoreError``: `missingTable`; `missingColumn`; `invalidSchema` without a column, for a table without
    ///   a primary key, a column that FTS5 keeps for itself, or a name that another table has; `sql` for a tokenizer
    ///   that FTS5 does not know. Throw it on: what was begun is undone by the failure of the opening alone.
    public func textIndex(_ index: TextIndex, on table: String) throws {
        try database.write { context in
            _ = try TextIndexStore(context.db).install(
                TextIndexDefinition(
                    name: index.name(table: table), table: table, columns: index.columns,
                    tokenizer: index.tokenizer.sql, prefixes: index.prefixes))
            try context.schemaChanged()
        }
    }

    /// Drops a full-text index; does nothing when there is none of that name.
    ///
    /// - Throws: ``StoreError`` when the file cannot be written, or the tables of the index are damaged. Throw it on,
    ///   as for ``textIndex(_:on:)``.
    public func dropTextIndex(_ name: String) throws {
        try database.write { context in
            if try TextIndexStore(context.db).drop(name) { try context.schemaChanged() }
        }
    }

    /// Reads every row of a model's table, and fails on or deletes those that are not valid. Deletes are journalled.
    ///
    /// ```swift
    /// schema.version(4) { try $0.validate(Person.self, invalidRows: .delete) { !$0.name.isEmpty } }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The model whose table is read.
    ///   - invalidRows: What becomes of rows that are not valid.
    ///   - isValid: Asked for each row that decodes; one that does not decode is invalid.
    /// - Returns: How many rows were deleted.
    /// - Throws: With ``InvalidRows/fail``, ``StoreError/Code/invalidRow`` or `undecodable` for the first invalid row.
    @discardableResult
    public func validate<M: Model>(
        _ type: M.Type, invalidRows: InvalidRows, isValid: (M.Fields) throws -> Bool = { _ in true }
    ) throws -> Int {
        try database.write { try RowValidation.run(type, invalidRows, in: $0, isValid: isValid) }
    }
}
