// A column of truth values is a condition by itself: `Task.where(\.isDone)`, `!\.isDone && \.priority > 2`.
// Beside `&&` and `||` it is written `\.isDone == true`: overloads of these operators for columns would make the
// compiler try every combination of them, which takes seconds for a condition of five terms.

extension Condition {
    /// The column is true.
    fileprivate init(flag path: ColumnPath<M, Bool>) {
        let column = M.columns[keyPath: path]
        // `Bool` reads every integer but 0 as true, as SQLite does. Another coding has a value of its own.
        if column.form == StoredForm(of: Bool.self) {
            template = "(" + Template(column: path) + ")"
        } else {
            self = .equal(path, true)
        }
    }
}

extension TableModel {
    /// Queries the rows in which a column is true: `Task.where(\.isDone)`.
    public static func `where`(_ flag: ColumnPath<Self, Bool>) -> Query<Self> { Query(Condition(flag: flag)) }
}

extension Query {
    /// Keeps the rows in which a column is true.
    public func `where`(_ flag: ColumnPath<M, Bool>) -> Query { self.where(Condition(flag: flag)) }
}

/// The column is false.
public prefix func ! <M>(flag: ColumnPath<M, Bool>) -> Condition<M> { !Condition(flag: flag) }
