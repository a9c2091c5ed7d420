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

    public static func between<V: Comparable>(_ path: ColumnPath<M, V>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    public static func between<V: Comparable>(_ path: ColumnPath<M, V?>, _ range: ClosedRange<V>) -> Condition {
        path >= range.lowerBound && path <= range.upperBound
    }

    // MARK: - Texts

    /// SQLite's LIKE: `%` stands for any text, `_` for one character, and ASCII letters match in either case.
    public static func like(_ path: ColumnPath<M, String>, _ pattern: String) -> Condition {
        compare(path, "LIKE", Template("\(pattern)"))
    }

    public static func like(_ path: ColumnPath<M, String?>, _ pattern: String) -> Condition {
        compare(path, "LIKE", Template("\(pattern)"))
    }
}

public func && <M>(a: Condition<M>, b: Condition<M>) -> Condition<M> {
    Condition(template: "(" + a.template + " AND " + b.template + ")")
}

public func || <M>(a: Condition<M>, b: Condition<M>) -> Condition<M> {
    Condition(template: "(" + a.template + " OR " + b.template + ")")
}

public prefix func ! <M>(a: Condition<M>) -> Condition<M> {
    Condition(template: "NOT (" + a.template + ")")
}

// MARK: - Comparisons with values

public func == <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .equal(path, value) }
public func == <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .equal(path, value) }
public func != <M, V>(path: ColumnPath<M, V>, value: V) -> Condition<M> { .different(path, value) }
public func != <M, V>(path: ColumnPath<M, V?>, value: V?) -> Condition<M> { .different(path, value) }

public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
public func < <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<", Template(value, storedAs: path))
}
public func <= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
public func <= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, "<=", Template(value, storedAs: path))
}
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
public func > <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">", Template(value, storedAs: path))
}
public func >= <M, V: Comparable>(path: ColumnPath<M, V>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}
public func >= <M, V: Comparable>(path: ColumnPath<M, V?>, value: V) -> Condition<M> {
    .order(path, ">=", Template(value, storedAs: path))
}

// MARK: - Comparisons with expressions

public func == <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS", value.template)
}
public func != <M, V>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .compare(path, "IS NOT", value.template)
}
public func < <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, "<", value.template)
}
public func > <M, V: Comparable>(path: ColumnPath<M, V>, value: ColumnExpression<M, V>) -> Condition<M> {
    .order(path, ">", value.template)
}
