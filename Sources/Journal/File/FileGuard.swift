import Synchronization

/// Tells whether an open database and its write-ahead log still are the files at their paths.
///
/// SQLite goes on writing to a file that was moved away, replaced or removed while it was open
/// (https://sqlite.org/howtocorrupt.html, sections 4.1 and 4.2). Such a commit succeeds, and is gone with the orphan: nothing that
/// was acknowledged may end there. With the log alone taken away, others start a new one, and the two ruin the database.
final class FileGuard: Sendable {
    private struct Place: Equatable {
        let device: UInt64
        let inode: UInt64

        /// nil when there is no file at `path`, or nothing can be told of it.
        init?(_ path: String, _ files: any FileSystem) {
            guard let status = try? files.status(of: path) else { return nil }
            device = status.device
            inode = status.inode
        }
    }

    private let path: String
    private let files: any FileSystem
    private let database: Place?
    /// nil until it is first seen. While a connection is open, SQLite keeps one log.
    private let log: Mutex<Place?>

    /// - Parameter path: The database, which has just been opened. A symbolic link is followed, as SQLite does.
    init(path: String, files: any FileSystem) {
        self.path = files.resolved(path)
        self.files = files
        database = Place(self.path, files)
        log = Mutex(Place(self.path + "-wal", files))
    }

    /// Costs two looks at files.
    ///
    /// - Throws: ``JournalError/Code/displaced``. It stays so: only a program that opens the file anew can use what is there now.
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
