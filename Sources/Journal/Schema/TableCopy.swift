import GRDB

extension TableInspection {
    /// Creates an empty temporary table with the columns of this one, for rows that are not in the table.
    /// SQLite then computes their generated columns. A copy of an earlier call with the same number is
    /// replaced.
    ///
    /// - Parameter number: Distinguishes the copies of one connection.
    /// - Returns: The copy's name as SQL; nil when the table's definition is not valid under another name.
    /// - Throws: Errors of SQLite, except when the definition does not compile.
    package func makeTemporaryCopy(_ db: Database, number: Int64) throws -> String? {
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?", arguments: [name])
        let tokens = SQLToken.scan(sql ?? "")
        guard let open = tokens.firstIndex(where: { $0.text == "(" }) else { return nil }
        let copy = "temp.\(SQLText.quote(identifier: "\(JournalSchema.prefix)_copy_\(number)"))"
        try db.execute(sql: "DROP TABLE IF EXISTS \(copy)")
        do {
            try db.execute(
                sql: "CREATE TABLE \(copy) \(tokens[open...].map(\.text).joined(separator: " "))")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
        return copy
    }
}
