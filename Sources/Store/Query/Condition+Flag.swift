// A column of truth values is a condition by itself: `Task.where(\.isDone)`, `!\.isDone && \.priority > 2`.
// Beside `&&` and `||` it is written `\.isDone == true`: overloads of these operators for columns would make the
// compiler try every combination of them, which takes seconds for a condition of five terms.

/// The type of a column of truth values: `Bool` or `Bool?`.
public protocol FlagColumnValue: ColumnValue {
    /// The value of a row that meets the condition. For Store only.
    static var _true: Self { get }
}

extension Bool: FlagColumnValue {
    /// True.
    public static var _true: Bool { true }
}

extension Optional: FlagColumnValue where Wrapped == Bool {
    /// True.
    public static var _true: Bool? { true }
}

extension Condition {
    /// The column is true; neither true nor false for NULL.
    init<Flag: FlagColumnValue>(flag path: ColumnPath<M, Flag>) {
        let column = M.columns[keyPath: path]
        // `Bool` reads every integer but 0 as true, as SQLite does. Another coding has a value of its own.
        if column.form == StoredForm(of: Flag.self) {
            template = "(" + Template(column: path) + ")"
        } else {
            self = .equal(path, ._true)
        }
    }
}

extension TableModel {
    /// Queries the rows in which a column is true: `Task.where(\.isDone)`.
    public static func `where`<Flag: FlagColumnValue>(_ flag: ColumnPath<Self, Flag>) -> Query<Self> {
        Query(Condition(flag: flag))
    }
}

extension Query {
    /// Keeps the rows in which a column is true.
    public func `where`<Flag: FlagColumnValue>(_ flag: ColumnPath<M, Flag>) -> Query {
        self.where(Condition(flag: flag))
    }
}

/// The column is false. A row with NULL does not meet it.
public prefix func ! <M, Flag: FlagColumnValue>(flag: ColumnPath<M, Flag>) -> Condition<M> { !Condition(flag: flag) }
