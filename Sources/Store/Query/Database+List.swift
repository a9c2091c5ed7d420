import Journal

extension Database {
    /// Returns the elements that `read` makes from the rows of a SELECT.
    func list<Element>(
        _ sql: SQL, operation: String, table: String, _ read: (PreparedStatement) throws -> Element
    ) throws -> [Element] {
        do {
            return try access(operation: operation, table: table) { context in
                try context.prepare(sql.text).run { statement in
                    try statement.bind(sql.bindings)
                    return try StatementOwner.program.runs {
                        var elements: [Element] = []
                        while try statement.step() { elements.append(try read(statement)) }
                        return elements
                    }
                }
            }
        } catch let error as StoreError {
            throw error.during(operation, table: table)
        }
    }
}
