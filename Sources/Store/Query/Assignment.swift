/// The new value of one column in an UPDATE: `.set(\.age, to: 30)`, `.set(\.age, to: \.age + 1)`.
public struct Assignment<M: TableModel>: Sendable {
    let column: Int
    let value: Template<M>

    /// Sets the column to `value`, stored as the property stores it. The update throws
    /// ``StoreError/Code/unstorable`` for a value that the property cannot store.
    public static func set<V>(_ path: ColumnPath<M, V>, to value: V) -> Assignment {
        Assignment(column: M.columns[keyPath: path].position, value: Template(value, storedAs: path))
    }

    /// Sets the column to a value that SQLite computes from the row as it was before the update.
    public static func set<V>(_ path: ColumnPath<M, V>, to value: ColumnExpression<M, V>) -> Assignment {
        Assignment(column: M.columns[keyPath: path].position, value: value.template)
    }

    /// Sets the optional column to a value that SQLite computes from required columns.
    // Disfavored, because `.sql(…)` can be of either type.
    @_disfavoredOverload
    public static func set<V>(_ path: ColumnPath<M, V?>, to value: ColumnExpression<M, V>) -> Assignment {
        Assignment(column: M.columns[keyPath: path].position, value: value.template)
    }

    /// Sets the column to the value of another column of the row, as it was before the update. The update
    /// throws ``StoreError/Code/unstorable`` when the two store their values in different forms.
    public static func set<V: ColumnValue>(_ path: ColumnPath<M, V>, to other: ColumnPath<M, V>) -> Assignment {
        Assignment(column: M.columns[keyPath: path].position, value: Template(column: other, storedAs: path))
    }

    /// Sets the optional column to the value of a required column of the row, as it was before the update.
    public static func set<V: ColumnValue>(_ path: ColumnPath<M, V?>, to other: ColumnPath<M, V>) -> Assignment {
        Assignment(column: M.columns[keyPath: path].position, value: Template(column: other, storedAs: path))
    }

    /// The assignments after `SET`.
    static func list(_ assignments: [Assignment]) throws -> SQL {
        guard let first = assignments.first else {
            throw StoreError(
                .sql, "An update sets no column", hint: "Name one: .set(\\.name, to: …).", table: M.schema.table)
        }
        return try assignments.dropFirst().reduce(first.sql()) { try $0 + ", " + $1.sql() }
    }

    private func sql() throws -> SQL { try SQL(raw: "\(M.schema.quotedColumns[column]) = ") + value.sql() }
}
