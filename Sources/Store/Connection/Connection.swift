import GRDB
import Journal

/// One SQLite connection, as ``Database/Options/unlock`` and ``Database/Options/prepare`` receive it. Valid
/// only during the call.
public struct Connection {
    /// GRDB's handle of the connection, for what Tandem does not offer. Needs `import GRDB`.
    public let grdb: GRDB.Database

    /// Runs SQL: one statement with its values, or a script without values.
    ///
    /// ```swift
    /// options.prepare = { try $0.execute("PRAGMA cache_size = -64000") }
    /// ```
    ///
    /// - Throws: GRDB's `DatabaseError` for SQL that SQLite does not accept, or whose number of parameters
    ///   differs from the number of values; ``StoreError/Code/unstorable`` and ``ColumnMismatch`` for a value
    ///   that cannot be bound. Statements of a script before the failed one keep their effect.
    public func execute(_ sql: SQL) throws {
        try grdb.execute(sql: sql.text, arguments: StatementArguments(sql.bindings.map { try $0.databaseValue }))
    }
}

extension ColumnValue {
    /// The value as a GRDB value.
    fileprivate var databaseValue: DatabaseValue {
        get throws { try columnValue.databaseValue }
    }
}
