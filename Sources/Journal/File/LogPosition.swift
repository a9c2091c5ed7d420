import CSQLiteShim
import GRDB
import GRDBSQLite

/// How far the write-ahead log reaches, and how much of it is in the database.
struct LogPosition: Sendable, Hashable {
    /// In the log, since it began anew last.
    var pages: Int
    /// How many of them are in the database.
    var moved: Int
    /// Of a page, without the 24 bytes that the log adds to it.
    var pageBytes: Int

    /// About what the log holds, in bytes. Its file may be larger: what is behind the position is from before.
    var bytes: Int64 { Int64(pages) * Int64(pageBytes) }
    /// About what a checkpoint has to move, in bytes.
    var unmovedBytes: Int64 { Int64(max(0, pages - moved)) * Int64(pageBytes) }
}

extension LogPosition {
    /// - Parameter db: A connection that has read in WAL mode.
    /// - Returns: nil where there is no log.
    init?(_ db: Database) {
        var (written, moved, pageBytes): (UInt32, UInt32, UInt32) = (0, 0, 0)
        guard let connection = db.sqliteConnection,
            tandem_log_position(connection, &written, &moved, &pageBytes) == SQLITE_OK
        else { return nil }
        self.init(pages: Int(written), moved: Int(moved), pageBytes: Int(pageBytes))
    }
}
