import GRDBSQLite
import Journal

/// The condition that joins rows of two models.
public struct JoinCondition<A: Model, B: Model>: Sendable {
    fileprivate enum Part: Sendable {
        case columns(Int, Int)
        case sql(SQL)
    }

    fileprivate let parts: [Part]

    /// A condition in raw SQL. When a model is joined with itself, its right side has the alias `joined`.
    public static func sql(_ sql: SQL) -> JoinCondition { JoinCondition(parts: [.sql(sql)]) }

    fileprivate static func equal<V, W>(_ a: ColumnPath<A, V>, _ b: ColumnPath<B, W>) -> JoinCondition {
        JoinCondition(parts: [.columns(A.columns[keyPath: a].position, B.columns[keyPath: b].position)])
    }

    /// The condition for two tables, or aliases of them, of these quoted names.
    func sql(left: String = A.schema.quotedTable, right: String) -> SQL {
        let terms = parts.map { part -> SQL in
            switch part {
            case .columns(let a, let b):
                SQL(raw: "\(A.schema.qualified(a, by: left)) = \(B.schema.qualified(b, by: right))")
            case .sql(let sql): "(" + sql + "\n)"
            }
        }
        return terms.dropFirst().reduce(terms[0]) { $0 + " AND " + $1 }
    }
}

/// The two columns hold equal values, as SQLite compares them.
public func == <A, B, V>(a: ColumnPath<A, V>, b: ColumnPath<B, V>) -> JoinCondition<A, B> { .equal(a, b) }
/// The two columns hold equal values; NULL in the right column matches nothing.
public func == <A, B, V>(a: ColumnPath<A, V>, b: ColumnPath<B, V?>) -> JoinCondition<A, B> { .equal(a, b) }
/// The two columns hold equal values; NULL in the left column matches nothing.
public func == <A, B, V>(a: ColumnPath<A, V?>, b: ColumnPath<B, V>) -> JoinCondition<A, B> { .equal(a, b) }

// A reference matches the key of the row that it refers to.

/// The right row refers to the left one.
public func == <A, B>(a: ColumnPath<A, A.ID>, b: ColumnPath<B, Ref<A>>) -> JoinCondition<A, B> { .equal(a, b) }
/// The right row refers to the left one; a reference that is nil matches nothing.
public func == <A, B>(a: ColumnPath<A, A.ID>, b: ColumnPath<B, Ref<A>?>) -> JoinCondition<A, B> { .equal(a, b) }
/// The left row refers to the right one.
public func == <A, B>(a: ColumnPath<A, Ref<B>>, b: ColumnPath<B, B.ID>) -> JoinCondition<A, B> { .equal(a, b) }
/// The left row refers to the right one; a reference that is nil matches nothing.
public func == <A, B>(a: ColumnPath<A, Ref<B>?>, b: ColumnPath<B, B.ID>) -> JoinCondition<A, B> { .equal(a, b) }

/// Both conditions hold.
public func && <A, B>(a: JoinCondition<A, B>, b: JoinCondition<A, B>) -> JoinCondition<A, B> {
    JoinCondition(parts: a.parts + b.parts)
}

/// An inner join: the pairs of rows of two models that meet a condition.
///
/// ```swift
/// let pairs = try Person.join(Item.self, on: \.id == \.owner)
///     .where(\.age > 30).where(joined: \.title != "").order(by: \.name)
///     .all(in: db)                                                    // [(Person, Item)], of live objects
/// ```
public struct Join<A: Model, B: Model>: Sendable {
    fileprivate var core: JoinCore<A, B>

    /// Keeps the pairs whose left row meets `condition`.
    public func `where`(_ condition: Condition<A>) -> Join { with { $0.left = $0.left.where(condition) } }
    /// Keeps the pairs whose right row meets `condition`.
    public func `where`(joined condition: Condition<B>) -> Join { with { $0.add(condition) } }
    /// Adds a term over the left rows to the order.
    public func order(_ term: Ordering<A>) -> Join { with { $0.ordering.append(.left(term)) } }
    /// Adds a term over the right rows to the order.
    public func order(joined term: Ordering<B>) -> Join { with { $0.ordering.append(.right(term)) } }
    /// Limits the result to the first `count` pairs after `offset` pairs; a negative `count` means no limit.
    /// The last of several limits counts.
    public func limit(_ count: Int, offset: Int = 0) -> Join { with { $0.limit = (count, offset) } }

    /// Returns the pairs, as live objects, read by one SELECT.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``. One row of either model that cannot be decoded
    ///   fails the whole call.
    public func all(in database: Database) throws -> [(A, B)] {
        try core.pairs(in: database).compactMap { a, b in b.map { (a, $0) } }
    }

    /// Returns the number of pairs, at most the limit.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func count(in database: Database) throws -> Int { try core.count(in: database) }

    private func with(_ change: (inout JoinCore<A, B>) -> Void) -> Join {
        var join = self
        change(&join.core)
        return join
    }
}

/// An outer join: like ``Join``, with the rows of the left model that have no partner; their partner is nil.
public struct LeftJoin<A: Model, B: Model>: Sendable {
    fileprivate var core: JoinCore<A, B>

    /// Keeps the pairs whose left row meets `condition`.
    public func `where`(_ condition: Condition<A>) -> LeftJoin { with { $0.left = $0.left.where(condition) } }
    /// Keeps the pairs whose right row meets `condition`. A row without a partner has NULL in every column of
    /// the right side, so only a condition that is true for NULL keeps it.
    public func `where`(joined condition: Condition<B>) -> LeftJoin { with { $0.add(condition) } }
    /// Adds a term over the left rows to the order.
    public func order(_ term: Ordering<A>) -> LeftJoin { with { $0.ordering.append(.left(term)) } }
    /// Adds a term over the right rows to the order. Rows without a partner come first when it ascends.
    public func order(joined term: Ordering<B>) -> LeftJoin { with { $0.ordering.append(.right(term)) } }
    /// Limits the result to the first `count` pairs after `offset` pairs; a negative `count` means no limit.
    /// The last of several limits counts.
    public func limit(_ count: Int, offset: Int = 0) -> LeftJoin { with { $0.limit = (count, offset) } }

    /// Keeps only the rows without a partner.
    public func withoutPartner() -> LeftJoin {
        with { core in
            B.schema.key.first.map { key in core.add(Condition(template: Template([.column(key)]) + " IS NULL")) }
        }
    }

    /// Returns the pairs, as live objects, read by one SELECT; a missing partner is nil.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``. One row of either model that cannot be decoded
    ///   fails the whole call.
    public func all(in database: Database) throws -> [(A, B?)] { try core.pairs(in: database) }
    /// Returns the number of pairs, at most the limit, including rows without a partner.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public func count(in database: Database) throws -> Int { try core.count(in: database) }

    private func with(_ change: (inout JoinCore<A, B>) -> Void) -> LeftJoin {
        var join = self
        change(&join.core)
        return join
    }
}

extension Model {
    /// Joins the rows of this model with the rows of another that meet `condition`; see ``Join``.
    public static func join<B>(_ other: B.Type, on condition: JoinCondition<Self, B>) -> Join<Self, B> {
        Join(core: JoinCore(condition: condition, isLeft: false))
    }

    /// Joins all rows of this model with the rows of another that meet `condition`; a row without a match
    /// appears once, without a partner. See ``LeftJoin``.
    public static func leftJoin<B>(_ other: B.Type, on condition: JoinCondition<Self, B>) -> LeftJoin<Self, B> {
        LeftJoin(core: JoinCore(condition: condition, isLeft: true))
    }
}

private struct JoinCore<A: Model, B: Model>: Sendable {
    enum Term: Sendable {
        case left(Ordering<A>)
        case right(Ordering<B>)
    }

    let condition: JoinCondition<A, B>
    let isLeft: Bool
    var left = Query<A>()
    var right: Condition<B>?
    var ordering: [Term] = []
    var limit: (count: Int, offset: Int)?

    init(condition: JoinCondition<A, B>, isLeft: Bool) {
        self.condition = condition
        self.isLeft = isLeft
    }

    mutating func add(_ condition: Condition<B>) { right = right.map { $0 && condition } ?? condition }

    /// The right table's quoted name; an alias when the two tables are the same.
    private var alias: String {
        SQLText.foldedName(A.schema.table) == SQLText.foldedName(B.schema.table)
            ? "joined" : B.schema.quotedTable
    }

    private func select(_ selection: String) throws -> SQL {
        let right = alias
        let table = right == B.schema.quotedTable ? right : "\(B.schema.quotedTable) AS \(right)"
        var sql =
            SQL(raw: "SELECT \(selection) FROM \(A.schema.quotedTable) \(isLeft ? "LEFT " : "")JOIN \(table) ON ")
            + condition.sql(right: right)
        var conditions: [SQL] = []
        if let condition = left.condition { conditions.append(try condition.template.sql()) }
        if let condition = self.right { conditions.append(try condition.template.sql(right)) }
        if let first = conditions.first {
            sql = sql + " WHERE " + conditions.dropFirst().reduce(first) { $0 + " AND " + $1 }
        }
        let terms = try ordering.map { term in
            switch term {
            case .left(let term): try term.template.sql()
            case .right(let term): try term.template.sql(right)
            }
        }
        if let first = terms.first { sql = sql + " ORDER BY " + terms.dropFirst().reduce(first) { $0 + ", " + $1 } }
        if let limit { sql = sql + " LIMIT \(limit.count) OFFSET \(limit.offset)" }
        return sql
    }

    func count(in database: Database) throws -> Int {
        let sql = try "SELECT count(*) FROM (" + select("1") + ")"
        let counts: [Int] = try database.list(sql, operation: "counting", table: A.schema.table) { try $0.row.read(0) }
        return counts.first ?? 0
    }

    func pairs(in database: Database) throws -> [(A, B?)] {
        let sql = try select(A.schema.selection(from: A.schema.quotedTable) + ", " + B.schema.selection(from: alias))
        typealias Pair = (a: A.Fields, b: B.Fields?)
        let offset = A.schema.columns.count
        let key = B.schema.key.first ?? 0
        return try database.access { context in
            let rows = try database.list(sql, operation: "joining", table: A.schema.table) { statement -> Pair in
                (
                    try A.Fields(_row: statement.row),
                    statement.isNull(offset + key)
                        ? nil : try B.Fields(_row: RowCursor(statement: statement.handle, offset: offset))
                )
            }
            // Objects of rows that were deleted after the snapshot are left out, so rows are matched to
            // objects by key.
            let lefts = try context.objects(for: rows.map(\.a), of: A.self)
            let rights = try context.objects(for: rows.compactMap(\.b), of: B.self)
            let leftByKey = Dictionary(lefts.map { ($0._exactKey, $0) }) { first, _ in first }
            let rightByKey = Dictionary(rights.map { ($0._exactKey, $0) }) { first, _ in first }
            return rows.compactMap { a, b in
                leftByKey[a.exactKey].map { ($0, b.flatMap { rightByKey[$0.exactKey] }) }
            }
        }
    }
}
