/// The database for the steps of one version, inside the transaction that migrates the schema.
public struct SchemaStep {
    let database: Database

    /// Runs SQL: one statement with its values, or a script without values.
    ///
    /// - Returns: The number of changed rows, without the rows that triggers changed.
    /// - Throws: What ``Database/execute(_:_:)`` throws; a script is undone as a whole. When the step
    ///   rethrows the error, the opening fails and the file is unchanged.
    @discardableResult
    public func execute(_ sql: SQL, _ arguments: (any ColumnValue)?...) throws -> Int {
        try database.execute(sql.binding(arguments), operation: "changing the schema")
    }

    /// Returns the rows of a SELECT, for steps that move data.
    ///
    /// - Throws: ``StoreError`` for SQL that SQLite does not accept.
    public func rows(_ sql: SQL) throws -> [SQLRow] { try database.rows(sql) }

    /// Returns the first column of the first row of a SELECT; nil when there is no row, or when it holds
    /// NULL.
    ///
    /// - Throws: ``StoreError/Code/undecodable`` for a value of another type; what ``rows(_:)`` throws for
    ///   the SQL.
    public func value<T: ColumnValue>(_ type: T.Type, _ sql: SQL) throws -> T? { try database.value(type, sql) }

    /// Creates a full-text search index on a table, or replaces the index of the same name.
    ///
    /// ```swift
    /// schema.version(3) { try $0.textIndex(TextIndex("title", "body"), on: "Article") }
    /// ```
    ///
    /// - Parameters:
    ///   - index: The index. It names columns by their names in the table.
    ///   - table: A table with a primary key.
    /// - Throws: ``StoreError``: `missingTable`; `missingColumn`; `invalidSchema` for an index without
    ///   columns, for a table without a primary key, for a column name that FTS5 reserves, or for a name that
    ///   another table has; `sql` for a tokenizer that FTS5 does not know. Rethrow the error: only the
    ///   failure of the opening undoes what was begun.
    public func textIndex(_ index: TextIndex, on table: String) throws {
        try database.write { context in
            _ = try TextIndexStore(context.db).install(
                TextIndexDefinition(
                    name: index.name(table: table), table: table, columns: index.columns,
                    tokenizer: index.tokenizer.sql, prefixes: index.prefixes))
            try context.schemaChanged()
        }
    }

    /// Drops a full-text index; does nothing when no index has that name.
    ///
    /// - Throws: ``StoreError`` when the file cannot be written, or the tables of the index are damaged.
    ///   Rethrow it, as for ``textIndex(_:on:)``.
    public func dropTextIndex(_ name: String) throws {
        try database.write { context in
            if try TextIndexStore(context.db).drop(name) { try context.schemaChanged() }
        }
    }

    /// Reads every row of a model's table, and fails on or deletes the rows that are not valid. Deletes are
    /// journalled.
    ///
    /// ```swift
    /// schema.version(4) { try $0.validate(Person.self, invalidRows: .delete) { !$0.name.isEmpty } }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The model whose table is read.
    ///   - invalidRows: The treatment of rows that are not valid.
    ///   - isValid: Called for each row that can be decoded. A row that cannot be decoded is invalid.
    /// - Returns: The number of deleted rows.
    /// - Throws: With ``InvalidRows/fail``, ``StoreError/Code/undecodable`` for the first row that cannot be
    ///   decoded, otherwise `invalidRow` with the number of rows that are not valid.
    @discardableResult
    public func validate<M: Model>(
        _ type: M.Type, invalidRows: InvalidRows, isValid: (M.Fields) throws -> Bool = { _ in true }
    ) throws -> Int {
        try database.write { try RowValidation.run(type, invalidRows, in: $0, isValid: isValid) }
    }
}
