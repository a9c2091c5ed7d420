import GRDB

// Rows of a tracked table that do not stay as they are when the table replicates.

extension TableInspection {
    /// The number of rows with NULL in the primary key, which are not replicated. SQLite allows them in most
    /// keys (https://sqlite.org/lang_createtable.html, section 3.5).
    func rowsWithoutKey(_ db: Database) throws -> Int64 {
        let nullable = stored.prefix(keyCount).filter { !$0.isNotNull }
        guard !hasRowidKey, !isWithoutRowid, !nullable.isEmpty else { return 0 }
        let condition = nullable.map { "\(SQLText.quote(identifier: $0.name)) IS NULL" }.joined(separator: " OR ")
        return try Int64.fetchOne(
            db, sql: "SELECT count(*) FROM \(SQLText.quote(identifier: name)) WHERE \(condition)") ?? 0
    }

    /// The number of foreign keys of its rows that lead to no row. SQLite takes such rows while foreign keys
    /// are off, which is its default; merging holds them.
    func brokenReferences(_ db: Database) throws -> Int64 {
        do {
            // A foreign key to a table that is not there is not in force.
            return try Int64.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM pragma_foreign_key_check(?)
                    WHERE lower(parent) IN (SELECT lower(name) FROM main.sqlite_master WHERE type = 'table')
                    """, arguments: [name]) ?? 0
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // SQLite cannot check a foreign key to columns without a unique index, and never enforces it.
            return 0
        }
    }
}
