import Journal

/// Rows of one model: which, in which order, and how many. Nothing is read before one of its methods asks for a result.
///
/// ```swift
/// let old = Person.where(\.age > 60 && \.name != nil).order(by: \.name).limit(10)
/// let people = try old.all(in: db)
/// let number = try old.count(in: db)
/// ```
///
/// What its results throw is a ``StoreError``: `undecodable` for the first row with a value that its property's type
/// cannot take; `unstorable` for a value in a condition that its column cannot store, and `argumentCount` for one in
/// raw SQL that is given twice or not at all; `sql`, `missingTable` or `missingColumn` for what does not fit the
/// schema; `closed`. Nothing is returned then, and objects that are held keep their values.
public struct Query<M: TableModel>: Sendable {
    private(set) var condition: Condition<M>?
    private(set) var ordering: [Ordering<M>] = []
    private(set) var limit: Int?
    private(set) var offset = 0

    init(_ condition: Condition<M>? = nil) { self.condition = condition }

    /// The rows of this query for which `condition` holds too.
    public func `where`(_ condition: Condition<M>) -> Query {
        var query = self
        query.condition = self.condition.map { $0 && condition } ?? condition
        return query
    }

    /// The rows in the order of a column, smallest first; behind the orders given before.
    public func order<V>(by path: ColumnPath<M, V>) -> Query { order(.ascending(path)) }

    /// The rows in these orders, the first one first; behind the orders given before.
    public func order(_ terms: Ordering<M>...) -> Query {
        var query = self
        query.ordering += terms
        return query
    }

    /// The first `count` rows after `offset` ones; a negative `count` is no limit. Of several limits the last one
    /// holds. Name an order too: SQLite promises none by itself.
    public func limit(_ count: Int, offset: Int = 0) -> Query {
        var query = self
        query.limit = count
        query.offset = offset
        return query
    }

    /// The query of the first row alone.
    var firstRow: Query { limit(Swift.min(limit ?? 1, 1), offset: offset) }

    // MARK: - SQL

    /// `SELECT … FROM table WHERE … ORDER BY … LIMIT …`.
    func select(_ selection: SQL) throws -> SQL {
        try "SELECT " + selection + SQL(raw: " FROM \(M.schema.quotedTable)") + tail()
    }

    /// Everything behind the table's name.
    func tail(_ table: String? = nil) throws -> SQL {
        var sql = try filter(table)
        if !ordering.isEmpty {
            let terms = try ordering.map { try $0.template.sql(table) }
            sql = sql + " ORDER BY " + terms.dropFirst().reduce(terms[0]) { $0 + ", " + $1 }
        }
        // -1 is "no limit" to SQLite, which knows no OFFSET without a LIMIT.
        if limit != nil || offset != 0 { sql = sql + " LIMIT \(Swift.max(limit ?? -1, -1)) OFFSET \(offset)" }
        return sql
    }

    private func filter(_ table: String? = nil) throws -> SQL {
        try condition.map { try " WHERE " + $0.template.sql(table) } ?? ""
    }

    /// The WHERE of an UPDATE or DELETE of these rows.
    func target() throws -> SQL {
        if limit == nil, offset == 0 { return try filter() }
        let key = M.schema.keyList(from: M.schema.quotedTable)
        return try SQL(raw: " WHERE \(M.schema.key.count == 1 ? key : "(\(key))") IN (") + select(SQL(raw: key)) + ")"
    }
}

extension TableModel {
    /// The rows for which `condition` holds.
    ///
    /// ```swift
    /// let people = try Person.where(\.age > 30 && \.name == nil).order(by: \.name).limit(5).all(in: db)
    /// ```
    public static func `where`(_ condition: Condition<Self>) -> Query<Self> { Query(condition) }

    /// The rows for which the SQL `condition` holds, to be refined further:
    /// `Person.matching("name LIKE \(pattern)").order(by: \.age)`.
    public static func matching(_ condition: SQL) -> Query<Self> { Query(.sql(condition)) }

    /// Every row.
    public static var query: Query<Self> { Query() }
}
