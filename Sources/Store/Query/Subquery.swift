import Journal

extension Condition {
    /// The column holds a value that another query selects. NULL in the column, or among the selected values,
    /// matches nothing.
    ///
    /// ```swift
    /// let dear = Product.where(\.price > 100)
    /// let lines = try Line.where(.in(\.product, dear.select(\.number))).all(in: db)
    /// ```
    ///
    /// - Throws: Nothing; the query throws ``StoreError/Code/unstorable`` when the two columns store their
    ///   values in different forms.
    public static func `in`<N, V: ColumnValue, W: ColumnValue>(
        _ path: ColumnPath<M, V>, _ values: Selection<N, W>
    ) -> Condition where V.Unwrapped == W.Unwrapped {
        let column = M.columns[keyPath: path]
        guard values.forms == [column.form] else {
            let error = StoreError(
                .unstorable, "The selected values are stored in another form than those of the column",
                hint: "Store both with the same coding, or write the subquery in SQL.", table: M.schema.table,
                column: column.name)
            return Condition(template: Template([.failure(error)]))
        }
        return among(path, values)
    }

    /// The key is one to which a row of another query refers: `Person.where(.in(\.id, Item.query.select(\.owner)))`.
    /// A reference that is nil matches nothing.
    public static func `in`<N, W: ColumnValue>(
        _ path: ColumnPath<M, M.ID>, _ references: Selection<N, W>
    ) -> Condition where M: Model, W.Unwrapped == Ref<M> { among(path, references) }

    /// The reference is to a row of another query: `Item.where(.in(\.owner, Person.where(\.age > 60)))`. NULL
    /// matches nothing.
    public static func `in`<Target, V: ColumnValue>(
        _ path: ColumnPath<M, V>, _ rows: Query<Target>
    ) -> Condition where V.Unwrapped == Ref<Target> {
        among(path) { try rows.select(SQL(raw: "\(Target.schema.keyList(from: Target.schema.quotedTable)) AS \($0)")) }
    }

    private static func among<V, N, W>(_ path: ColumnPath<M, V>, _ values: Selection<N, W>) -> Condition {
        among(path) { try values.sql(as: $0) }
    }

    /// - Parameter values: Returns the SELECT of one column, which it gives the name of its argument.
    private static func among<V>(
        _ path: ColumnPath<M, V>, _ values: @escaping @Sendable (String) throws -> SQL
    ) -> Condition {
        let subquery = Template<M>([
            // Without NULL, for which `x NOT IN (…, NULL)` is never true.
            .correlated { _ in try "(SELECT _value FROM (" + values("_value") + ") WHERE _value IS NOT NULL)" }
        ])
        return Condition(template: Template(column: path) + " IN " + subquery)
    }

    /// Another query has a row that belongs to this one. Write `!.exists(…)` for rows without any.
    ///
    /// ```swift
    /// let buyers = try Person.where(.exists(Item.where(\.price > 10), on: \.id == \.owner)).all(in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - rows: The query of the other model. Its limit and offset count the rows that belong to one row.
    ///   - condition: Which rows belong to a row: this model's columns are on the left. In raw SQL, the other
    ///     table has the alias `joined` when it is this model's own.
    public static func exists<N: Model>(_ rows: Query<N>, on condition: JoinCondition<M, N>) -> Condition
    where M: Model {
        Condition(
            template: Template([
                .correlated { table in
                    let own = N.schema.quotedTable
                    let alias = SQLText.foldedName(own) == SQLText.foldedName(table) ? "joined" : own
                    let from = alias == own ? own : "\(own) AS \(alias)"
                    let related = rows.where(.sql(condition.sql(left: table, right: alias)))
                    return try SQL(raw: "EXISTS (SELECT 1 FROM \(from)") + related.tail(alias) + ")"
                }
            ]))
    }
}
