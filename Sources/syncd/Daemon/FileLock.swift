import Foundation
import Journal

/// The lock that lets only one daemon serve a file: an exclusive `flock(2)` on `<file>-syncd`.
///
/// The kernel releases it however the process ends, so no stale lock can remain. The lock file stays: after a
/// removal, a third process could lock a new file of the same name while a second one still waits for the old
/// file.
///
/// The lock is not on the database itself: closing any descriptor of a database file drops SQLite's own locks
/// on it (https://sqlite.org/howtocorrupt.html, section 2.2).
final class FileLock: Sendable {
    /// Why the lock is taken. It decides the message when another process holds it.
    enum Purpose {
        case daemon
        case maintenance
    }

    private let descriptor: Int32

    /// - Parameter path: The database. Symbolic links are resolved, so that two names of one file share one
    ///   lock.
    /// - Throws: ``Failure`` when another process holds the lock, or when the lock file cannot be opened.
    init(database path: String, for purpose: Purpose = .daemon) throws {
        let lockPath = SystemFiles().resolved(path) + "-syncd"
        let descriptor = SideFile.open(lockPath, flags: O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw Failure(
                "The lock file \(lockPath) cannot be opened: \(String(cString: strerror(errno)))",
                hint: "This user must be able to write in the directory of the database")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            let holder = FileLock.holder(descriptor)
            close(descriptor)
            if reason == EWOULDBLOCK {
                let process = holder.map { " (process \($0))" } ?? ""
                switch purpose {
                case .daemon:
                    throw Failure(
                        "Another daemon already serves \(path)\(process)",
                        hint: "One daemon per file is enough: stop the other one first, or add your peers to it")
                case .maintenance:
                    throw Failure("A daemon serves \(path)\(process)", hint: "Stop the daemon first, then try again")
                }
            }
            throw Failure(
                "\(lockPath) cannot be locked: \(String(cString: strerror(reason)))",
                hint: "The database must be on a local disk whose file system supports flock(2)")
        }
        // Shown in messages and to people who read the file; the lock itself does not depend on it.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        // Set last: `deinit` also runs when an initializer throws after all properties are set, and would
        // close the descriptor a second time.
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self))
    }
}
