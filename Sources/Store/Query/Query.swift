import Journal

/// A query of rows of one model, with their order and number. Nothing is read before one of its methods asks
/// for a result.
///
/// ```swift
/// let old = Person.where(\.age > 60 && \.name != nil).order(by: \.name).limit(10)
/// let people = try old.all(in: db)
/// let number = try old.count(in: db)
/// ```
///
/// Its results throw a ``StoreError``: `undecodable` for the first row with a value that its property's type
/// cannot decode; `unstorable` for a value in a condition that its column cannot store; `argumentCount` for
/// raw SQL whose placeholders and values do not match; `sql`, `missingTable` or `missingColumn` for SQL that
/// does not fit the schema; `closed`. Nothing is returned then, and objects in memory keep their values.
public struct Query<M: TableModel>: Sendable {
    private(set) var condition: Condition<M>?
    private(set) var ordering: [Ordering<M>] = []
    private(set) var limit: Int?
    private(set) var offset = 0

    init(_ condition: Condition<M>? = nil) { self.condition = condition }

    /// Keeps the rows that also meet `condition`.
    public func `where`(_ condition: Condition<M>) -> Query {
        var query = self
        query.condition = self.condition.map { $0 && condition } ?? condition
        return query
    }

    /// Keeps the rows that also meet a condition in SQL; see the type's `where` for SQL.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE, without ORDER BY and LIMIT.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    @_disfavoredOverload
    public func `where`(_ condition: SQL, _ arguments: (any ColumnValue)?...) -> Query {
        self.where(.sql(condition, values: arguments))
    }

    /// Adds columns to the order, smallest first; earlier columns take precedence.
    public func order<each V>(by paths: repeat ColumnPath<M, each V>) -> Query {
        var query = self
        for path in repeat each paths { query.ordering.append(.ascending(path)) }
        return query
    }

    /// Adds a column to the order: `order(by: \.age, .descending)`.
    public func order<V>(by path: ColumnPath<M, V>, _ direction: OrderDirection) -> Query {
        order(Ordering(path, direction))
    }

    /// Adds terms to the order; earlier terms take precedence.
    public func order(_ terms: Ordering<M>...) -> Query {
        var query = self
        query.ordering += terms
        return query
    }

    /// The query in exactly this order.
    func order(terms: [Ordering<M>]) -> Query {
        var query = self
        query.ordering = terms
        return query
    }

    /// Limits the result to the first `count` rows after `offset` rows; a negative `count` means no limit.
    /// The last of several limits counts. Set an order too, because SQLite guarantees none by itself.
    public func limit(_ count: Int, offset: Int = 0) -> Query {
        var query = self
        query.limit = count
        query.offset = offset
        return query
    }

    /// The query of only the first row.
    var firstRow: Query { limit(Swift.min(limit ?? 1, 1), offset: offset) }

    // MARK: - SQL

    /// `SELECT … FROM table WHERE … ORDER BY … LIMIT …`.
    func select(_ selection: SQL) throws -> SQL {
        do {
            return try "SELECT " + selection + SQL(raw: " FROM \(M.schema.quotedTable)") + tail()
        } catch let error as StoreError {
            throw error.during("querying", table: M.schema.table)
        }
    }

    /// The SQL after the table's name.
    func tail(_ table: String? = nil) throws -> SQL {
        var sql = try filter(table)
        if !ordering.isEmpty {
            let terms = try ordering.map { try $0.template.sql(table) }
            sql = sql + " ORDER BY " + terms.dropFirst().reduce(terms[0]) { $0 + ", " + $1 }
        }
        // -1 means no limit in SQLite, which has no OFFSET without a LIMIT.
        if limit != nil || offset != 0 { sql = sql + " LIMIT \(Swift.max(limit ?? -1, -1)) OFFSET \(offset)" }
        return sql
    }

    private func filter(_ table: String? = nil) throws -> SQL {
        try condition.map { try " WHERE " + $0.template.sql(table) } ?? ""
    }

    /// The WHERE of an UPDATE or DELETE of these rows.
    func target() throws -> SQL {
        if limit == nil, offset == 0 {
            do { return try filter() } catch let error as StoreError {
                throw error.during("changing rows", table: M.schema.table)
            }
        }
        let key = M.schema.keyList(from: M.schema.quotedTable)
        return try SQL(raw: " WHERE \(M.schema.key.count == 1 ? key : "(\(key))") IN (") + select(SQL(raw: key)) + ")"
    }
}

extension TableModel {
    /// Queries the rows that meet `condition`.
    ///
    /// ```swift
    /// let people = try Person.where(\.age > 30 && \.name == nil).order(by: \.name).limit(5).all(in: db)
    /// ```
    public static func `where`(_ condition: Condition<Self>) -> Query<Self> { Query(condition) }

    /// Queries the rows that meet a condition in SQL, in which `$T` stands for the table and `$PK` for the
    /// primary key.
    ///
    /// ```swift
    /// let old = try Person.where("age > \(60) AND name <> \(name)").order(by: \.name).limit(10).all(in: db)
    /// let number = try Person.where("age > ?", 60).count(in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE, without ORDER BY and LIMIT, for which a query has `order` and
    ///     `limit`. Interpolated values are bound.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    @_disfavoredOverload
    public static func `where`(_ condition: SQL, _ arguments: (any ColumnValue)?...) -> Query<Self> {
        Query(.sql(condition, values: arguments))
    }

    /// The query of all rows.
    public static var query: Query<Self> { Query() }
}
