import GRDB
import GRDBSQLite

/// The order of TEXT by the bytes of its UTF-8, which is the same in all files.
///
/// SQLite's BINARY collation compares the bytes of the file's encoding, so it orders a UTF-16 file otherwise.
/// NOCASE and RTRIM always compare UTF-8 (https://sqlite.org/datatype3.html#collation).
package enum TextOrder {
    private static let name = "tandem_utf8"

    /// Returns the collation to name where BINARY is meant: nil in a UTF-8 file. In another file, it adds a
    /// collation to the connection. No index has it, so SQLite sorts the rows.
    ///
    /// - Throws: Errors of SQLite.
    package static func collation(_ db: Database) throws -> String? {
        guard try String.fetchOne(db.cachedStatement(sql: "PRAGMA encoding")) != "UTF-8" else { return nil }
        let isThere = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM pragma_collation_list WHERE name = ?)"),
            arguments: [name])
        // Adding it again would fail while a statement runs.
        if isThere != true { try add(db) }
        return name
    }

    private static func add(_ db: Database) throws {
        guard let connection = db.sqliteConnection else { throw JournalError(.sqlite, "The connection is closed") }
        let code = sqlite3_create_collation_v2(
            connection, name, SQLITE_UTF8, nil,
            { _, countA, a, countB, b in
                let a = UnsafeRawBufferPointer(start: a, count: Int(countA))
                let b = UnsafeRawBufferPointer(start: b, count: Int(countB))
                return a.lexicographicallyPrecedes(b) ? -1 : a.elementsEqual(b) ? 0 : 1
            }, nil)
        guard code == SQLITE_OK else {
            throw JournalError(sqliteConnection: connection, operation: "Adding a collation")
        }
    }
}
