import GRDBSQLite
import Journal

/// How the rows of two models belong together.
public struct JoinCondition<A: Model, B: Model>: Sendable {
    fileprivate enum Part: Sendable {
        case columns(Int, Int)
        case sql(SQL)
    }

    fileprivate let parts: [Part]

    /// Raw SQL. A model that is joined with itself is called `joined` on the right side.
    public static func sql(_ sql: SQL) -> JoinCondition { JoinCondition(parts: [.sql(sql)]) }

    fileprivate static func equal<V, W>(_ a: ColumnPath<A, V>, _ b: ColumnPath<B, W>) -> JoinCondition {
        JoinCondition(parts: [.columns(A.columns[keyPath: a].position, B.columns[keyPath: b].position)])
    }

    fileprivate func sql(_ right: String) -> SQL {
        let terms = parts.map { part -> SQL in
            switch part {
            case .columns(let a, let b):
                SQL(raw: "\(A.schema.qualified(a, by: A.schema.quotedTable)) = \(B.schema.qualified(b, by: right))")
            case .sql(let sql): "(" + sql + "\n)"
            }
        }
        return terms.dropFirst().reduce(terms[0]) { $0 + " AND " + $1 }
    }
}

/// The two columns hold equal values, as SQLite compares them.
public func == <A, B, V>(a: ColumnPath<A, V>, b: ColumnPath<B, V>) -> JoinCondition<A, B> { .equal(a, b) }
/// The two columns hold equal values; a NULL on the right joins nothing.
public func == <A, B, V>(a: ColumnPath<A, V>, b: ColumnPath<B, V?>) -> JoinCondition<A, B> { .equal(a, b) }
/// The two columns hold equal values; a NULL on the left joins nothing.
public func == <A, B, V>(a: ColumnPath<A, V?>, b: ColumnPath<B, V>) -> JoinCondition<A, B> { .equal(a, b) }

// A reference joins the row that it refers to.

/// The right row refers to the left one.
public func == <A, B>(a: ColumnPath<A, A.ID>, b: ColumnPath<B, Ref<A>>) -> JoinCondition<A, B> { .equal(a, b) }
/// The right row refers to the left one; a reference that is nil joins nothing.
public func == <A, B>(a: ColumnPath<A, A.ID>, b: ColumnPath<B, Ref<A>?>) -> JoinCondition<A, B> { .equal(a, b) }
/// The left row refers to the right one.
public func == <A, B>(a: ColumnPath<A, Ref<B>>, b: ColumnPath<B, B.ID>) -> JoinCondition<A, B> { .equal(a, b) }
/// The left row refers to the right one; a reference that is nil joins nothing.
public func == <A, B>(a: ColumnPath<A, Ref<B>?>, b: ColumnPath<B, B.ID>) -> JoinCondition<A, B> { .equal(a, b) }

/// Both conditions hold.
public func && <A, B>(a: JoinCondition<A, B>, b: JoinCondition<A, B>) -> JoinCondition<A, B> {
    JoinCondition(parts: a.parts + b.parts)
}

/// The pairs of rows of two models that belong together.
///
/// ```swift
/// let pairs = try Person.join(Item.self, on: \.id == \.owner)
///     .where(\.age > 30).where(joined: \.title != "").order(by: \.name)
///     .all(in: db)                                                    // [(Person, Item)], of live objects
/// ```
public struct Join<A: Model, B: Model>: Sendable {
    fileprivate var core: JoinCore<A, B>

    /// The pairs whose left row meets `condition`.
    public func `where`(_ condition: Condition<A>) -> Join { with { $0.left = $0.left.where(condition) } }
    /// The pairs whose right row meets `condition`.
    public func `where`(joined condition: Condition<B>) -> Join { with { $0.add(condition) } }
    /// The pairs in the order of a column of the left rows, smallest first; behind the orders given before.
    public func order<V>(by path: ColumnPath<A, V>) -> Join { with { $0.ordering.append(.left(.ascending(path))) } }
    /// The pairs in an order of the left rows; behind the orders given before.
    public func order(_ term: Ordering<A>) -> Join { with { $0.ordering.append(.left(term)) } }
    /// The pairs in an order of the right rows; behind the orders given before.
    public func order(joined term: Ordering<B>) -> Join { with { $0.ordering.append(.right(term)) } }
    /// The first `count` pairs after `offset` ones; a negative `count` is no limit. Of several limits the last one
    /// holds.
    public func limit(_ count: Int, offset: Int = 0) -> Join { with { $0.limit = (count, offset) } }

    /// The pairs, as live objects, read by one SELECT.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says: one row of either model that does not decode fails all of it.
    public func all(in database: Database) throws -> [(A, B)] {
        try core.pairs(in: database).compactMap { a, b in b.map { (a, $0) } }
    }

    /// How many pairs there are, no more than the limit.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
    public func count(in database: Database) throws -> Int { try core.count(in: database) }

    private func with(_ change: (inout JoinCore<A, B>) -> Void) -> Join {
        var join = self
        change(&join.core)
        return join
    }
}

/// Like ``Join``, with the rows of the left model that have no partner: theirs is nil.
public struct LeftJoin<A: Model, B: Model>: Sendable {
    fileprivate var core: JoinCore<A, B>

    /// The pairs whose left row meets `condition`.
    public func `where`(_ condition: Condition<A>) -> LeftJoin { with { $0.left = $0.left.where(condition) } }
    /// The pairs whose right row meets `condition`. A row without a partner has NULL in every column there, so only a
    /// condition that holds for NULL keeps it.
    public func `where`(joined condition: Condition<B>) -> LeftJoin { with { $0.add(condition) } }
    /// The pairs in the order of a column of the left rows, smallest first; behind the orders given before.
    public func order<V>(by path: ColumnPath<A, V>) -> LeftJoin { with { $0.ordering.append(.left(.ascending(path))) } }
    /// The pairs in an order of the left rows; behind the orders given before.
    public func order(_ term: Ordering<A>) -> LeftJoin { with { $0.ordering.append(.left(term)) } }
    /// The pairs in an order of the right rows, those without a partner first when it ascends; behind the orders given
    /// before.
    public func order(joined term: Ordering<B>) -> LeftJoin { with { $0.ordering.append(.right(term)) } }
    /// The first `count` pairs after `offset` ones; a negative `count` is no limit. Of several limits the last one
    /// holds.
    public func limit(_ count: Int, offset: Int = 0) -> LeftJoin { with { $0.limit = (count, offset) } }

    /// Only the rows without a partner.
    public func withoutPartner() -> LeftJoin {
        with { core in
            B.schema.key.first.map { key in core.add(Condition(template: Template([.column(key)]) + " IS NULL")) }
        }
    }

    /// The pairs, as live objects, read by one SELECT; nil for a partner that there is not.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says: one row of either model that does not decode fails all of it.
    public func all(in database: Database) throws -> [(A, B?)] { try core.pairs(in: database) }
    /// How many pairs there are, rows without a partner included, no more than the limit.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; rows are not decoded.
    public func count(in database: Database) throws -> Int { try core.count(in: database) }

    private func with(_ change: (inout JoinCore<A, B>) -> Void) -> LeftJoin {
        var join = self
        change(&join.core)
        return join
    }
}

extension Model {
    /// The pairs of rows of this model and another for which `condition` holds; see ``Join``.
    public static func join<B>(_ other: B.Type, on condition: JoinCondition<Self, B>) -> Join<Self, B> {
        Join(core: JoinCore(condition: condition, isLeft: false))
    }

    /// All rows of this model, with each row of another for which `condition` holds, or once with none; see
    /// ``LeftJoin``.
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

    /// The right table's quoted name; an alias when it is the left one too.
    private var alias: String {
        SQLText.foldedName(A.schema.table) == SQLText.foldedName(B.schema.table)
            ? "joined" : B.schema.quotedTable
    }

    private func select(_ selection: String) throws -> SQL {
        let right = alias
        let table = right == B.schema.quotedTable ? right : "\(B.schema.quotedTable) AS \(right)"
        var sql =
            SQL(raw: "SELECT \(selection) FROM \(A.schema.quotedTable) \(isLeft ? "LEFT " : "")JOIN \(table) ON ")
            + condition.sql(right)
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
            // Objects of rows that were deleted since the snapshot are left out, so they are matched by key.
            let lefts = try context.objects(for: rows.map(\.a), of: A.self)
            let rights = try context.objects(for: rows.compactMap(\.b), of: B.self)
            let leftByKey = Dictionary(lefts.map { ($0.id.exact, $0) }) { first, _ in first }
            let rightByKey = Dictionary(rights.map { ($0.id.exact, $0) }) { first, _ in first }
            return rows.compactMap { a, b in
                leftByKey[a._key.exact].map { ($0, b.flatMap { rightByKey[$0._key.exact] }) }
            }
        }
    }
}
