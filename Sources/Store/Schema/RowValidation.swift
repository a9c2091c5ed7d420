import Journal

/// Reads every row of a model's table, and fails on or deletes the rows that are not valid.
enum RowValidation {
    static func run<M: Model>(
        _ type: M.Type, _ policy: InvalidRows, in context: WriteContext, isValid: (M.Fields) throws -> Bool
    ) throws -> Int {
        var total = 0
        let invalid = try PreparedStatement(context.db, M.schema.select).run { statement in
            var invalid: [[Value]] = []
            while try statement.step() {
                total += 1
                do {
                    if try isValid(M.Fields(_row: statement.row)) { continue }
                } catch let error as StoreError where error.code == .undecodable && policy == .delete {
                    // The key is read as stored, because the key itself may be undecodable.
                }
                invalid.append(M.schema.key.map { statement.values[$0] })
            }
            return invalid
        }
        guard !invalid.isEmpty else { return 0 }
        guard policy == .delete else {
            throw StoreError(
                .invalidRow,
                "\(invalid.count) of \(StoreError.count(total, "row")) \(invalid.count == 1 ? "is" : "are") not valid",
                hint: InvalidRows.hint(losing: invalid.count, of: total), table: M.schema.table)
        }
        let keys = M.schema.key.map { "\(SQLText.quote(identifier: M.schema.columns[$0].name)) IS ?" }
        let delete = "DELETE FROM \(M.schema.quotedTable) WHERE \(keys.joined(separator: " AND "))"
        for key in invalid {
            try PreparedStatement(context.db, delete).run { statement in
                try statement.bind(key)
                _ = try statement.step()
            }
        }
        try context.absorb()
        return invalid.count
    }
}
