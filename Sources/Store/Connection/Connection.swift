import GRDB
import Journal

/// One SQLite connection, as ``Database/Options/unlock`` and ``Database/Options/prepare`` see it. Valid inside of the call.
public struct Connection {
    /// GRDB's own view of the connection, for what this layer does not do. Needs `import GRDB`.
    public let grdb: GRDB.Database

    /// Runs SQL: a statement with its values, or a script without any.
    ///
    /// ```swift
    /// options.prepare = { try $0.execute("PRAGMA cache_size = -64000") }
    /// ```
    ///
    /// - Throws: GRDB's `DatabaseError` for SQL that SQLite does not accept, or that has another number of parameters;
    ///   ``StoreError/Code/unstorable`` and ``ColumnMismatch`` for a value that cannot be bound. What statements of a
    ///   script did before the one that failed, stays.
    public func execute(_ sql: SQL) throws {
        try grdb.execute(sql: sql.text, arguments: StatementArguments(sql.bindings.map { try $0.databaseValue }))
    }
}

extension ColumnValue {
    /// The value as GRDB spells it.
    fileprivate var databaseValue: DatabaseValue {
        get throws { try columnValue.databaseValue }
    }
}
