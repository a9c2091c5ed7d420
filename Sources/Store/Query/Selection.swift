import Journal

/// Some columns of the rows of a query. Nothing is read before one of its methods asks for a result; it can
/// also be the list of a condition `.in`.
///
/// ```swift
/// let cities = try Person.where(\.age > 30).select(\.city).distinct().all(in: db)          // [String]
/// let places = try Person.query.select(\.city, \.country).distinct().all(in: db)           // [(String, String)]
/// ```
///
/// Its results throw what ``Query/select(_:in:)`` throws.
public struct Selection<M: TableModel, Element>: Sendable {
    private let query: Query<M>
    private let names: String
    private let read: @Sendable (RowCursor) throws -> Element
    private var isDistinct = false
    /// How the selected columns store their values.
    let forms: [StoredForm]

    fileprivate init(
        _ query: Query<M>, _ columns: [(name: String, form: StoredForm)],
        read: @escaping @Sendable (RowCursor) throws -> Element
    ) {
        self.query = query
        names = columns.map(\.name).joined(separator: ", ")
        forms = columns.map(\.form)
        self.read = read
    }

    /// Keeps one of several rows with the same values in these columns, as SQLite compares them: texts by the
    /// collation of their column, decimals by their text.
    public func distinct() -> Selection {
        var selection = self
        selection.isDistinct = true
        return selection
    }

    /// Returns the columns, as tuples; as plain values for one column.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` only for these columns.
    public func all(in database: Database) throws -> [Element] { try all(query, in: database) }

    /// Returns the columns of the first row; nil when there is no row.
    ///
    /// - Throws: What ``all(in:)`` throws; further rows are not read.
    public func first(in database: Database) throws -> Element? { try all(query.firstRow, in: database).first }

    /// Returns the number of rows.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func count(in database: Database) throws -> Int {
        let sql = try "SELECT count(*) FROM (" + sql(query) + ")"
        return try database.value(Int.self, sql, operation: "counting", table: M.schema.table) ?? 0
    }

    /// The SELECT of the only column, under another name.
    func sql(as name: String) throws -> SQL {
        try query.select(SQL(raw: "\(isDistinct ? "DISTINCT " : "")\(names) AS \(name)"))
    }

    private func sql(_ query: Query<M>) throws -> SQL {
        try query.select(SQL(raw: isDistinct ? "DISTINCT \(names)" : names))
    }

    private func all(_ query: Query<M>, in database: Database) throws -> [Element] {
        try database.list(sql(query), operation: "fetching columns", table: M.schema.table) { try read($0.row) }
    }
}

extension Query {
    /// Selects a column of the rows, for a result or for a condition of another query.
    public func select<V>(_ column: ColumnPath<M, V>) -> Selection<M, V> {
        let resolved = M.columns[keyPath: column]
        let name = M.schema.qualified(resolved.position, by: M.schema.quotedTable)
        return Selection(self, [(name, resolved.form)]) { try resolved.read($0, 0) }
    }

    /// Selects some columns of the rows.
    public func select<each V>(_ columns: repeat ColumnPath<M, each V>) -> Selection<M, (repeat each V)> {
        let resolved = (repeat M.columns[keyPath: each columns])
        var described: [(name: String, form: StoredForm)] = []
        for column in repeat each resolved {
            described.append((M.schema.qualified(column.position, by: M.schema.quotedTable), column.form))
        }
        return Selection(self, described) { row in
            var position = -1
            func next() -> Int {
                position += 1
                return position
            }
            return (repeat try (each resolved).read(row, next()))
        }
    }

    /// Returns some columns of the rows, as tuples; as plain values for one column.
    ///
    /// ```swift
    /// let pairs = try Person.where(\.age > 30).select(\.name, \.age, in: db)      // [(String, Int?)]
    /// let names = try Person.query.order(by: \.name).select(\.name, in: db)       // [String]
    /// ```
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` only for these columns, because
    ///   others are not read.
    public func select<each V>(
        _ columns: repeat ColumnPath<M, each V>, in database: Database
    ) throws -> [(repeat each V)] { try select(repeat each columns).all(in: database) }
}
