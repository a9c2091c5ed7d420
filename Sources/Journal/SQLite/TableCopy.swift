import GRDB

extension TableInspection {
    /// Makes an empty temporary table with the columns of this one, for rows that are not in it: SQLite then computes their
    /// generated columns. One of an earlier call is replaced.
    ///
    /// - Parameter number: Tells the copies of one connection apart.
    /// - Returns: The copy as SQL names it; nil when the definition has no meaning under another name.
    /// - Throws: Errors of SQLite but for a definition that does not compile.
    public func makeTemporaryCopy(_ db: Database, number: Int64) throws -> String? {
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
