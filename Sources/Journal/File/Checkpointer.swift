import Foundation
import GRDB
import Synchronization

/// Checkpoints the write-ahead log, one process at a time.
///
/// SQLite before 3.51.3 can lose commits (https://sqlite.org/wal.html, "the WAL-reset bug"). A checkpoint
/// begins after an earlier one has copied the whole log. It reads the log's length. Another connection
/// commits, which restarts the log. The checkpoint then marks pages of the new log as copied that are not.
/// Therefore connections that Tandem opens never checkpoint by themselves. This class checkpoints instead,
/// and
///
/// 1. holds an exclusive lock on `<database>-checkpoint`, which every Tandem process takes for a checkpoint,
/// 2. begins no checkpoint while the whole log is copied.
///
/// Under the lock no other process copies pages, and a log with a page that is not copied cannot restart.
/// Hence 2 stays true until the checkpoint has begun.
final class Checkpointer: Sendable {
    private let path: String
    private let files: any FileSystem
    private let place: FileGuard
    private let schedule = Mutex(CheckpointSchedule())

    /// - Parameter path: The database, which was just opened. A symbolic link is followed: SQLite keeps the
    ///   log next to the file itself, and all names of the file need the same lock.
    init(path: String, place: FileGuard, files: any FileSystem) {
        self.path = files.resolved(path)
        self.place = place
        self.files = files
    }

    /// Checkpoints when ``CheckpointSchedule`` requires it.
    ///
    /// It waits for readers only when the log is larger than ``JournalLimits/walBytesPerRestart`` and no
    /// reader has been there for long, and never longer than ``JournalLimits/restartMilliseconds``. It never
    /// fails a commit: a checkpoint that cannot run at one commit runs after a later one.
    func afterCommit(_ db: Database) {
        // The log's file never shrinks while it is open. So its size only rules out that a checkpoint is due.
        guard walSize >= JournalLimits.walBytesPerCheckpoint, let log = LogPosition(db),
            schedule.withLock({ $0.isDue(log) })
        else { return }
        if log.bytes >= JournalLimits.walBytesPerRestart {
            shorten(db, .restart)
        } else {
            _ = try? checkpoint(db, .passive)
        }
        if let left = LogPosition(db) { schedule.withLock { $0.checkpointed(left) } }
    }

    /// Keeps the log small while other programs write it.
    ///
    /// A program's own checkpoints start the log again, as long as no reader is in the way at each of them.
    /// This one helps where they do not. It does nothing to a log smaller than
    /// ``JournalLimits/walBytesPerRestart``.
    ///
    /// - Parameter isQuiet: True when nobody has written for a while. The log's file is then truncated.
    ///   Otherwise the next writer starts the log again from its beginning.
    /// - Returns: False when the log's file is still large.
    func tend(_ db: Database, isQuiet: Bool) -> Bool {
        guard walSize >= JournalLimits.walBytesPerRestart else { return true }
        if isQuiet {
            shorten(db, .truncate)
        } else if let log = LogPosition(db), log.bytes >= JournalLimits.walBytesPerRestart, log.unmovedBytes > 0 {
            // Of a log that is copied, the next writer starts at the beginning without help.
            shorten(db, .restart)
        }
        return walSize < JournalLimits.walBytesPerRestart
    }

    /// Gives the log's room back to the disk after a write that failed because the disk is full.
    ///
    /// The log is then the largest file that Tandem can shorten. A later try of the same write may succeed
    /// without any help. Nothing happens after another error, or when the log cannot be copied either.
    func afterFailure(_ db: Database, _ error: any Error) {
        let code = (error as? DatabaseError)?.extendedResultCode.rawValue ?? (error as? JournalError)?.sqliteCode
        guard let code, SQLiteFailure(code: code).meaning == .full, !db.isInsideTransaction else { return }
        shorten(db, .truncate)
    }

    /// Copies the log without a lock that writers need, and restarts or truncates it unless
    /// ``CheckpointSchedule/isHeld(_:)``.
    private func shorten(_ db: Database, _ mode: Checkpoint.Mode) {
        guard (try? checkpoint(db, .passive)) != nil, let rest = LogPosition(db), !CheckpointSchedule.isHeld(rest)
        else { return }
        _ = try? impatiently(db) { try checkpoint(db, mode) }
    }

    /// Runs `body` with a short time to wait for locks. A checkpoint that waits for a reader holds the write
    /// lock, and programs must not wait for it that long.
    private func impatiently<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        let usual = try Int.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
        try db.execute(sql: "PRAGMA busy_timeout = \(JournalLimits.restartMilliseconds)")
        let outcome = Result { try body() }
        try db.execute(sql: "PRAGMA busy_timeout = \(usual)")
        return try outcome.get()
    }

    /// Checkpoints under the lock.
    ///
    /// - Returns: nil when another process holds the lock, and when the lock's file cannot be created.
    /// - Throws: ``JournalError/Code/displaced`` before any page is copied; errors of SQLite.
    func checkpoint(_ db: Database, _ mode: Checkpoint.Mode) throws -> Checkpoint? {
        try place.check()
        do {
            return try files.withFile(path + "-checkpoint", .exclusiveOrNothing) { _ in
                if let done = try Checkpointer.prepare(db, mode) { return done }
                let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode.rawValue))")
                return Checkpoint(isBlocked: row?[0] ?? false, logPages: row?[1] ?? 0, movedPages: row?[2] ?? 0)
            }
        } catch is FileError {
            return nil
        }
    }

    /// Makes sure that the checkpoint has a page to copy.
    ///
    /// - Returns: The result of a checkpoint that need not run; nil when it must run.
    private static func prepare(_ db: Database, _ mode: Checkpoint.Mode) throws -> Checkpoint? {
        // The connection opens the log at its first read.
        guard try String.fetchOne(db, sql: "SELECT 'read' FROM sqlite_schema LIMIT 1") != nil,
            try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
        else { return nil }
        guard let log = LogPosition(db), log.pages > 0, log.moved >= log.pages else { return nil }
        if mode == .passive { return Checkpoint(isBlocked: false, logPages: log.pages, movedPages: log.moved) }
        // The other modes also restart or truncate the log. They wait for the write lock, but go on without
        // it when the wait takes too long. This write gives the log a page that is not copied.
        try db.execute(sql: "UPDATE _journal_replica SET id = id")
        return nil
    }

    private var walSize: Int64 { (try? files.status(of: path + "-wal"))?.size ?? 0 }
}

/// The result of a checkpoint (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
public struct Checkpoint: Sendable, Hashable {
    /// What a checkpoint waits for, and what it does to the log
    /// (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
    public enum Mode: String, Sendable {
        /// Copies as many pages as possible, and does not wait for readers or writers.
        case passive = "PASSIVE"
        /// Also waits for readers, so that the next writer restarts the log from its beginning.
        case restart = "RESTART"
        /// Also truncates the log's file to zero bytes.
        case truncate = "TRUNCATE"
    }

    /// True when readers or writers prevented a complete checkpoint.
    public let isBlocked: Bool
    /// The number of pages in the log.
    public let logPages: Int
    /// The number of the log's pages that are copied into the database.
    public let movedPages: Int
}
