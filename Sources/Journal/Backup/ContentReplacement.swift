import GRDB
import GRDBSQLite

/// Puts the content of another database into a replica's file, under the programs that have it open.
///
/// SQLite's backup writes the pages in one transaction (https://sqlite.org/backup.html): readers see the old
/// content until it commits, writers wait, and a kill at any point leaves the old content.
package struct ContentReplacement {
    /// The database to copy. Its page size and text encoding must be those of the file.
    package let source: String

    package init(from source: String) { self.source = source }

    /// Takes the write lock of the file, calls `prepare`, and copies ``source`` over the file.
    ///
    /// - Parameter prepare: Completes ``source``. The file does not change meanwhile, and can be read.
    /// - Throws: What `prepare` throws; ``JournalError``: `busy` while another process writes, `displaced`; errors
    ///   of SQLite. The file has its old content then.
    package func run(of replica: Replica, prepare: () throws -> Void) throws {
        try replica.checkPlace()
        var configuration = Configuration()
        configuration.busyMode = .timeout(replica.options.busySeconds)
        let target = try DatabaseQueue(path: replica.path, configuration: configuration)
        defer { try? target.close() }
        let origin = try DatabaseQueue(path: source, configuration: Configuration())
        defer { try? origin.close() }
        try target.writeWithoutTransaction { target in
            try target.execute(sql: "PRAGMA synchronous = FULL")
            try origin.writeWithoutTransaction { origin in try copy(origin, to: target, prepare) }
        }
        try replica.checkPlace()
        try replica.syncLog()
    }

    private func copy(_ origin: Database, to target: Database, _ prepare: () throws -> Void) throws {
        guard let backup = sqlite3_backup_init(target.sqliteConnection, "main", origin.sqliteConnection, "main") else {
            throw ContentReplacement.error(sqlite3_errcode(target.sqliteConnection))
        }
        // The first step takes the lock. What changes in the source afterwards makes the copy begin anew.
        var result = sqlite3_backup_step(backup, 1)
        var refusal: (any Error)?
        if result == SQLITE_OK || result == SQLITE_DONE {
            let isWhole = result == SQLITE_DONE
            do {
                guard !isWhole else { throw ContentReplacement.error(SQLITE_CORRUPT) }
                try prepare()
                result = sqlite3_backup_step(backup, -1)
            } catch {
                refusal = error
            }
        }
        // Before the last page, this takes everything back.
        let end = sqlite3_backup_finish(backup)
        if let refusal { throw refusal }
        guard result == SQLITE_DONE, end == SQLITE_OK else {
            throw ContentReplacement.error(end == SQLITE_OK ? result : end)
        }
    }

    private static func error(_ code: CInt) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
    }
}
