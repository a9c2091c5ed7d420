import CSQLiteShim
import GRDB
import GRDBSQLite

/// The connection that applies changes of peers. One at a time writes; it waits for the lock like any other writer.
public final class MergeConnection: Sendable {
    private let queue: DatabaseQueue
    private let checkpointer: Checkpointer
    private let place: FileGuard

    init(path: String, options: Replica.Options, checkpointer: Checkpointer, place: FileGuard) throws {
        var configuration = Replica.configuration(options)
        configuration.foreignKeysEnabled = false
        configuration.label = "tandem.merge"
        let durability = options.durability
        configuration.prepareDatabase { db in
            // 16 MiB: a large transaction then spills its pages to the log once, not again and again.
            try db.execute(sql: "PRAGMA cache_size = -16384")
            try db.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            guard let connection = db.sqliteConnection,
                tandem_enable_triggers(connection, 0) == SQLITE_OK,
                tandem_defensive(connection, 1) == SQLITE_OK,
                tandem_trusted_schema(connection, 0) == SQLITE_OK
            else {
                throw JournalError(.sqlite, "SQLite refuses the settings of the merging connection")
            }
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        self.checkpointer = checkpointer
        self.place = place
    }

    /// Runs `body` in one write transaction that starts with the write lock.
    ///
    /// - Throws: What `body` throws, after a rollback; ``JournalError`` with `displaced` when the file was taken away before or
    ///   meanwhile: then nothing may be confirmed to a peer.
    public func write<T>(_ body: (Database) throws -> T) throws -> T {
        try queue.writeWithoutTransaction { db in
            try place.check()
            var result: T?
            try db.inTransaction(.immediate) {
                result = try body(db)
                return .commit
            }
            try place.check()
            checkpointer.afterCommit(db)
            guard let result else { throw JournalError(.invalid, "the transaction gave no result") }
            return result
        }
    }

    /// Waits for the write under way, and closes the connection. Every use from then on throws `SQLITE_MISUSE`.
    ///
    /// - Throws: `DatabaseError` when SQLite cannot close; closing again does nothing.
    public func close() throws { try queue.close() }
}
