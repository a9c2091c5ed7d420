import CSQLiteShim
import Foundation
import GRDB
import GRDBSQLite
import Logging

/// One SQLite file with a change journal: opens, reads, writes and checkpoints it.
///
/// Any number of threads and processes may use a file at the same time: one writes, all read. Open a file
/// only once in a process.
public final class Replica: Sendable {
    /// When a commit counts as done (https://sqlite.org/pragma.html#pragma_synchronous).
    public enum Durability: Int, Sendable {
        /// The log is on the disk before a commit returns, so the commit survives a power loss.
        case full = 2
        /// A commit survives a crash of the process. After a power loss the newest commits may be missing,
        /// but never one that precedes a commit that survives.
        case normal = 1
    }

    /// How a replica opens and uses its file.
    public struct Options: Sendable {
        /// How long a write waits for another process's write lock.
        public var busyTimeout: Duration = .seconds(10)
        /// What a commit waits for.
        public var durability: Durability = .full
        /// Receives replication's warnings about deferred and dropped changes, when replication has no logger
        /// of its own; nil for no warnings.
        public var logger: Logger?
        /// The most connections that read at the same time.
        public var maximumReaders = 5
        /// True to read and write by one connection. Opening then writes nothing, while a pool of connections
        /// needs a log that is not empty. Reads wait for writes, so it is for commands, and not for programs
        /// that serve a file.
        package var hasOneConnection = false
        /// File access outside of SQLite. SQLite's VFS must see the same files.
        package var files: any FileSystem = SystemFiles()
        /// Called for each new connection before the first read, for example to set the key of an encrypted
        /// file. When it is set, the file's header is not checked.
        public var unlock: (@Sendable (Database) throws -> Void)?
        /// Called for each new connection, after Tandem's own settings.
        public var prepare: (@Sendable (Database) throws -> Void)?

        /// The defaults.
        public init() {}

        /// These options for one more file, whose collations are its own.
        ///
        /// - Parameter collations: Mapped besides those of the file.
        func ofOneFile(mapping collations: [(name: String, target: KeyCollation?)] = []) -> Options {
            var options = self
            options.collations = ProgramCollations(collations)
            return options
        }

        /// The collations of programs that the connections have; see ``CollationMap``.
        var collations = ProgramCollations()

        var busySeconds: TimeInterval {
            let parts = busyTimeout.components
            return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        }
    }

    /// The path as it was given; SQLite's name of the database for a database in memory.
    public let path: String
    /// The connections, for SQL that does not use the journal, such as reads. Write through
    /// ``write(enforcingForeignKeys:_:)``, which marks transactions in the journal.
    public let connections: any DatabaseWriter
    /// The options with which the replica was opened.
    public let options: Options
    /// True for a replica that ``reading(_:options:)`` opened: every write fails.
    public let isReadOnly: Bool
    /// False for a file without a journal, which only ``reading(_:options:)`` opens.
    public let hasJournal: Bool
    /// False for a replica in memory, and for one that is open for reading only.
    package var isFile: Bool { checkpointer != nil }
    /// nil for databases without a log to checkpoint: in memory, and read-only.
    private let checkpointer: Checkpointer?
    /// nil in memory and read-only.
    private let place: FileGuard?
    private let gate = ClosingGate()

    init(path: String, options: Options) throws {
        let options = options.ofOneFile()
        self.path = path
        self.options = options
        isReadOnly = false
        hasJournal = true
        connections = try Replica.connections(path, options)
        try connections.read(options.collations.reload)
        // The guard notes the log, so it comes after the log was opened.
        let place = FileGuard(path: path, files: options.files)
        self.place = place
        checkpointer = Checkpointer(path: path, place: place, files: options.files)
        try connections.writeWithoutTransaction { db in
            // DatabasePool sets NORMAL when it switches to WAL.
            try db.execute(sql: "PRAGMA synchronous = \(options.durability.rawValue)")
        }
    }

    init(readOnly path: String, hasJournal: Bool, options: Options) throws {
        let options = options.ofOneFile()
        self.path = path
        self.options = options
        self.hasJournal = hasJournal
        isReadOnly = true
        checkpointer = nil
        place = nil
        var configuration = Replica.configuration(options)
        configuration.readonly = true
        connections = try DatabasePool(path: path, configuration: configuration)
        if hasJournal { try connections.read(options.collations.reload) }
    }

    init(inMemory queue: DatabaseQueue, options: Options) {
        path = queue.path
        self.options = options
        isReadOnly = false
        hasJournal = true
        checkpointer = nil
        place = nil
        connections = queue
    }

    /// Reads the replica's identity from the file.
    ///
    /// - Throws: As ``Identity/init(_:)``, and as ``read(_:)``.
    public func identity() throws -> Identity {
        try read { try Identity($0) }
    }

    /// Runs `body` in one snapshot of the file.
    ///
    /// - Throws: What `body` throws; `DatabaseError` when no connection is available; `SQLITE_MISUSE` once
    ///   the replica is closed.
    public func read<T>(_ body: (Database) throws -> T) throws -> T {
        try gate.pass { try connections.read(body) }
    }

    /// Runs `body` with the connections themselves, for work that is neither a read nor a write of rows.
    ///
    /// - Throws: As ``write(enforcingForeignKeys:_:)``, and what `body` throws.
    public func withConnections<T>(_ body: (any DatabaseWriter) throws -> T) throws -> T {
        try gate.pass {
            try place?.check()
            return try body(connections)
        }
    }

    /// Runs `body` in one write transaction, marks the transaction's end in the journal, and commits.
    ///
    /// The transaction takes the write lock at its start, so `body` never fails half-way because another
    /// process has written.
    ///
    /// - Parameters:
    ///   - enforcingForeignKeys: False disables the checks and actions of foreign keys, which the
    ///     rebuild of a table needs (https://sqlite.org/lang_altertable.html#otheralter, step 1). `body` must
    ///     then check the keys at its end.
    ///   - body: Writes; its transaction is marked in the journal.
    /// - Throws: What `body` throws, after a rollback; ``JournalError``: `busy` when another process holds
    ///   the write lock for longer than ``Options/busyTimeout``, `displaced` when the file is not at its
    ///   path.
    public func write<T>(enforcingForeignKeys: Bool = true, _ body: (Database) throws -> T) throws -> T {
        try write(enforcingForeignKeys: enforcingForeignKeys) { db, _ in try body(db) }
    }

    /// Like ``write(enforcingForeignKeys:_:)``.
    ///
    /// - Parameter body: Also receives the position of the journal's newest entry before the transaction.
    package func write<T>(
        enforcingForeignKeys: Bool = true, _ body: (Database, _ before: Int64) throws -> T
    ) throws -> T {
        try gate.pass { try writeInside(enforcingForeignKeys: enforcingForeignKeys, body) }
    }

    private func writeInside<T>(
        enforcingForeignKeys: Bool, _ body: (Database, _ before: Int64) throws -> T
    ) throws -> T {
        try connections.writeWithoutTransaction { db in
            try place?.check()
            // The pragma has no effect inside a transaction.
            if !enforcingForeignKeys { try db.execute(sql: "PRAGMA foreign_keys = OFF") }
            let outcome = Result { try Replica.transaction(db, body) }
            if !enforcingForeignKeys { try db.execute(sql: "PRAGMA foreign_keys = ON") }
            if case .failure(let error) = outcome { checkpointer?.afterFailure(db, error) }
            let result = try outcome.get()
            checkpointer?.afterCommit(db)
            return result
        }
    }

    /// Checks that the open file is still the one at its path. Every write checks this too.
    ///
    /// - Throws: ``JournalError/Code/displaced`` when the file or its write-ahead log was moved, replaced or
    ///   removed.
    public func checkPlace() throws { try place?.check() }

    /// Brings derived state up to date at a contact with the file: capture after schema changes, evicted
    /// rows, lives and stamps of local changes.
    ///
    /// It writes nothing when everything is up to date. Of a very long local tail, it folds the first part: a
    /// snapshot must not stay open for long.
    ///
    /// - Returns: What changed in capture; nil when capture did not change, and for a read-only replica.
    /// - Throws: As ``write(enforcingForeignKeys:_:)``; ``JournalError/Code/corrupt`` when the journal is
    ///   damaged. The file is then unchanged.
    @discardableResult
    public func refreshDerivedState() throws -> CaptureReport? {
        if isReadOnly { return nil }
        let due = try read { db in
            // Another process may have mapped a collation, which a table of the new schema needs.
            try options.collations.reload(db)
            return (isCapture: try Capture.isStale(db), seal: try DerivedState.staleness(db))
        }
        guard !due.isCapture else { return try refreshCapture() }
        switch due.seal {
        case nil: break
        case .suspects: try write(DerivedState.materialize)
        case .tail: try sealTail()
        }
        return nil
    }

    /// Compares the rows of all tracked tables with the journal, and journals what programs wrote past capture, as
    /// changes of this replica. It holds the write lock for one pass over the journal and one over the rows, and for
    /// more in large tables.
    ///
    /// - Parameter rowsPerPart: About how many rows are compared at a time, 1 or more.
    /// - Returns: The number of changes.
    /// - Throws: As ``refreshDerivedState()``.
    package func recapture(rowsPerPart: Int64 = JournalLimits.comparedRows) throws -> Int64 {
        let report = try write { try Capture.refresh($0, after: nil, recaptures: true, rowsPerPart: rowsPerPart) }
        return report.tracked.reduce(0) { $0 + $1.recoveredChanges }
    }

    /// True when the local tail is so long that a further ``refreshDerivedState()`` shortens it.
    ///
    /// - Throws: As ``read(_:)``.
    package func hasLongTail() throws -> Bool { try read { try DerivedState.staleness($0) == .tail } }

    private func refreshCapture() throws -> CaptureReport? {
        try write { db in
            guard try Capture.isStale(db) else { return nil }
            let report = try Capture.refresh(db)
            return report.changed.isEmpty ? nil : report
        }
    }

    /// Folds the local tail, or the beginning of a long one, in a snapshot, and writes the result.
    private func sealTail() throws {
        let sealed: SealedTail? = try read { db in
            // What is held of overwritten rows is dropped where the row is read, under the write lock.
            guard try HeldOverwrites(db) == nil else { return nil }
            return try SealedTail(db, notingOverwrites: nil, atMost: JournalLimits.changesPerFold)
        }
        guard let sealed else { return try write(DerivedState.materialize) }
        try write { db in
            // A row may have been held since the snapshot.
            guard try HeldOverwrites(db) == nil else { return }
            try sealed.write(db)
        }
    }

    /// Opens a separate connection for changes of peers. On it, triggers and foreign-key actions are off.
    ///
    /// Without triggers, applying a change journals nothing. The effects of users' triggers arrive as changes
    /// of their own.
    ///
    /// - Throws: ``JournalError``: `readOnly` for a replica that is in memory or read-only, `displaced`;
    ///   `DatabaseError` when the file cannot be opened.
    package func openMergeConnection() throws -> MergeConnection {
        guard let checkpointer, let place else {
            throw JournalError(.readOnly, "Changes of peers need a file that is open for writing")
        }
        try place.check()
        return try MergeConnection(path: path, options: options, checkpointer: checkpointer, place: place)
    }

    /// Checkpoints the write-ahead log, under the lock that all Tandem processes share.
    ///
    /// - Returns: nil when another process is checkpointing, and when there is no log: in memory and
    ///   read-only.
    /// - Throws: ``JournalError/Code/displaced`` before any page is copied; `DatabaseError`, after which the
    ///   log is intact.
    public func checkpoint(_ mode: Checkpoint.Mode = .passive) throws -> Checkpoint? {
        guard let checkpointer else { return nil }
        return try gate.pass {
            try connections.writeWithoutTransaction { try checkpointer.checkpoint($0, mode) }
        }
    }

    /// Keeps the write-ahead log small while other programs write it: see ``Checkpointer/tend(_:isQuiet:)``.
    ///
    /// - Parameter isQuiet: True when nobody has written for a while.
    /// - Returns: False when the log's file is still large, because a reader or a writer was in the way.
    /// - Throws: `SQLITE_MISUSE` once the replica is closed. A checkpoint that cannot run is no error.
    @discardableResult
    package func tendLog(isQuiet: Bool) throws -> Bool {
        guard let checkpointer else { return true }
        return try gate.pass { connections.writeWithoutTransaction { checkpointer.tend($0, isQuiet: isQuiet) } }
    }

    /// Waits for running reads and writes, checkpoints the write-ahead log and closes every connection.
    ///
    /// Every later use throws `SQLITE_MISUSE`. Closing a closed replica does nothing. Do not call it inside
    /// of a read or a write.
    ///
    /// - Throws: ``JournalError`` when the checkpoint fails. The log is then intact, and the connections are
    ///   closed.
    public func close() throws {
        guard gate.close() else { return }
        let outcome = Result {
            try checkpointer.map { checkpointer in
                try connections.writeWithoutTransaction { try checkpointer.checkpoint($0, .passive) }
            }
        }
        try connections.close()
        if case .failure(let error) = outcome { throw JournalError(error, operation: "Checkpointing the log") }
    }

    // MARK: - Connections

    /// Opens the file in WAL mode.
    private static func connections(_ path: String, _ options: Options) throws -> any DatabaseWriter {
        func queue() throws -> DatabaseQueue {
            let queue = try DatabaseQueue(path: path, configuration: configuration(options))
            let mode = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
            guard mode == "wal" else {
                throw JournalError(.readOnly, "The file cannot be used with a write-ahead log")
            }
            return queue
        }
        guard !options.hasOneConnection else { return try queue() }
        // A pool fills an empty log by making and dropping a table. Each program would then read the schema
        // again, and capture would follow a change that is none. A commit of any page fills the log, too.
        if try (options.files.status(of: options.files.resolved(path) + "-wal")?.size ?? 0) == 0 {
            let filler = try queue()
            try filler.writeWithoutTransaction { db in
                try db.execute(sql: "UPDATE _journal_replica SET id = id")
            }
            try filler.close()
        }
        return try DatabasePool(path: path, configuration: configuration(options))
    }

    static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(options.busySeconds)
        configuration.maximumReaderCount = options.maximumReaders
        configuration.label = "tandem"
        if let unlock = options.unlock { configuration.prepareDatabase(unlock) }
        configuration.prepareDatabase { db in
            // REPLACE fires delete triggers for the rows that it removes only when recursive triggers are on
            // (https://sqlite.org/lang_conflict.html).
            try db.execute(sql: "PRAGMA recursive_triggers = ON")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "PRAGMA mmap_size = 0")
            if let connection = db.sqliteConnection { _ = tandem_no_checkpoint_on_close(connection, 1) }
            options.collations.install(on: db)
            try options.prepare?(db)
        }
        return configuration
    }

    /// Runs BEGIN IMMEDIATE, `body`, the end mark on the last local entry, and COMMIT; ROLLBACK on any error.
    static func transaction<T>(_ db: Database, _ body: (Database, _ before: Int64) throws -> T) throws -> T {
        var result: T?
        var isStarted = false
        do {
            try db.inTransaction(.immediate) {
                isStarted = true
                let before = try JournalReader.lastSeq(db)
                let value = try body(db, before)
                let after = try JournalReader.lastSeq(db)
                if after > before {
                    try db.cachedStatement(sql: "UPDATE _journal SET tx = 1 WHERE seq = ? AND origin IS NULL")
                        .execute(arguments: [after])
                }
                result = value
                return .commit
            }
        } catch  where !isStarted {
            throw JournalError(error, operation: "Starting a write")
        }
        guard let result else { throw JournalError(.invalid, "The transaction gave no result") }
        return result
    }
}
