import Journal

/// What the rows of a SELECT become.
struct RowReading<Element>: Sendable {
    let sql: SQL
    /// Makes the function that reads the current row of the statement; nil for a row that is skipped.
    let reader: @Sendable (PreparedStatement) -> (AccessContext) throws -> Element?
}

extension RowReading where Element == SQLRow {
    /// Rows of any SELECT.
    init(_ sql: SQL) {
        self.sql = sql
        reader = { statement in
            let columns = statement.columnNames
            return { _ in SQLRow(columns: columns, values: statement.values) }
        }
    }
}

extension RowReading where Element: ValueModel {
    /// Rows of any SELECT as values of a struct, whose columns are matched by name.
    init(as type: Element.Type, _ sql: SQL) {
        self.sql = sql.expanding(type.schema)
        reader = { statement in
            let names = statement.columnNames.map { SQLText.foldedName($0) }
            let positions = type.schema.columns.map { column in
                names.firstIndex(of: SQLText.foldedName(column.name)).map { Int32($0) } ?? -1
            }
            let row = NamedRow(row: statement.row, positions: positions, schema: type.schema)
            return { context in
                do { return try Element(_row: row) } catch let error as StoreError {
                    let key = type.schema.key.map { positions[$0] }
                    let values = key.contains(-1) ? [] : key.map { statement.values[Int($0)] }
                    try context.skip(Element.self, error.of(key: values).of(sql: statement.text))
                    return nil
                }
            }
        }
    }
}

/// A SELECT of which some rows have been read.
///
/// Code of the caller runs between two batches, so the statement is not one of the connection's cache.
struct OpenSelect<Element> {
    private let statement: PreparedStatement
    private let read: (AccessContext) throws -> Element?
    /// True when there are no more rows.
    private(set) var isAtEnd = false

    /// - Throws: What ``Database/rows(_:_:)`` throws, and ``StoreError/Code/readOnly`` for a statement that writes.
    init(_ reading: RowReading<Element>, _ context: AccessContext) throws {
        context.database.counters.countQuery()
        statement = try PreparedStatement(context.db, reading.sql.text, cached: false)
        context.tracker?.note(statement.region)
        try Database.refuseTransactionControl(reading.sql.text)
        guard statement.isReadOnly else {
            throw StoreError(
                .readOnly, "A statement that writes cannot be read in batches",
                hint: "Call `rows` in a transaction, which returns all rows at once.")
        }
        try statement.bind(reading.sql.bindings)
        read = reading.reader(statement)
    }

    /// Reads the next rows, `size` at most; none only at the end.
    mutating func next(_ size: Int, _ context: AccessContext) throws -> [Element] {
        try StatementOwner.program.runs {
            var rows: [Element] = []
            while rows.count < size, !isAtEnd {
                guard try statement.step() else {
                    isAtEnd = true
                    break
                }
                if let row = try read(context) { rows.append(row) }
            }
            return rows
        }
    }
}
