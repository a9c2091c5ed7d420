/// A value that SQLite computes from the columns of a row: `\.count + 1`.
///
/// SQLite computes: an integer that overflows becomes a REAL, which an integer property refuses to read.
/// Arithmetic with a `Decimal` is exact; a result that a `Decimal` cannot hold fails the statement.
public struct ColumnExpression<M: TableModel, Value: Sendable>: Sendable {
    let template: Template<M>

    /// Raw SQL: `.sql("max(age, \(18))")`.
    public static func sql(_ sql: SQL) -> ColumnExpression { ColumnExpression(template: "(" + Template(sql) + "\n)") }

    /// The value of another column.
    public static func column(_ path: ColumnPath<M, Value>) -> ColumnExpression {
        ColumnExpression(template: Template(column: path))
    }

    fileprivate static func compute(
        _ path: ColumnPath<M, Value>, _ arithmetic: Arithmetic, _ value: Template<M>
    ) -> ColumnExpression {
        let column = Template(column: path)
        guard M.columns[keyPath: path].isDecimal else { return combine(column, arithmetic.sign, value) }
        return ColumnExpression(template: "\(arithmetic.decimalFunction)(" + column + ", " + value + ")")
    }

    static func combine(_ a: Template<M>, _ sign: String, _ b: Template<M>) -> ColumnExpression {
        ColumnExpression(template: "(" + a + " \(sign) " + b + ")")
    }
}

/// An arithmetic operation. Decimal numbers are stored as text, which SQLite's own operators would treat as
/// doubles.
private enum Arithmetic {
    case addition, subtraction, multiplication

    var sign: String {
        switch self {
        case .addition: "+"
        case .subtraction: "-"
        case .multiplication: "*"
        }
    }

    var decimalFunction: String {
        switch self {
        case .addition: "decimal_add"
        case .subtraction: "decimal_sub"
        case .multiplication: "decimal_mul"
        }
    }
}

/// The column plus a number, computed by SQLite (``ColumnExpression``).
public func + <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .addition, Template(value, storedAs: path))
}
/// The column plus a number, computed by SQLite (``ColumnExpression``); NULL where the column is NULL.
public func + <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .addition, Template(value, storedAs: path))
}
/// The column minus a number, computed by SQLite (``ColumnExpression``).
public func - <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .subtraction, Template(value, storedAs: path))
}
/// The column minus a number, computed by SQLite (``ColumnExpression``); NULL where the column is NULL.
public func - <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .subtraction, Template(value, storedAs: path))
}
/// The column times a number, computed by SQLite (``ColumnExpression``).
public func * <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .multiplication, Template(value, storedAs: path))
}
/// The column times a number, computed by SQLite (``ColumnExpression``); NULL where the column is NULL.
public func * <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .multiplication, Template(value, storedAs: path))
}

/// The column's text followed by `text`.
public func + <M>(path: ColumnPath<M, String>, text: String) -> ColumnExpression<M, String> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
/// The column's text followed by `text`; NULL where the column is NULL.
public func + <M>(path: ColumnPath<M, String?>, text: String) -> ColumnExpression<M, String?> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
