// Comparisons of two columns of one row, of which each may be optional. Decimals are compared by value, texts
// by the collation of the left column. A query that compares columns which store their values in different
// forms, such as dates as seconds and as texts, throws `StoreError.Code.unstorable`.

extension Condition {
    fileprivate static func columns<V, W>(
        _ a: ColumnPath<M, V>, _ comparison: String, _ b: ColumnPath<M, W>
    ) -> Condition {
        order(a, comparison, Template(column: b, storedAs: a))
    }
}

extension Template {
    /// Creates the column `path` for a place that needs a value in the stored form of `other`.
    init<V, W>(column path: ColumnPath<M, W>, storedAs other: ColumnPath<M, V>) {
        let (column, other) = (M.columns[keyPath: path], M.columns[keyPath: other])
        if column.form == other.form {
            self.init(column: path)
        } else {
            self.init([
                .failure(
                    StoreError(
                        .unstorable,
                        "The columns \(other.name) and \(column.name) store their values in different forms",
                        hint: "Store both with the same coding, or convert one of them in SQL.",
                        table: M.schema.table, column: other.name))
            ])
        }
    }
}

/// The two columns hold equal values; NULL equals NULL.
public func == <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped { .columns(a, "IS", b) }
/// The two columns hold different values; NULL equals only NULL.
public func != <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped { .columns(a, "IS NOT", b) }
/// The left column is less than the right one; false when one of them is NULL.
public func < <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .columns(a, "<", b) }
/// The left column is less than or equal to the right one; false when one of them is NULL.
public func <= <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .columns(a, "<=", b) }
/// The left column is greater than the right one; false when one of them is NULL.
public func > <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .columns(a, ">", b) }
/// The left column is greater than or equal to the right one; false when one of them is NULL.
public func >= <M, V: ColumnValue, W: ColumnValue>(a: ColumnPath<M, V>, b: ColumnPath<M, W>) -> Condition<M>
where V.Unwrapped == W.Unwrapped, V.Unwrapped: Comparable { .columns(a, ">=", b) }
