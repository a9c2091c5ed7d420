import Foundation
import Journal

extension Query {
    /// Returns a column of the first row; nil when there is no row.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; only this column of the first row is read.
    public func value<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try firstRow.select(path, in: database).first
    }

    /// Returns two columns as a dictionary. When several rows have the same key, the first one counts.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` only for these columns.
    public func dictionary<K: Hashable, V>(
        _ key: ColumnPath<M, K>, _ value: ColumnPath<M, V>, in database: Database
    ) throws -> [K: V] {
        try Dictionary(select(key, value, in: database)) { first, _ in first }
    }

    // MARK: - Aggregates

    /// Returns the number of rows, at most the limit.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func count(in database: Database) throws -> Int {
        let sql =
            limit == nil && offset == 0
            ? try select("count(*)") : try "SELECT count(*) FROM (" + select("1") + ")"
        return try one(sql, operation: "counting", in: database) { try $0.read($1) } ?? 0
    }

    /// Returns true when there is no row.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func isEmpty(in database: Database) throws -> Bool {
        try one("SELECT EXISTS (" + select("1") + ")", in: database) { try $0.read($1) as Bool } == false
    }

    /// Returns the smallest value in SQLite's order, with decimals by value; nil when there is no row, or
    /// only NULL.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` when the property's type cannot
    ///   decode the result.
    public func min<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try aggregate("min", path, in: database, read: M.columns[keyPath: path].read(_:_:))
    }

    /// Returns the greatest value in SQLite's order, with decimals by value; nil when there is no row, or
    /// only NULL.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` when the property's type cannot
    ///   decode the result.
    public func max<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try aggregate("max", path, in: database, read: M.columns[keyPath: path].read(_:_:))
    }

    /// Returns the sum; 0 without a row.
    ///
    /// - Throws: ``StoreError``: `sql` when a sum of integers overflows in SQLite; `undecodable` when `V`
    ///   cannot hold the sum; otherwise as described at ``Query``.
    public func sum<V: Numeric & ColumnValue>(_ path: ColumnPath<M, V>, in database: Database) throws -> V {
        try aggregate("sum", path, in: database) { try $0.read($1) } ?? 0
    }

    /// Returns the sum of the values that are not NULL; 0 without one.
    ///
    /// - Throws: ``StoreError``: `sql` when a sum of integers overflows in SQLite; `undecodable` when `V`
    ///   cannot hold the sum; otherwise as described at ``Query``.
    public func sum<V: Numeric & ColumnValue>(_ path: ColumnPath<M, V?>, in database: Database) throws -> V {
        try aggregate("sum", path, in: database) { try $0.read($1) } ?? 0
    }

    /// Returns the exact sum; 0 without a row.
    ///
    /// - Throws: ``StoreError``: `sql` when a `Decimal` cannot hold the sum; `undecodable` for the first
    ///   value that is not a decimal number; otherwise as described at ``Query``.
    public func sum(_ path: ColumnPath<M, Decimal>, in database: Database) throws -> Decimal {
        try exactSum(of: select(path, in: database))
    }

    /// Returns the exact sum of the values that are not NULL; 0 without one.
    ///
    /// - Throws: ``StoreError``: `sql` when a `Decimal` cannot hold the sum; `undecodable` for the first
    ///   value that is not a decimal number; otherwise as described at ``Query``.
    public func sum(_ path: ColumnPath<M, Decimal?>, in database: Database) throws -> Decimal {
        let values: [Decimal?] = try select(path, in: database)
        return try exactSum(of: values.compactMap(\.self))
    }

    private func exactSum(of values: [Decimal]) throws -> Decimal {
        // SQLite would add the texts as doubles.
        var sum = Decimal()
        for value in values {
            var (a, b) = (sum, value)
            guard NSDecimalAdd(&sum, &a, &b, .plain) == .noError else {
                throw StoreError(
                    .sql, "A sum has more digits than a Decimal can hold", hint: "Compute the sum of smaller groups.",
                    table: M.schema.table, operation: "computing")
            }
        }
        return sum
    }

    /// Returns the mean of the values that are not NULL; nil when there is none.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func average<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> Double? {
        try aggregate("avg", path, in: database) { try $0.read($1) }
    }

    /// Returns the number of distinct values, without NULL.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func countDistinct<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> Int {
        try aggregate("count", path, distinct: true, in: database) { try $0.read($1) } ?? 0
    }

    private func aggregate<V, Result>(
        _ function: String, _ path: ColumnPath<M, V>, distinct: Bool = false, in database: Database,
        read: (RowCursor, Int) throws -> Result
    ) throws -> Result? {
        let column = M.schema.qualified(M.columns[keyPath: path].position, by: M.schema.quotedTable)
        let order = M.columns[keyPath: path].isDecimal ? " COLLATE \(DecimalFunctions.collation)" : ""
        let sql: SQL
        if limit == nil, offset == 0 {
            sql = try select(SQL(raw: "\(function)(\(distinct ? "DISTINCT " : "")\(column)\(order))"))
        } else {
            sql =
                try SQL(raw: "SELECT \(function)(\(distinct ? "DISTINCT " : "")v\(order)) FROM (")
                + select(SQL(raw: "\(column) AS v"))
                + ")"
        }
        do { return try one(sql, in: database, read: read) } catch let error as StoreError {
            // The result is called like its expression, which Store wrote.
            guard error.code == .undecodable else { throw error }
            throw error.of(column: M.columns[keyPath: path].name).of(sql: sql.text)
        }
    }

    /// Returns the first column of the only row; nil for NULL.
    private func one<Result>(
        _ sql: SQL, operation: String = "computing", in database: Database,
        read: (RowCursor, Int) throws -> Result
    ) throws -> Result? {
        try database.list(sql, operation: operation, table: M.schema.table) { statement in
            try statement.isNull(0) ? nil : read(statement.row, 0)
        }.first ?? nil
    }
}
