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

    /// How a file is opened and used: a value, given once.
    public struct Options: Sendable {
        /// How long a write waits for another process's write lock.
        public var busyTimeout: Duration = .seconds(10)
        /// What a commit waits for.
        public var durability: Durability = .full
        /// Where replication warns of what it holds back or drops, unless it is given a logger of its own; nil for nowhere.
        public var logger: Logger?
        /// The most connections that read at once.
        public var maximumReaders = 5
        /// What is done with files besides what SQLite does; its VFS must see the same ones.
        public var files: any FileSystem = SystemFiles()
        /// Called for each new connection before anything is read, as for the key of an encrypted file. When it is set, the
        /// file's header is not looked at.
        public var unlock: (@Sendable (Database) throws -> Void)?
        /// Called for each new connection, after Tandem's own settings.
        public var prepare: (@Sendable (Database) throws -> Void)?

        /// The defaults.
        public init() {}

        var busySeconds: TimeInterval {
            let parts = busyTimeout.components
            return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        }
    }

    /// The path as it was given; SQLite's name for a database in memory.
    public let path: String
    /// For SQL that needs no journal: reads of any kind. Write through ``write(_:)``, which marks transactions.
    public let connections: any DatabaseWriter
    /// How it was opened.
    public let options: Options
    /// True when it was opened by ``reading(_:options:)``: every write fails.
    public let isReadOnly: Bool
    /// False for a file without journal, which only ``reading(_:options:)`` opens.
    public let hasJournal: Bool
    /// nil where nothing is ever moved: in memory, and for reading only.
    private let checkpointer: Checkpointer?
    /// nil in memory, and for reading only.
    private let place: FileGuard?
    private let gate = ClosingGate()

    /// Opens a file that ``create(at:_:options:)`` or `syncd init` made a replica.
    ///
    /// Nothing is written, but for a file of an earlier release, whose journal is brought up to date.
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `notAReplica`, `unsupportedFormat`, `corrupt`, `readOnly`, `busy`.
    ///   The file is then unchanged.
    public static func open(at path: String, options: Options = Options()) throws -> Replica {
        do {
            // Looked at through a connection that changes nothing: opening the pool below would switch a foreign file to WAL.
            guard try hasJournal(path, options, mayRollBack: true) else { throw JournalError.notAReplica }
            let replica = try Replica(path: path, options: options)
            if try replica.read(JournalUpgrade.isDue) { try replica.write(JournalUpgrade.run) }
            return replica
        } catch {
            throw JournalError(error, operation: "opening \(path)")
        }
    }

    /// Opens any SQLite file, a replica or not, for reading only. No byte of the file is written, and no capture installed.
    ///
    /// A file in WAL mode that nobody else has open needs a directory in which SQLite may make its shared memory
    /// (https://sqlite.org/wal.html#read_only_databases).
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `unsupportedFormat`, `corrupt`, `busy`.
    public static func reading(_ path: String, options: Options = Options()) throws -> Replica {
        do {
            return try Replica(readOnly: path, hasJournal: hasJournal(path, options), options: options)
        } catch {
            throw JournalError(error, operation: "opening \(path)")
        }
    }

    /// A replica in memory, for one process and as long as it is open.
    ///
    /// There is one connection: reads wait for writes.
    ///
    /// - Throws: ``JournalError``: `unknownTable` for a table that `request` names and that ``Options/prepare`` has not made;
    ///   with the code of SQLite for its errors; `sqlite` for what `prepare` throws of its own. Nothing is left then.
    public static func inMemory(_ request: InitializeRequest, options: Options = Options()) throws -> Replica {
        do {
            let queue = try DatabaseQueue(configuration: Replica.configuration(options))
            _ = try queue.writeWithoutTransaction { db in
                try Replica.transaction(db) { try Initialization.run(request, db) }
            }
            return Replica(inMemory: queue, options: options)
        } catch {
            throw JournalError(error, operation: "making a replica in memory")
        }
    }

    /// Whether the file has a journal that this release reads.
    ///
    /// - Parameter mayRollBack: True to let SQLite undo a commit that was interrupted, as every program that writes does.
    private static func hasJournal(_ path: String, _ options: Options, mayRollBack: Bool = false) throws -> Bool {
        guard try FileInspection.check(path, isReadable: options.unlock == nil, files: options.files) else {
            throw JournalError(
                .notFound, "there is no file at \(path)",
                hint: "Check the path; `syncd init` works on an existing database.")
        }
        var configuration = Configuration()
        configuration.readonly = try !(mayRollBack && FileInspection.hasRollbackJournal(path, files: options.files))
        configuration.busyMode = .timeout(options.busySeconds)
        if let unlock = options.unlock { configuration.prepareDatabase(unlock) }
        // The last connection to close would move the log, without the lock.
        configuration.prepareDatabase { db in
            if let connection = db.sqliteConnection { _ = tandem_no_checkpoint_on_close(connection, 1) }
        }
        let probe = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? probe.close() }
        return try probe.read { db in
            do {
                _ = try Identity(db)
                return true
            } catch let error as JournalError where error.code == .notAReplica {
                return false
            }
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
        guard try FileInspection.check(path, isReadable: options.unlock == nil, files: options.files) || mayCreate
        else {
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
                    try Initialization.run(request, db, fingerprint: options.files.fingerprint(of: path))
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
        isReadOnly = false
        hasJournal = true
        connections = try DatabasePool(path: path, configuration: Replica.configuration(options))
        // Once the pool has its log open.
        let place = FileGuard(path: path, files: options.files)
        self.place = place
        checkpointer = Checkpointer(path: path, place: place, files: options.files)
        try connections.writeWithoutTransaction { db in
            // DatabasePool sets NORMAL when it switches to WAL.
            try db.execute(sql: "PRAGMA synchronous = \(options.durability.rawValue)")
        }
    }

    private init(readOnly path: String, hasJournal: Bool, options: Options) throws {
        self.path = path
        self.options = options
        self.hasJournal = hasJournal
        isReadOnly = true
        checkpointer = nil
        place = nil
        var configuration = Replica.configuration(options)
        configuration.readonly = true
        connections = try DatabasePool(path: path, configuration: configuration)
    }

    private init(inMemory queue: DatabaseQueue, options: Options) {
        path = queue.path
        self.options = options
        isReadOnly = false
        hasJournal = true
        checkpointer = nil
        place = nil
        connections = queue
    }

    /// Who the replica is, read anew.
    ///
    /// - Throws: As ``Identity/init(_:)``, and as ``read(_:)``.
    public func identity() throws -> Identity {
        try read { try Identity($0) }
    }

    /// Runs `body` on one snapshot of the file.
    ///
    /// - Throws: What `body` throws; `DatabaseError` of SQLite when no connection can be had, `SQLITE_MISUSE` once the
    ///   replica is closed.
    public func read<T>(_ body: (Database) throws -> T) throws -> T {
        try gate.pass { try connections.read(body) }
    }

    /// Runs `body` with the connections themselves, for what is neither a read nor a write of rows.
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
    /// The transaction takes the write lock at its start, so `body` never fails half-way because another process wrote.
    ///
    /// - Parameter enforcingForeignKeys: False leaves out checks and actions of foreign keys, as the rebuild of a table needs
    ///   (https://sqlite.org/lang_altertable.html#otheralter, step 1); `body` then checks them at its end.
    /// - Throws: What `body` throws, after a rollback; ``JournalError`` with `busy` when the lock is not free in time, with
    ///   `displaced` when the file is not at its path any more.
    public func write<T>(enforcingForeignKeys: Bool = true, _ body: (Database) throws -> T) throws -> T {
        try gate.pass { try writeInside(enforcingForeignKeys: enforcingForeignKeys, body) }
    }

    private func writeInside<T>(enforcingForeignKeys: Bool, _ body: (Database) throws -> T) throws -> T {
        try connections.writeWithoutTransaction { db in
            try place?.check()
            // The pragma does nothing inside of a transaction.
            if !enforcingForeignKeys { try db.execute(sql: "PRAGMA foreign_keys = OFF") }
            let outcome = Result { try Replica.transaction(db) { try body(db) } }
            if !enforcingForeignKeys { try db.execute(sql: "PRAGMA foreign_keys = ON") }
            let result = try outcome.get()
            checkpointer?.afterCommit(db)
            return result
        }
    }

    /// Tells whether the open file still is the one at its path. Every write asks this too.
    ///
    /// - Throws: ``JournalError`` with `displaced` when it was moved away, replaced or removed, or its write-ahead log was.
    public func checkPlace() throws { try place?.check() }

    /// Brings derived state up to date at a contact with the file: capture after schema changes, evicted rows, the seal.
    ///
    /// Reads only, when nothing is due.
    ///
    /// - Returns: What changed in capture, nil when nothing did.
    /// - Throws: As ``write(enforcingForeignKeys:_:)``; ``JournalError/Code/corrupt`` when the journal is damaged. The
    ///   file is then unchanged.
    @discardableResult
    public func refreshDerivedState() throws -> CaptureReport? {
        if isReadOnly { return nil }
        let due = try read { db in (capture: try Capture.isStale(db), seal: try DerivedState.isStale(db)) }
        guard due.capture || due.seal else { return nil }
        return try write { db in
            if try Capture.isStale(db) {
                let report = try Capture.refresh(db)
                return report.changed.isEmpty ? nil : report
            }
            try DerivedState.materialize(db)
            return nil
        }
    }

    /// A connection of its own for changes of peers: triggers and foreign-key actions off, the schema not trusted.
    ///
    /// Triggers off means no echo into the journal; the effects of a user's triggers arrive as changes of their own.
    ///
    /// - Throws: ``JournalError``: `readOnly` for a replica in memory or for reading only, `displaced`; `DatabaseError`
    ///   when the file cannot be opened.
    public func openMergeConnection() throws -> MergeConnection {
        guard let checkpointer, let place else {
            throw JournalError(.readOnly, "changes of peers need a file that is open for writing")
        }
        try place.check()
        return try MergeConnection(path: path, options: options, checkpointer: checkpointer, place: place)
    }

    /// Moves the write-ahead log into the database, under the lock that all processes with Tandem agree on.
    ///
    /// - Returns: nil when another process is at it, and where there is no log: in memory, and for reading only.
    /// - Throws: ``JournalError/Code/displaced``, with nothing moved; `DatabaseError` of SQLite, which leaves the log
    ///   whole.
    public func checkpoint(_ mode: Checkpoint.Mode = .passive) throws -> Checkpoint? {
        guard let checkpointer else { return nil }
        return try gate.pass {
            try connections.writeWithoutTransaction { try checkpointer.checkpoint($0, mode) }
        }
    }

    /// Waits for the reads and writes under way, moves the write-ahead log into the database and closes every connection. Every
    /// use from then on throws `SQLITE_MISUSE`. Closing again does nothing. Not to be called by a read or a write.
    ///
    /// - Throws: ``JournalError`` when the log cannot be moved; it is whole, and the connections are closed nevertheless.
    public func close() throws {
        guard gate.close() else { return }
        let outcome = Result {
            try checkpointer.map { checkpointer in
                try connections.writeWithoutTransaction { try checkpointer.checkpoint($0, .passive) }
            }
        }
        try connections.close()
        if case .failure(let error) = outcome { throw JournalError(error, operation: "moving the log") }
    }

    // MARK: - Connections

    static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(options.busySeconds)
        configuration.maximumReaderCount = options.maximumReaders
        configuration.label = "tandem"
        if let unlock = options.unlock { configuration.prepareDatabase(unlock) }
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
