import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Moves the write-ahead log into the database, one process at a time.
///
/// SQLite before 3.51.3 can lose a commit when one process commits while another checkpoints and the log restarts
/// (https://sqlite.org/wal.html, "the WAL-reset bug"). Connections that Tandem opens therefore never checkpoint by themselves;
/// this does it, holding an exclusive `flock` on `<database>-checkpoint`, which every process with Tandem asks for.
final class Checkpointer: Sendable {
    private let path: String
    private let place: FileGuard
    private let lastSize = Mutex<Int64>(0)

    init(path: String, place: FileGuard) {
        self.path = path
        self.place = place
    }

    /// Checkpoints when the log has grown by ``JournalLimits/walBytesPerCheckpoint`` since the last time.
    ///
    /// Never waits for readers unless the log is larger than ``JournalLimits/walBytesPerRestart``, and never fails a commit: a
    /// checkpoint that cannot run now runs later.
    func afterCommit(_ db: Database) {
        let size = walSize
        let isDue = lastSize.withLock { last in
            if size < last { last = 0 }
            guard size - last >= JournalLimits.walBytesPerCheckpoint else { return false }
            last = size
            return true
        }
        guard isDue else { return }
        _ = try? checkpoint(db, size >= JournalLimits.walBytesPerRestart ? .restart : .passive)
    }

    /// - Returns: nil when another process holds the lock.
    /// - Throws: ``JournalError/Code/displaced``, with nothing moved; errors of SQLite.
    func checkpoint(_ db: Database, _ mode: Checkpoint.Mode) throws -> Checkpoint? {
        try place.check()
        let lock = open(path + "-checkpoint", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { return nil }
        defer { close(lock) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { return nil }
        let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode.rawValue))")
        return Checkpoint(isBlocked: row?[0] ?? false, logPages: row?[1] ?? 0, movedPages: row?[2] ?? 0)
    }

    private var walSize: Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }
}

/// What a checkpoint did (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
public struct Checkpoint: Sendable, Hashable {
    public enum Mode: String, Sendable {
        /// Moves what no reader still needs, and waits for nobody.
        case passive = "PASSIVE"
        /// Also waits for readers, so that the log starts over from its beginning.
        case restart = "RESTART"
        /// Also cuts the log's file to nothing.
        case truncate = "TRUNCATE"
    }

    /// True when readers or writers kept it from moving all of the log.
    public let isBlocked: Bool
    /// The pages in the log, and how many of them are in the database now.
    public let logPages: Int
    public let movedPages: Int
}
