import CSQLiteShim
import GRDB

/// The journal mode of a file (https://sqlite.org/pragma.html#pragma_journal_mode). Of all modes, only WAL is
/// stored in the file.
enum JournalMode {
    static func isWAL(_ db: Database) throws -> Bool {
        try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
    }

    /// Ends WAL mode, and with it the log. It stays while another connection has the file open.
    ///
    /// - Parameter staysWAL: True to go back to WAL mode, with an empty log that closing this connection
    ///   removes.
    static func removeLog(_ db: Database, staysWAL: Bool) {
        // Only the last connection to a file can end WAL.
        guard (try? String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")) == "delete", staysWAL else { return }
        // Nobody else has the file open, so no other process can checkpoint it.
        if let connection = db.sqliteConnection { _ = tandem_no_checkpoint_on_close(connection, 0) }
        _ = try? String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
    }
}
