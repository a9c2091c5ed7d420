import CSQLiteShim
import GRDB
import GRDBSQLite

#if canImport(Glibc)
    import Glibc
#endif

/// Extensions of SQLite (https://sqlite.org/loadext.html), which give the connections of this process the functions
/// and collations that a program has on its own.
///
/// They are code, so only an operator names them. The SQL function load_extension() stays off.
package enum SQLiteExtensions {
    /// Loads the extensions, and has SQLite load them on each connection that this process opens from now on.
    ///
    /// Call it once, before the process opens a database.
    ///
    /// - Throws: ``JournalError/Code/invalid``, with the reason, when one cannot be loaded. Connections are then
    ///   opened without any of them.
    package static func load(_ paths: [String]) throws {
        guard !paths.isEmpty else { return }
        try DatabaseQueue().inDatabase { db in
            for path in paths { try load(path, on: db) }
        }
        var copies = paths.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let code = copies.withUnsafeMutableBufferPointer { buffer in
            buffer.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
                tandem_load_extensions($0.baseAddress, Int32($0.count))
            }
        }
        guard code == SQLITE_OK else { throw JournalError(.sqlite, "There is no memory for the names of extensions") }
    }

    private static func load(_ path: String, on db: Database) throws {
        var message: UnsafeMutablePointer<CChar>?
        defer { sqlite3_free(message) }
        guard tandem_load_extension(db.sqliteConnection, path, &message) != SQLITE_OK else { return }
        let reason = message.map { String(cString: $0) } ?? "SQLite gives no reason"
        throw JournalError(.invalid, "The extension \(path) cannot be loaded: \(reason)")
    }
}
