extension RowImage {
    /// - Parameters:
    ///   - row: The values in the order of ``TableInspection/stored``.
    ///   - table: The table of the row.
    package init(_ row: [Value], of table: TableInspection) {
        self.init()
        for (column, value) in zip(table.stored, row) { columns[column.name] = value }
    }

    /// The value of the column at index `column` of `table`'s ``TableInspection/stored``; nil when the image
    /// has none.
    package subscript(table: TableInspection, column: Int) -> Value? { columns[table.stored[column].name] }
}
