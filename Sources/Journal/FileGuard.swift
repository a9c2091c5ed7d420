import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Tells whether an open database and its write-ahead log still are the files at their paths.
///
/// SQLite goes on writing to a file that was moved away, replaced or removed while it was open
/// (https://sqlite.org/howtocorrupt.html, sections 4.1 and 4.2). Such a commit succeeds, and is gone with the orphan: nothing that
/// was acknowledged may end there. With the log alone taken away, others start a new one, and the two ruin the database.
final class FileGuard: Sendable {
    private struct Place: Equatable {
        let device: UInt64
        let inode: UInt64

        /// nil when there is no file at `path`.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
        }
    }

    private let path: String
    private let database: Place?
    /// nil until it is first seen. While a connection is open, SQLite keeps one log.
    private let log: Mutex<Place?>

    /// - Parameter path: The database, which has just been opened. A symbolic link is followed, as SQLite does.
    init(path: String) {
        let resolved = realpath(path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        self.path = resolved ?? path
        database = Place(self.path)
        log = Mutex(Place(self.path + "-wal"))
    }

    /// Costs two looks at files.
    ///
    /// - Throws: ``JournalError/Code/displaced``. It stays so: only a program that opens the file anew can use what is there now.
    func check() throws {
        guard let present = Place(path), present == database else {
            throw FileGuard.displaced("the database file \(path)")
        }
        let presentLog = Place(path + "-wal")
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
