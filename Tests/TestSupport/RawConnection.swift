import CSQLiteShim
import GRDBSQLite
import Journal

/// A connection of a program without Tandem: SQLite's defaults, C API, nothing registered.
package final class RawConnection {
    private let handle: OpaquePointer

    /// - Parameters:
    ///   - path: A path or a `file:` URI.
    ///   - vfs: The name of a registered VFS; nil for the system's own.
    package init(path: String, vfs: String? = nil, recursiveTriggers: Bool = false, foreignKeys: Bool = false) throws {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(path, &connection, flags, vfs)
        guard code == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw RawConnectionError(code: code, message: "cannot open \(path)")
        }
        handle = connection
        // A random trigger that fires itself without end should fail soon.
        sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 30)
        sqlite3_busy_timeout(handle, 10_000)
        try run("PRAGMA synchronous = OFF")
        if recursiveTriggers { try run("PRAGMA recursive_triggers = ON") }
        if foreignKeys { try run("PRAGMA foreign_keys = ON") }
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs a script up to its first error.
    ///
    /// - Returns: The extended result code.
    package func execute(_ sql: String) -> Int32 {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        return code == SQLITE_OK ? code : sqlite3_extended_errcode(handle)
    }

    /// Runs a script that must not fail.
    package func run(_ sql: String) throws {
        let code = execute(sql)
        guard code == SQLITE_OK else { throw RawConnectionError(code: code, message: "\(lastMessage) in: \(sql)") }
    }

    /// The rows of a query, with storage classes and exact bytes.
    package func rows(_ sql: String) throws -> [[Value]] {
        let statement = try RawStatement(handle, sql)
        var rows: [[Value]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.column)) }
        return rows
    }

    /// Writes the first bytes of a value by `sqlite3_blob_write` (https://sqlite.org/c3ref/blob_open.html), which
    /// fires no trigger.
    package func overwrite(_ table: String, _ column: String, rowid: Int64, _ text: String) throws {
        var blob: OpaquePointer?
        var code = sqlite3_blob_open(handle, "main", table, column, rowid, 1, &blob)
        if code == SQLITE_OK { code = sqlite3_blob_write(blob, text, Int32(text.utf8.count), 0) }
        sqlite3_blob_close(blob)
        guard code == SQLITE_OK else { throw RawConnectionError(code: code, message: lastMessage) }
    }

    /// Lets triggers fire or not, as `sqlite3_db_config` does for programs.
    package func enableTriggers(_ isOn: Bool) throws {
        let code = tandem_enable_triggers(handle, isOn ? 1 : 0)
        guard code == SQLITE_OK else { throw RawConnectionError(code: code, message: lastMessage) }
    }

    package var lastMessage: String { String(cString: sqlite3_errmsg(handle)) }
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}

/// A failure of a ``RawConnection``.
package struct RawConnectionError: Error, CustomStringConvertible {
    package let code: Int32
    package let message: String
    package var description: String { "\(message) (\(code))" }
}
