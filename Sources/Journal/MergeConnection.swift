import CSQLiteShim
import GRDB
import GRDBSQLite

/// The connection that applies changes of peers. One transaction writes at a time; it waits for the write
/// lock like any other writer.
package final class MergeConnection: Sendable {
    private let queue: DatabaseQueue
    private let checkpointer: Checkpointer
    private let place: FileGuard

    init(path: String, options: Replica.Options, checkpointer: Checkpointer, place: FileGuard) throws {
        var configuration = Replica.configuration(options)
        configuration.foreignKeysEnabled = false
        configuration.label = "tandem.merge"
        let durability = options.durability
        configuration.prepareDatabase { db in
            // 16 MiB. A large transaction then spills its pages to the log once, not repeatedly.
            try db.execute(sql: "PRAGMA cache_size = -16384")
            try db.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            guard let connection = db.sqliteConnection,
                tandem_enable_triggers(connection, 0) == SQLITE_OK,
                tandem_defensive(connection, 1) == SQLITE_OK,
                // The schema is the file's own: no peer sends SQL. An untrusted schema may not use the JSON
                // functions in constraints, indexes and generated columns, which SQLite up to 3.40 does not
                // mark as harmless (https://sqlite.org/c3ref/c_dbconfig_defensive.html).
                tandem_trusted_schema(connection, 1) == SQLITE_OK
            else {
                throw JournalError(.sqlite, "SQLite refuses the settings of the merging connection")
            }
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        self.checkpointer = checkpointer
        self.place = place
    }

    /// Runs `body` in one write transaction, which takes the write lock at its start.
    ///
    /// - Throws: What `body` throws, after a rollback; ``JournalError/Code/displaced`` when the file was
    ///   moved, replaced or removed before or during the transaction. Confirm nothing to a peer in that case.
    package func write<T>(_ body: (Database) throws -> T) throws -> T {
        try queue.writeWithoutTransaction { db in
            try place.check()
            var result: T?
            do {
                try db.inTransaction(.immediate) {
                    result = try body(db)
                    return .commit
                }
            } catch {
                checkpointer.afterFailure(db, error)
                throw error
            }
            try place.check()
            checkpointer.afterCommit(db)
            guard let result else { throw JournalError(.invalid, "The transaction gave no result") }
            return result
        }
    }

    /// Runs `body` in a snapshot. A statement that writes fails, and takes no lock.
    ///
    /// - Throws: What `body` throws; errors of SQLite.
    package func read<T>(_ body: (Database) throws -> T) throws -> T { try queue.read(body) }

    /// Waits for the running write, and closes the connection. Every later use throws `SQLITE_MISUSE`.
    ///
    /// - Throws: `DatabaseError` when SQLite cannot close. Closing a closed connection does nothing.
    package func close() throws { try queue.close() }
}
