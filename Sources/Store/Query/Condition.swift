/// A condition on the rows of one model.
///
/// Comparisons of columns make conditions. `&&`, `||` and `!` combine them, also with raw SQL:
///
/// ```swift
/// Person.where(\.age > 30 && \.name == nil)
/// Person.where(.in(\.id, ids) || .sql("lower(name) = \(name)"))
/// Task.where(!\.isDone && \.due < \.deadline)
/// ```
///
/// `==` and `!=` treat nil as Swift does: `\.name == nil` is `IS NULL`, and a row with NULL differs from
/// every value. The other comparisons are never true for NULL.
public struct Condition<M: TableModel>: Sendable {
    let template: Template<M>

    /// A condition in raw SQL, with `$T` for the table and `$PK` for the key.
    public static func sql(_ sql: SQL) -> Condition {
        // The newline ends a comment, which would otherwise include the parenthesis.
        Condition(template: "(" + Template(sql) + "\n)")
    }

    /// A condition in raw SQL with the values of its `?`. A query with it throws
    /// ``StoreError/Code/argumentCount`` when the SQL binds interpolated values as well.
    static func sql(_ sql: SQL, values: [(any ColumnValue)?]) -> Condition {
        do {
            return .sql(try sql.binding(values))
        } catch let error as StoreError {
            return Condition(template: Template([.failure(error)]))
        } catch {
            return Condition(template: Template([.failure(StoreError(.sql, "\(error)", table: M.schema.table))]))
        }
    }

    /// True for every row.
    public static var all: Condition { Condition(template: Template("1")) }

    // MARK: - Comparing

    static func compare<V>(
        _ path: ColumnPath<M, V>, _ comparison: String, _ value: Template<M>
    ) -> Condition {
        Condition(template: Template(column: path) + " \(comparison) " + value)
    }

    /// Compares by the order of the values.
    static func order<V>(
        _ path: ColumnPath<M, V>, _ comparison: String, _ value: Template<M>
    ) -> Condition {
        Condition(template: Template(ordered: path) + " \(comparison) " + value)
    }

    static func equal<V>(_ path: ColumnPath<M, V>, _ value: V) -> Condition {
        let stored = Template(value, storedAs: path)
        return stored.isNull
            ? Condition(template: Template(column: path) + " IS NULL") : compare(path, "=", stored)
    }

    static func different<V>(_ path: ColumnPath<M, V>, _ value: V) -> Condition {
        let stored = Template(value, storedAs: path)
        return stored.isNull
            ? Condition(template: Template(column: path) + " IS NOT NULL") : compare(path, "IS NOT", stored)
    }

    // MARK: - Lists and ranges

    /// The column holds one of `values`; without values, no row matches. A list of any length is one query.
    ///
    /// - Throws: Nothing; the query throws ``StoreError/Code/argumentCount`` for more than 30 000 values that
    ///   are stored as REAL.
    public static func `in`<V>(_ path: ColumnPath<M, V>, _ values: some Sequence<V>) -> Condition {
        Condition(template: ValueList(values.map { Template($0, storedAs: path) }).contains(Template(column: path)))
    }

    /// The column holds one of `values`, none of which is NULL.
    @_disfavoredOverload
    public static func `in`<V>(_ path: ColumnPath<M, V?>, _ values: some Sequence<V>) -> Condition {
        .in(path, values.map { $0 as V? })
    }

    /// The column holds a value of the range, both ends included.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    /// The column holds a value of the range, both ends included; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    /// The column holds a value of the range, without its upper end.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: Range<V>) -> Condition {
        path >= range.lowerBound && path < range.upperBound
    }

    /// The column holds a value of the range, without its upper end; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: Range<V>) -> Condition {
        path >= range.lowerBound && path < range.upperBound
    }

    /// The column holds at least the lower end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: PartialRangeFrom<V>) -> Condition {
        path >= range.lowerBound
    }

    /// The column holds at least the lower end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: PartialRangeFrom<V>) -> Condition {
        path >= range.lowerBound
    }

    /// The column holds at most the upper end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: PartialRangeThrough<V>) -> Condition {
        path <= range.upperBound
    }

    /// The column holds at most the upper end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: PartialRangeThrough<V>) -> Condition {
        path <= range.upperBound
    }

    /// The column holds less than the upper end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: PartialRangeUpTo<V>) -> Condition {
        path < range.upperBound
    }

    /// The column holds less than the upper end of the range; false for NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: PartialRangeUpTo<V>) -> Condition {
        path < range.upperBound
    }
}

/// Both conditions hold.
public func && <M>(a: Condition<M>, b: Condition<M>) -> Condition<M> {
    Condition(template: "(" + a.template + " AND " + b.template + ")")
}

/// At least one of the two conditions holds.
public func || <M>(a: Condition<M>, b: Condition<M>) -> Condition<M> {
    Condition(template: "(" + a.template + " OR " + b.template + ")")
}

/// The condition does not hold. A comparison with NULL is neither true nor false, and neither is its
/// negation: `!(\.age > 30)` leaves out rows without an age, as `\.age > 30` does.
public prefix func ! <M>(a: Condition<M>) -> Condition<M> {
    Condition(template: "NOT (" + a.template + ")")
}

// MARK: - Comparisons with values

/// The column holds `value`, stored as the property stores it.
public func == <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .equal(path, value) }
/// The column holds `value`; nil means NULL.
public func == <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .equal(path, value) }
/// The column does not hold `value`.
public func != <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .different(path, value) }
/// The column does not hold `value`. NULL differs from every value, and nil means NULL.
public func != <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .different(path, value) }

// Disfavoured, because a value that is not optional can be taken for one.

/// The column, which is never NULL, holds `value`; false for nil.
@_disfavoredOverload
public func == <M, V>(path: ColumnPath<M, V>, value: V?) -> Condition<M> {
    value.map { .equal(path, $0) } ?? .sql("0")
}
/// The column, which is never NULL, does not hold `value`; true for nil.
@_disfavoredOverload
public func != <M, V>(path: ColumnPath<M, V>, value: V?) -> Condition<M> {
    value.map { .different(path, $0) } ?? .sql("1")
}

/// The column is less than `value` in SQLite's order: decimals by value, texts by the column's collation.
public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
/// The column is less than `value`; false for NULL.
public func < <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
/// The column is less than or equal to `value` in SQLite's order: decimals by value, texts by the column's
/// collation.
public func <= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
/// The column is less than or equal to `value`; false for NULL.
public func <= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
/// The column is greater than `value` in SQLite's order: decimals by value, texts by the column's collation.
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
/// The column is greater than `value`; false for NULL.
public func > <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
/// The column is greater than or equal to `value` in SQLite's order: decimals by value, texts by the column's
/// collation.
public func >= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}
/// The column is greater than or equal to `value`; false for NULL.
public func >= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}

// MARK: - Comparisons with expressions

/// The column equals the expression; NULL equals NULL.
public func == <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS", value.template)
}
/// The column differs from the expression; NULL equals only NULL.
public func != <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS NOT", value.template)
}
/// The column is less than the expression; false when one of them is NULL.
public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, "<", value.template)
}
/// The column is less than or equal to the expression; false when one of them is NULL.
public func <= <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, "<=", value.template)
}
/// The column is greater than the expression; false when one of them is NULL.
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, ">", value.template)
}
/// The column is greater than or equal to the expression; false when one of them is NULL.
public func >= <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, ">=", value.template)
}
