import GRDB

/// What SQLite's own check says about one table and its indexes (https://sqlite.org/pragma.html#pragma_integrity_check).
package enum TableIntegrity {
    /// - Returns: The first problem; nil for an intact table.
    /// - Throws: Errors of SQLite, also when the check needs something that only the table's own program has; see
    ///   ``ApplicationDefined``.
    package static func problem(in table: String, _ db: Database) throws -> String? {
        let problems = try String.fetchCursor(
            db, sql: "PRAGMA main.integrity_check(\(SQLText.quote(identifier: table)))")
        while let problem = try problems.next() {
            // SQLite 3.40 reports this for intact WITHOUT ROWID tables whose key is not their first column.
            if problem != "ok", !problem.hasPrefix("NULL value in ") { return problem }
        }
        return nil
    }
}
