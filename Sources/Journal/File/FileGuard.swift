import Synchronization

/// Checks that an open database and its write-ahead log are still the files at their paths.
///
/// SQLite goes on writing to a file that was moved, replaced or removed while it was open
/// (https://sqlite.org/howtocorrupt.html, sections 4.1 and 4.2). Such a commit succeeds and is lost with the
/// orphaned file, so nothing that it contains may be acknowledged. When only the log is removed, other
/// processes start a new log, and the two logs corrupt the database.
final class FileGuard: Sendable {
    private struct Place: Equatable {
        let device: UInt64
        let inode: UInt64

        /// nil when there is no file at `path` and when its status cannot be read.
        init?(_ path: String, _ files: any FileSystem) {
            guard let status = try? files.status(of: path) else { return nil }
            device = status.device
            inode = status.inode
        }
    }

    private let path: String
    private let files: any FileSystem
    private let database: Place?
    /// nil until the log is first seen. While a connection is open, SQLite keeps the same log.
    private let log: Mutex<Place?>

    /// - Parameter path: The database, which was just opened. A symbolic link is followed, as SQLite does.
    init(path: String, files: any FileSystem) {
        self.path = files.resolved(path)
        self.files = files
        database = Place(self.path, files)
        log = Mutex(Place(self.path + "-wal", files))
    }

    /// Compares the files at both paths with the open ones. It costs two calls of stat(2).
    ///
    /// - Throws: ``JournalError/Code/displaced``. All later checks fail too: only a program that opens the
    ///   path again can use the file that is there.
    func check() throws {
        guard let present = Place(path, files), present == database else {
            throw FileGuard.displaced("the database file \(path)")
        }
        let presentLog = Place(path + "-wal", files)
        let isSame = log.withLock { known in
            if known == nil { known = presentLog }
            return known == presentLog
        }
        guard isSame else { throw FileGuard.displaced("the write-ahead log \(path)-wal") }
    }

    private static func displaced(_ what: String) -> JournalError {
        JournalError(
            .displaced, "\(what) was moved away, replaced or removed while it was open",
            hint: "Restart the program, so that it opens the file that is there now; nothing is written until then.")
    }
}
