import CSQLiteShim
import GRDB
import GRDBSQLite

/// The length of the write-ahead log, and how much of it is in the database.
struct LogPosition: Sendable, Hashable {
    /// The pages in the log since its last restart.
    var pages: Int
    /// How many of these pages are in the database.
    var moved: Int
    /// The size of a page in bytes, without the 24 bytes that the log adds to each.
    var pageBytes: Int

    /// The bytes that the log holds, approximately. The log's file may be larger: bytes behind the position
    /// are left from before the restart.
    var bytes: Int64 { Int64(pages) * Int64(pageBytes) }
    /// The bytes that a checkpoint has to copy, approximately.
    var unmovedBytes: Int64 { Int64(max(0, pages - moved)) * Int64(pageBytes) }
}

extension LogPosition {
    /// - Parameter db: A connection that has read in WAL mode.
    /// - Returns: nil when there is no log.
    init?(_ db: Database) {
        var (written, moved, pageBytes): (UInt32, UInt32, UInt32) = (0, 0, 0)
        guard let connection = db.sqliteConnection,
            tandem_log_position(connection, &written, &moved, &pageBytes) == SQLITE_OK
        else { return nil }
        self.init(pages: Int(written), moved: Int(moved), pageBytes: Int(pageBytes))
    }
}
