/// A condition on the rows of one model.
///
/// Made by comparing columns, combined by `&&`, `||` and `!`, and mixed with raw SQL:
///
/// ```swift
/// Person.where(\.age > 30 && \.name == nil)
/// Person.where(.in(\.id, ids) || .sql("lower(name) = \(name)"))
/// ```
///
/// `==` and `!=` follow Swift where a value is nil: `\.name == nil` is `IS NULL`, and a row with NULL is different from every
/// value. The other comparisons never hold for NULL.
public struct Condition<M: TableModel>: Sendable {
    let template: Template<M>

    /// Raw SQL, with `$T` for the table and `$PK` for the key.
    public static func sql(_ sql: SQL) -> Condition {
        // The end of a comment must not swallow the parenthesis.
        Condition(template: "(" + Template(sql) + "\n)")
    }

    /// Every row.
    public static var all: Condition { Condition(template: Template("1")) }

    // MARK: - Comparing

    static func compare<V>(
        _ path: ColumnPath<M, V>, _ comparison: String, _ value: Template<M>
    ) -> Condition {
        Condition(template: Template(column: path) + " \(comparison) " + value)
    }

    /// Compares by size.
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

    /// The column holds one of `values`; no value, no row. A list of any length is one query.
    ///
    /// - Throws: The query throws ``StoreError/Code/argumentCount`` for more than 30 000 values that are stored as REAL.
    public static func `in`<V>(_ path: ColumnPath<M, V>, _ values: some Sequence<V>) -> Condition {
        Condition(template: ValueList(values.map { Template($0, storedAs: path) }).contains(Template(column: path)))
    }

    /// The column holds a value of the range, both ends included.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    /// The column holds a value of the range, both ends included; never NULL.
    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    // MARK: - Texts

    /// SQLite's LIKE: `%` stands for any text, `_` for one character, and ASCII letters match in either case.
    public static func like(_ path: ColumnPath<M, String>, _ pattern: String) -> Condition {
        compare(path, "LIKE", Template("\(pattern)"))
    }

    /// SQLite's LIKE on a column that may hold NULL, which it never matches.
    public static func like(_ path: ColumnPath<M, String?>, _ pattern: String) -> Condition {
        compare(path, "LIKE", Template("\(pattern)"))
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

/// The condition does not hold. A comparison with NULL is neither true nor false, and its contrary is not either:
/// `!(\.age > 30)` leaves out rows without an age, as `\.age > 30` does.
public prefix func ! <M>(a: Condition<M>) -> Condition<M> {
    Condition(template: "NOT (" + a.template + ")")
}

// MARK: - Comparisons with values

/// The column holds `value`, stored as the property stores it.
public func == <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .equal(path, value) }
/// The column holds `value`; nil stands for NULL.
public func == <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .equal(path, value) }
/// The column holds something else than `value`.
public func != <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .different(path, value) }
/// The column holds something else than `value`; NULL is different from every value, and nil stands for NULL.
public func != <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .different(path, value) }

/// The column is smaller than `value`, as SQLite orders: decimals by their size, texts by the column's collation.
public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
/// The column is smaller than `value`; never holds for NULL.
public func < <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
/// The column is smaller than, or equal to, `value`, as SQLite orders: decimals by their size, texts by the column's
/// collation.
public func <= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
/// The column is smaller than, or equal to, `value`; never holds for NULL.
public func <= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
/// The column is greater than `value`, as SQLite orders: decimals by their size, texts by the column's collation.
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
/// The column is greater than `value`; never holds for NULL.
public func > <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
/// The column is greater than, or equal to, `value`, as SQLite orders: decimals by their size, texts by the column's
/// collation.
public func >= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}
/// The column is greater than, or equal to, `value`; never holds for NULL.
public func >= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}

// MARK: - Comparisons with expressions

/// The column holds what the expression gives; NULL equals NULL.
public func == <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS", value.template)
}
/// The column holds something else than the expression gives; NULL equals NULL alone.
public func != <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS NOT", value.template)
}
/// The column is smaller than what the expression gives; never holds when one of them is NULL.
public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, "<", value.template)
}
/// The column is greater than what the expression gives; never holds when one of them is NULL.
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, ">", value.template)
}
