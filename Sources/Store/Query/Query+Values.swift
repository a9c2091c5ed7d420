import Foundation
import Journal

extension Query {
    /// Some columns of the rows, as tuples; as plain values for one column.
    ///
    /// ```swift
    /// let pairs = try Person.where(\.age > 30).select(\.name, \.age, in: db)      // [(String, Int?)]
    /// let names = try Person.query.order(by: \.name).select(\.name, in: db)       // [String]
    /// ```
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `undecodable` for these columns alone: the others are not
    ///   read.
    public func select<each V>(
        _ columns: repeat ColumnPath<M, each V>, in database: Database
    ) throws -> [(repeat each V)] {
        let resolved = (repeat M.columns[keyPath: each columns])
        var names: [String] = []
        for column in repeat each resolved {
            names.append(M.schema.qualified(column.position, by: M.schema.quotedTable))
        }
        let sql = try select(SQL(raw: names.joined(separator: ", ")))
        return try database.list(sql, operation: "fetching columns", table: M.schema.table) { statement in
            var position = -1
            func next() -> Int {
                position += 1
                return position
            }
            return (repeat try (each resolved).read(statement.row, next()))
        }
    }

    /// A column of the first row; nil when there is no row.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, for this column of the first row alone.
    public func value<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try firstRow.select(path, in: database).first
    }

    /// Two columns as a dictionary; the first of several rows with one key stays.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `undecodable` for these columns alone.
    public func dictionary<K: Hashable, V>(
        _ key: ColumnPath<M, K>, _ value: ColumnPath<M, V>, in database: Database
    ) throws -> [K: V] {
        try Dictionary(select(key, value, in: database)) { first, _ in first }
    }

    // MARK: - Aggregates

    /// How many rows there are, no more than the limit.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
    public func count(in database: Database) throws -> Int {
        let sql =
            limit == nil && offset == 0
            ? try select("count(*)") : try "SELECT count(*) FROM (" + select("1") + ")"
        return try one(sql, in: database) { try $0.read($1) } ?? 0
    }

    /// True when there is no row.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
    public func isEmpty(in database: Database) throws -> Bool {
        try one("SELECT EXISTS (" + select("1") + ")", in: database) { try $0.read($1) as Bool } == false
    }

    /// The smallest value as SQLite orders them, decimals by their size; nil when there is no row, or only NULL.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `undecodable` when the result is no value of the property's
    ///   type.
    public func min<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try aggregate("min", path, in: database, read: M.columns[keyPath: path].read)
    }

    /// The greatest value as SQLite orders them, decimals by their size; nil when there is no row, or only NULL.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `undecodable` when the result is no value of the property's
    ///   type.
    public func max<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> V? {
        try aggregate("max", path, in: database, read: M.columns[keyPath: path].read)
    }

    /// The sum; 0 without a row.
    ///
    /// - Throws: ``StoreError``: `sql` when a sum of integers is greater than SQLite can count, `undecodable` when `V`
    ///   cannot hold it; otherwise as ``Query`` says.
    public func sum<V: Numeric & ColumnValue>(_ path: ColumnPath<M, V>, in database: Database) throws -> V {
        try aggregate("sum", path, in: database) { try $0.read($1) } ?? 0
    }

    /// The sum of the values that are not NULL; 0 without one.
    ///
    /// - Throws: ``StoreError``: `sql` when a sum of integers is greater than SQLite can count, `undecodable` when `V`
    ///   cannot hold it; otherwise as ``Query`` says.
    public func sum<V: Numeric & ColumnValue>(_ path: ColumnPath<M, V?>, in database: Database) throws -> V {
        try aggregate("sum", path, in: database) { try $0.read($1) } ?? 0
    }

    /// The exact sum; 0 without a row.
    ///
    /// - Throws: ``StoreError``: `sql` when a `Decimal` cannot hold it, `undecodable` for the first value that is no
    ///   decimal number; otherwise as ``Query`` says.
    public func sum(_ path: ColumnPath<M, Decimal>, in database: Database) throws -> Decimal {
        try exactSum(of: select(path, in: database))
    }

    /// The exact sum of the values that are not NULL; 0 without one.
    ///
    /// - Throws: ``StoreError``: `sql` when a `Decimal` cannot hold it, `undecodable` for the first value that is no
    ///   decimal number; otherwise as ``Query`` says.
    public func sum(_ path: ColumnPath<M, Decimal?>, in database: Database) throws -> Decimal {
        let values: [Decimal?] = try select(path, in: database)
        return try exactSum(of: values.compactMap(\.self))
    }

    private func exactSum(of values: [Decimal]) throws -> Decimal {
        // SQLite adds texts as doubles.
        var sum = Decimal()
        for value in values {
            var (a, b) = (sum, value)
            guard NSDecimalAdd(&sum, &a, &b, .plain) == .noError else {
                throw StoreError(
                    .sql, "a sum has more digits than a Decimal can hold", hint: "Add up in smaller groups.",
                    table: M.schema.table, operation: "computing")
            }
        }
        return sum
    }

    /// The mean of the values that are not NULL; nil when there is none.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
    public func average<V>(_ path: ColumnPath<M, V>, in database: Database) throws -> Double? {
        try aggregate("avg", path, in: database) { try $0.read($1) }
    }

    /// How many different values there are, without NULL.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
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
        return try one(sql, in: database, read: read)
    }

    /// The first column of the only row; nil for NULL.
    private func one<Result>(
        _ sql: SQL, in database: Database, read: (RowCursor, Int) throws -> Result
    ) throws -> Result? {
        try database.list(sql, operation: "computing", table: M.schema.table) { statement in
            try statement.isNull(0) ? nil : read(statement.row, 0)
        }.first ?? nil
    }
}
