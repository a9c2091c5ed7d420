import Journal

/// SQL in which columns of one model are given by position, so that it can be written for the table itself or
/// for an alias of it.
struct Template<M: TableModel>: Sendable {
    enum Part: Sendable {
        case sql(SQL)
        case column(Int)
        /// SQL that depends on the quoted name by which it refers to a row of the model: a subquery.
        case correlated(@Sendable (_ table: String) throws -> SQL)
        /// A value that could not be encoded; a query with it throws this error.
        case failure(StoreError)
    }

    var parts: [Part]

    init(_ parts: [Part]) { self.parts = parts }
    init(_ sql: SQL) { parts = [.sql(sql)] }

    init<Value>(column path: ColumnPath<M, Value>) { parts = [.column(M.columns[keyPath: path].position)] }

    /// Creates the column for a comparison or an order by value.
    init<Value>(ordered path: ColumnPath<M, Value>) {
        let column = M.columns[keyPath: path]
        parts = [.column(column.position)]
        if column.isDecimal { parts.append(.sql(SQL(raw: " COLLATE \(DecimalFunctions.collation)"))) }
    }

    /// Creates a value that is stored as the column stores its own.
    init<Value>(_ value: Value, storedAs path: ColumnPath<M, Value>) {
        self.init(value, storedIn: M.columns[keyPath: path])
    }

    init<Value>(_ value: Value, storedIn column: Column<M, Value>) {
        do {
            let stored = try column.encode(value)
            parts = [.sql("\(stored)")]
        } catch {
            let failure = StoreError.unstorable(error, column: column.name) as? StoreError
            parts = [
                .failure(
                    failure
                        ?? StoreError(
                            .unstorable, "\(error)", hint: "Give a value that the column's coding can encode.",
                            table: M.schema.table, column: column.name))
            ]
        }
    }

    /// True for a value that is stored as NULL.
    var isNull: Bool {
        guard case .sql(let sql) = parts.first, parts.count == 1, sql.text == "?",
            let value = sql.bindings.first as? Value
        else { return false }
        return value == .null
    }

    static func + (a: Template, b: Template) -> Template { Template(a.parts + b.parts) }
    static func + (a: Template, b: String) -> Template { Template(a.parts + [.sql(SQL(raw: b))]) }
    static func + (a: String, b: Template) -> Template { Template([.sql(SQL(raw: a))] + b.parts) }

    /// Returns the SQL for a table or alias of this quoted name; by default for the model's own table.
    func sql(_ table: String? = nil) throws -> SQL {
        let table = table ?? M.schema.quotedTable
        var result: SQL = ""
        for part in parts {
            switch part {
            case .sql(let sql): result = result + sql.expanding(M.schema, table: table)
            case .column(let position): result = result + SQL(raw: M.schema.qualified(position, by: table))
            case .correlated(let sql): result = try result + sql(table)
            case .failure(let error): throw error
            }
        }
        return result
    }
}
