import GRDB
import Journal

/// The temporary triggers of the merging connection, which it alone has.
enum TemporaryTriggers {
    /// Drops those whose names begin with `prefix`. They may name tables that the schema has no longer.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func drop(_ db: Database, prefix: String) throws {
        let names = try String.fetchAll(
            db,
            sql: "SELECT name FROM temp.sqlite_master WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1",
            arguments: [prefix])
        for name in names { try db.execute(sql: "DROP TRIGGER temp.\(SQLText.quote(identifier: name))") }
    }
}
