/// A value that SQLite computes from the columns of a row: `\.count + 1`.
///
/// Arithmetic is SQLite's: an integer that overflows becomes a REAL, which an integer property refuses to read. With a `Decimal`
/// it is exact; a result that a `Decimal` cannot hold fails the statement.
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

/// What SQL computes. Decimal numbers are stored as text; SQLite's own signs would take them for doubles.
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

/// The column plus a number, as SQLite adds (``ColumnExpression``).
public func + <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .addition, Template(value, storedAs: path))
}
/// The column plus a number, as SQLite adds (``ColumnExpression``); NULL where the column is.
public func + <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .addition, Template(value, storedAs: path))
}
/// The column less a number, as SQLite subtracts (``ColumnExpression``).
public func - <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .subtraction, Template(value, storedAs: path))
}
/// The column less a number, as SQLite subtracts (``ColumnExpression``); NULL where the column is.
public func - <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .subtraction, Template(value, storedAs: path))
}
/// The column times a number, as SQLite multiplies (``ColumnExpression``).
public func * <M, V: Numeric>(path: ColumnPath<M, V>, value: V) -> ColumnExpression<M, V> {
    .compute(path, .multiplication, Template(value, storedAs: path))
}
/// The column times a number, as SQLite multiplies (``ColumnExpression``); NULL where the column is.
public func * <M, V: Numeric>(path: ColumnPath<M, V?>, value: V) -> ColumnExpression<M, V?> {
    .compute(path, .multiplication, Template(value, storedAs: path))
}

/// The column's text with `text` behind it.
public func + <M>(path: ColumnPath<M, String>, text: String) -> ColumnExpression<M, String> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
/// The column's text with `text` behind it; NULL where the column is.
public func + <M>(path: ColumnPath<M, String?>, text: String) -> ColumnExpression<M, String?> {
    .combine(Template(column: path), "||", Template("\(text)"))
}
