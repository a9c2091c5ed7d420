/// A value that SQLite computes from the columns of a row: `\.count + 1`.
///
/// Arithmetic is SQLite's: an integer that overflows becomes a REAL, which an integer property refuses to read.
public struct ColumnExpression<M: TableModel, Value: Sendable>: Sendable {
    let template: Template<M>

    /// Raw SQL: `.sql("max(age, \(18))")`.
    public static func sql(_ sql: SQL) -> ColumnExpression { ColumnExpression(template: "(" + Template(sql) + "\n)") }

    /// The value of another column.
    public static func column(_ path: ColumnPath<M, Value>) -> ColumnExpression {
        ColumnExpression(template: Template(column: path))
    }

    static func combine(_ a: Template<M>, _ sign: String, _ b: Template<M>) -> ColumnExpression {
        ColumnExpression(template: "(" + a + " \(sign) " + b + ")")
    }
}

public func + <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .combine(Template(column: path), "+", Template(value, storedAs: path))
}
public func + <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .combine(Template(column: path), "+", Template(value, storedAs: path))
}
public func - <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .combine(Template(column: path), "-", Template(value, storedAs: path))
}
public func - <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .combine(Template(column: path), "-", Template(value, storedAs: path))
}
public func * <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .combine(Template(column: path), "*", Template(value, storedAs: path))
}
public func * <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .combine(Template(column: path), "*", Template(value, storedAs: path))
}

/// Joins texts; the result is NULL when the column is.
public func + <M>(path: ColumnPath<M, String>, text: String) -> ColumnExpression<M, String> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
public func + <M>(path: ColumnPath<M, String?>, text: String) -> ColumnExpression<M, String?> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
