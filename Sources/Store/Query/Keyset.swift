import Journal

/// A query in an order without equal rows: its own order, then the primary key. So "the rows after this row"
/// is a condition, and reading a page costs the same wherever the page is.
struct Keyset<M: Model>: Sendable {
    private let query: Query<M>
    private let terms: [Ordering<M>]

    /// - Throws: ``StoreError/Code/sql`` for a query with an order in raw SQL, with a limit or with an offset.
    init(_ query: Query<M>) throws {
        guard query.ordering.allSatisfy({ $0.direction != nil }) else {
            throw StoreError(
                .sql, "Pages need an order by columns, and the order of the query contains raw SQL",
                hint: "Order by key paths: `order(by: \\.name)`.", table: M.schema.table,
                operation: "fetching")
        }
        guard query.limit == nil, query.offset == 0 else {
            throw StoreError(
                .sql, "Pages have a size of their own, and the query has a limit or an offset",
                hint: "Leave them out, and read as many pages as needed.", table: M.schema.table,
                operation: "fetching")
        }
        let key = M.schema.key.map { Ordering(value: Template<M>([.column($0)]), direction: .ascending) }
        terms = query.ordering + key
        self.query = query
    }

    /// Reads up to `size` rows after `cursor`, or the first ones.
    ///
    /// - Returns: The rows, and the place after the last one when the query has more rows.
    /// - Throws: ``StoreError/Code/invalidInput`` for a cursor of another order, and what a query throws.
    func read(
        _ size: Int, after cursor: PageCursor?, in context: AccessContext
    ) throws -> (rows: [M.Fields], next: PageCursor?) {
        var page = query
        if let cursor { page = page.where(try after(cursor)) }
        page = page.order(terms: terms).limit(size < Int.max ? size + 1 : size)
        var selection = SQL(raw: M.schema.selection(from: M.schema.quotedTable))
        for term in terms { selection = try selection + ", " + term.value.sql() }
        let sql = try page.select(selection)
        let columns = M.schema.columns.count
        do {
            return try context.prepare(sql.text).run { statement in
                try statement.bind(sql.bindings)
                var rows: [M.Fields] = []
                var (count, last) = (0, nil as PageCursor?)
                while try statement.step() {
                    // There is one row more than the page holds.
                    if count == size { return (rows, last) }
                    do {
                        rows.append(try statement.decode(M.self) { try M.Fields(_row: $0) })
                    } catch { try context.skip(M.self, error) }
                    count += 1
                    if count == size { last = PageCursor(Array(statement.values[columns...])) }
                }
                return (rows, nil)
            }
        } catch let error as StoreError {
            throw error.during("fetching", table: M.schema.table)
        }
    }

    /// The condition of the rows after a place: `a > ? OR (a IS ? AND (b > ? OR …))`.
    private func after(_ cursor: PageCursor) throws -> Condition<M> {
        guard cursor.values.count == terms.count else {
            throw StoreError(
                .invalidInput, "The place belongs to a query of another order",
                hint: "Pass the `next` of a page of the same query.", table: M.schema.table,
                operation: "fetching")
        }
        var condition = Template<M>("0")
        for (term, value) in zip(terms, cursor.values).reversed() {
            let equal = "(" + term.value + Template(" IS \(value) AND ") + condition + ")"
            condition = "(" + Keyset.beyond(term, value) + " OR " + equal + ")"
        }
        guard let first = terms.first, first.direction == .ascending, let value = cursor.values.first, value != .null
        else { return Condition(template: condition) }
        // Says again what the condition implies, in the form for which SQLite searches an index.
        return Condition(template: "(" + first.value + Template(" >= \(value) AND ") + condition + ")")
    }

    /// The condition of the rows whose value comes after `value`. NULL is the first value of an ascending
    /// order, and the last one of a descending order.
    private static func beyond(_ term: Ordering<M>, _ value: Value) -> Template<M> {
        switch (term.direction, value) {
        case (.descending, .null): Template("0")
        case (.descending, _): "(" + term.value + Template(" < \(value) OR ") + term.value + " IS NULL)"
        case (_, .null): term.value + " IS NOT NULL"
        default: term.value + Template(" > \(value)")
        }
    }
}
