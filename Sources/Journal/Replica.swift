import CSQLiteShim
import Foundation
import GRDB
import GRDBSQLite
import Logging

/// The door to one SQLite file with a change journal.
///
/// Any number of threads and processes may use a file at once: one writes, all read. Open it once in a process.
public final class Replica: Sendable {
    /// When a commit counts as done (https://sqlite.org/pragma.html#pragma_synchronous).
    public enum Durability: Int, Sendable {
        /// The log is on the disk before a commit returns: it survives a loss of power.
        case full = 2
        /// A commit survives a crash of the process; a loss of power may take the newest commits, never a middle one.
        case normal = 1
    }

    public struct Options: Sendable {
        /// How long a write waits for another process's write lock.
        public var busyTimeout: Duration = .seconds(10)
        public var durability: Durability = .full
        public var logger: Logger?
        /// The most connections that read at once.
        public var maximumReaders = 5
        /// Called for each new connection, after Tandem's own settings.
        public var prepare: (@Sendable (Database) throws -> Void)?

        public init() {}

        var busySeconds: TimeInterval {
            let parts = busyTimeout.components
            return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        }
    }

    public let path: String
    /// For SQL that needs no journal: reads of any kind. Write through ``write(_:)``, which marks transactions.
    public let pool: DatabasePool
    public let options: Options
    private let checkpointer: Checkpointer

    /// Opens a file that ``create(at:_:options:)`` or `syncd init` made a replica. Nothing is written.
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `notAReplica`, `unsupportedFormat`, `corrupt`, `readOnly`, `busy`.
    ///   The file is then unchanged.
    public static func open(at path: String, options: Options = Options()) throws -> Replica {
        guard try FileInspection.check(path) else {
            throw JournalError(
                .notFound, "there is no file at \(path)",
                hint: "Check the path; `syncd init` works on an existing database.")
        }
        do {
            // Looked at through a connection that changes nothing: opening the pool below would switch a foreign file to WAL.
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(options.busySeconds)
            let probe = try DatabaseQueue(path: path, configuration: configuration)
            _ = try probe.read { try Identity($0) }
            try probe.close()
            return try Replica(path: path, options: options)
        } catch {
            throw JournalError(error, operation: "opening \(path)")
        }
    }

    /// Makes a file a replica, or refreshes one: journal, identity, capture on every ordinary table or those named.
    ///
    /// Existing rows become versions 1… of this origin. All of it is one transaction.
    ///
    /// - Parameter mayCreate: True to create the file when it is missing.
    /// - Throws: ``JournalError``; the file is then unchanged (but for an empty file that was created).
    public static func create(
        at path: String, _ request: InitializeRequest, mayCreate: Bool = false, options: Options = Options()
    ) throws -> (replica: Replica, report: CaptureReport) {
        guard try FileInspection.check(path) || mayCreate else {
            throw JournalError(
                .notFound, "there is no file at \(path)",
                hint: "Create the database and its tables first; then make it a replica.")
        }
        do {
            // In the file's own journal mode, so that a failure leaves its header as it was.
            var configuration = Replica.configuration(options)
            configuration.readonly = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let report = try queue.writeWithoutTransaction { db in
                try Replica.transaction(db) {
                    try Initialization.run(request, db, fingerprint: FileFingerprint(path: path))
                }
            }
            try queue.close()
            return (try Replica(path: path, options: options), report)
        } catch {
            throw JournalError(error, operation: "making \(path) a replica")
        }
    }

    private init(path: String, options: Options) throws {
        self.path = path
        self.options = options
        checkpointer = Checkpointer(path: path)
        pool = try DatabasePool(path: path, configuration: Replica.configuration(options))
        try pool.writeWithoutTransaction { db in
            // DatabasePool sets NORMAL when it switches to WAL.
            try db.execute(sql: "PRAGMA synchronous = \(options.durability.rawValue)")
        }
    }

    public func identity() throws -> Identity {
        try read { try Identity($0) }
    }

    /// Runs `body` on one snapshot of the file.
    public func read<T>(_ body: (Database) throws -> T) throws -> T {
        try pool.read(body)
    }

    /// Runs `body` in one write transaction, marks the transaction's end in the journal, and commits.
    ///
    /// The transaction takes the write lock at its start, so `body` never fails half-way because another process wrote.
    ///
    /// - Throws: What `body` throws, after a rollback; ``JournalError`` with `busy` when the lock is not free in time.
    public func write<T>(_ body: (Database) throws -> T) throws -> T {
        try pool.writeWithoutTransaction { db in
            let result = try Replica.transaction(db) { try body(db) }
            checkpointer.afterCommit(db)
            return result
        }
    }

    /// Brings derived state up to date at a contact with the file: capture after schema changes, evicted rows, the seal.
    ///
    /// Reads only, when nothing is due.
    ///
    /// - Returns: What changed in capture, nil when nothing did.
    @discardableResult
    public func settle() throws -> CaptureReport? {
        let due = try read { db in (capture: try Capture.isStale(db), seal: try Seal.isDue(db)) }
        guard due.capture || due.seal else { return nil }
        return try write { db in
            if try Capture.isStale(db) {
                let report = try Capture.refresh(db)
                return report.changed.isEmpty ? nil : report
            }
            try Seal.run(db)
            return nil
        }
    }

    /// A connection of its own for changes of peers: triggers and foreign-key actions off, the schema not trusted.
    ///
    /// Triggers off means no echo into the journal; the effects of a user's triggers arrive as changes of their own.
    public func openMergeConnection() throws -> MergeConnection {
        try MergeConnection(path: path, options: options, checkpointer: checkpointer)
    }

    /// Moves the write-ahead log into the database and closes every connection. The replica cannot be used afterwards.
    public func close() throws {
        try pool.writeWithoutTransaction { try checkpointer.checkpoint($0, restarting: false) }
        try pool.close()
    }

    // MARK: - Connections

    static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(options.busySeconds)
        configuration.maximumReaderCount = options.maximumReaders
        configuration.label = "tandem"
        configuration.prepareDatabase { db in
            // Evictions by REPLACE fire delete triggers only with recursive triggers
            // (https://sqlite.org/lang_conflict.html).
            try db.execute(sql: "PRAGMA recursive_triggers = ON")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "PRAGMA mmap_size = 0")
            if let connection = db.sqliteConnection { _ = tandem_no_checkpoint_on_close(connection, 1) }
            try options.prepare?(db)
        }
        return configuration
    }

    /// BEGIN IMMEDIATE, `body`, the end mark on the last local entry, COMMIT; ROLLBACK on any error.
    static func transaction<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        var result: T?
        var isStarted = false
        do {
            try db.inTransaction(.immediate) {
                isStarted = true
                let before = try Replica.lastSeq(db)
                let value = try body()
                let after = try Replica.lastSeq(db)
                if after > before {
                    try db.cachedStatement(sql: "UPDATE _journal SET tx = 1 WHERE seq = ? AND origin IS NULL")
                        .execute(arguments: [after])
                }
                result = value
                return .commit
            }
        } catch  where !isStarted {
            throw JournalError(error, operation: "starting a write")
        }
        guard let result else { throw JournalError(.invalid, "the transaction gave no result") }
        return result
    }

    /// 0 also for a file that is not a replica yet.
    private static func lastSeq(_ db: Database) throws -> Int64 {
        guard try db.tableExists("_journal") else { return 0 }
        return try db.cachedStatement(sql: "SELECT max(seq) FROM _journal").lastSeq()
    }
}

extension Statement {
    fileprivate func lastSeq() throws -> Int64 { try Int64.fetchOne(self) ?? 0 }
}

/// The connection that applies changes of peers. One at a time writes; it waits for the lock like any other writer.
public final class MergeConnection: Sendable {
    private let queue: DatabaseQueue
    private let checkpointer: Checkpointer

    init(path: String, options: Replica.Options, checkpointer: Checkpointer) throws {
        var configuration = Replica.configuration(options)
        configuration.foreignKeysEnabled = false
        configuration.label = "tandem.merge"
        let durability = options.durability
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "PRAGMA mmap_size = 0")
            // 16 MiB: a large transaction then spills its pages to the log once, not again and again.
            try db.execute(sql: "PRAGMA cache_size = -16384")
            try db.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            guard let connection = db.sqliteConnection,
                tandem_no_checkpoint_on_close(connection, 1) == SQLITE_OK,
                tandem_enable_triggers(connection, 0) == SQLITE_OK,
                tandem_defensive(connection, 1) == SQLITE_OK,
                tandem_trusted_schema(connection, 0) == SQLITE_OK
            else {
                throw JournalError(.sqlite, "SQLite refuses the settings of the merging connection")
            }
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        self.checkpointer = checkpointer
    }

    /// Runs `body` in one write transaction that starts with the write lock.
    ///
    /// - Throws: What `body` throws, after a rollback.
    public func write<T>(_ body: (Database) throws -> T) throws -> T {
        try queue.writeWithoutTransaction { db in
            var result: T?
            try db.inTransaction(.immediate) {
                result = try body(db)
                return .commit
            }
            checkpointer.afterCommit(db)
            guard let result else { throw JournalError(.invalid, "the transaction gave no result") }
            return result
        }
    }

    public func close() throws { try queue.close() }
}
