import Foundation
import GRDB
import Synchronization

/// Moves the write-ahead log into the database, one process at a time.
///
/// SQLite before 3.51.3 can lose commits (https://sqlite.org/wal.html, "the WAL-reset bug"): a checkpoint begins when an earlier one has moved
/// all of the log; it reads the log's length; another connection commits, which begins the log anew; the checkpoint then counts pages of the
/// new log as moved that are not. So connections that Tandem opens never checkpoint by themselves. This does it, and
///
/// 1. holds an exclusive lock on `<database>-checkpoint`, which every process with Tandem asks for,
/// 2. begins no checkpoint while all of the log is moved.
///
/// Under the lock nobody else moves pages, and a log of which a page is not moved cannot begin anew. Hence 2 stays true until the
/// checkpoint has begun.
final class Checkpointer: Sendable {
    private let path: String
    private let files: any FileSystem
    private let place: FileGuard
    private let schedule = Mutex(CheckpointSchedule())

    /// - Parameter path: The database, which has just been opened. A symbolic link is followed: SQLite keeps the log next to the
    ///   file itself, and the lock has to be the same for every name of it.
    init(path: String, place: FileGuard, files: any FileSystem) {
        self.path = files.resolved(path)
        self.place = place
        self.files = files
    }

    /// Checkpoints when ``CheckpointSchedule`` says so.
    ///
    /// Never waits for readers unless the log is larger than ``JournalLimits/walBytesPerRestart``, and never fails a commit: a
    /// checkpoint that cannot run now runs later.
    func afterCommit(_ db: Database) {
        // The log's file never shrinks while it is open, so its size says only that there may be something to do.
        guard walSize >= JournalLimits.walBytesPerCheckpoint, let log = LogPosition(db),
            schedule.withLock({ $0.isDue(log) })
        else { return }
        _ = try? checkpoint(db, log.bytes >= JournalLimits.walBytesPerRestart ? .restart : .passive)
        if let left = LogPosition(db) { schedule.withLock { $0.checkpointed(left) } }
    }

    /// - Returns: nil when another process holds the lock, or the file of the lock cannot be made.
    /// - Throws: ``JournalError/Code/displaced``, with nothing moved; errors of SQLite.
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

    /// Sees to it that a checkpoint has something to move.
    ///
    /// - Returns: What there is to say when nothing is to do.
    private static func prepare(_ db: Database, _ mode: Checkpoint.Mode) throws -> Checkpoint? {
        // The connection has opened the log once it has read.
        guard try String.fetchOne(db, sql: "SELECT 'read' FROM sqlite_schema LIMIT 1") != nil,
            try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
        else { return nil }
        guard let log = LogPosition(db), log.pages > 0, log.moved >= log.pages else { return nil }
        if mode == .passive { return Checkpoint(isBlocked: false, logPages: log.pages, movedPages: log.moved) }
        // The other modes also begin the log anew or cut it. They wait for the write lock, but go on without it when that takes too long.
        try db.execute(sql: "UPDATE _journal_replica SET id = id")
        return nil
    }

    private var walSize: Int64 { (try? files.status(of: path + "-wal"))?.size ?? 0 }
}

/// What a checkpoint did (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
public struct Checkpoint: Sendable, Hashable {
    /// For whom it waits, and what becomes of the log (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
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
    /// The pages in the log.
    public let logPages: Int
    /// How many of them are in the database now.
    public let movedPages: Int
}
