import Journal

/// The values of columns whose DEFAULT clause is computed, for rows whose changes do not carry them.
///
/// A machine without the column inserts a row, and every machine with the column has to show a value. SQLite
/// would compute another one on each: the time of the merge, or random bytes. These values are a function of
/// the merged row instead. They belong to the latest insert of the row's life: to the date functions its
/// stamp is the present time, and the random functions draw from its stamp, its origin and the column's name.
/// A value that a change carries wins over them (decision 0021).
final class ComputedDefaults {
    /// The columns with a computed default, in the order of ``TableInspection/stored``.
    let columns: ColumnMask
    private let expressions: [Int: (statement: RawStatement, name: String)]
    private let evaluator: DefaultEvaluator

    /// - Returns: nil when the table has no computed default. A default that needs a function of its program
    ///   does not count: only that program can write the table.
    init?(of table: TableInspection, _ evaluator: DefaultEvaluator) {
        var columns = ColumnMask()
        var expressions: [Int: (RawStatement, String)] = [:]
        for (index, column) in table.stored.enumerated() where !column.hasLiteralDefault && index >= table.keyCount {
            guard let sql = column.defaultExpression, let statement = evaluator.prepare(sql) else { continue }
            columns.insert(index)
            expressions[index] = (statement, SQLText.foldedName(column.name))
        }
        guard !columns.isEmpty else { return nil }
        self.columns = columns
        self.expressions = expressions
        self.evaluator = evaluator
    }

    /// Returns the values that belong to an insert.
    ///
    /// - Parameter wanted: Some of ``columns``.
    func values(of wanted: ColumnMask, for insert: WriteOrder) -> [Int: Value] {
        var values: [Int: Value] = [:]
        wanted.intersection(columns).forEach { index in
            guard let (statement, name) = expressions[index] else { return }
            values[index] = evaluator.evaluate(statement, insert, column: name)
        }
        return values
    }
}
