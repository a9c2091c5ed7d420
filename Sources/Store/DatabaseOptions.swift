import Journal
import Logging

extension Database {
    /// How a database is opened and runs.
    ///
    /// ```swift
    /// var options = Database.Options()
    /// options.busyTimeout = .seconds(2)
    /// options.functions = [
    ///     SQLFunction("reversed", argumentCount: 1) { values in
    ///         .text(String(try String(columnValue: values[0]).reversed()))
    ///     }
    /// ]
    /// let db = try Database(path: path, options: options)
    /// ```
    public struct Options: Sendable {
        /// How long a write waits for another process's write lock.
        public var busyTimeout: Duration = .seconds(10)
        /// What a commit waits for. `.full`, the default: the disk, so the commit survives a loss of power.
        /// `.normal`: nothing; a loss of power may lose the newest commits, back to the last
        /// ``Database/flush()``, but never corrupts the file.
        public var durability: Replica.Durability = .full
        /// The maximum number of concurrent reads, 1 or more.
        public var maximumReaders = 5
        /// True, the default, creates a missing file, and turns an empty file into a replica. False: opening
        /// a missing file throws ``StoreError/Code/notFound``, and opening an empty one throws
        /// ``StoreError/Code/notAReplica``.
        public var createIfMissing = true
        /// True creates a journal in a SQLite file that has tables but no journal; the existing rows become
        /// this replica's first changes. False, the default, refuses such a file with
        /// ``StoreError/Code/notAReplica``.
        public var adoptsExistingFile = false
        /// True opens any SQLite file, whether or not it is a replica, without writing to it: no journal, no
        /// capture, no migration. A write throws ``StoreError/Code/readOnly``. Declared versions are checked
        /// but not run.
        public var isReadOnly = false
        /// The name that all replicas of one set share. It is used when the journal is created.
        public var cluster = InitializeRequest.defaultCluster

        /// Called for each new connection before anything is read. Set the key of an encrypted file
        /// (`PRAGMA key`) here, with a SQLite library that supports encryption. When this option is set, the
        /// file's header is not checked. An error that it throws fails the opening or the read that needed
        /// the connection.
        public var unlock: (@Sendable (Connection) throws -> Void)?
        /// Called for each new connection after Tandem's own settings, to set pragmas or to attach databases.
        /// An error that it throws fails the opening or the read that needed the connection.
        public var prepare: (@Sendable (Connection) throws -> Void)?
        /// Functions that SQL can call on every connection of this database.
        public var functions: [SQLFunction] = []

        /// The number of journalled changes after which the planner's statistics are renewed
        /// (``Database/analyze()``); nil for never. The count is kept when the database is closed.
        public var analyzeInterval: Int64? = 500_000

        /// How much history the journal of a file keeps at least that replicates with nobody; nil for all of it. What is
        /// older, and was overwritten or deleted since, is removed in the background, about once a day
        /// (``Database/compact(keeping:)``). A file with peers is compacted by its daemon, when its peers have everything.
        public var history: Duration? = .seconds(7 * 86_400)

        /// The receiver of warnings: slow statements, and failures to follow other processes. nil, the
        /// default, for none.
        public var logger: Logger?
        /// Called after each statement, on the thread that ran it. It must return quickly and must not use
        /// the database. ``StatementProfile/isInternal`` tells Tandem's own statements from the program's.
        public var profile: (@Sendable (StatementProfile) -> Void)?
        /// Statements that take at least this long are logged as a warning, without their values; nil for
        /// none.
        public var slowStatement: Duration?
        /// Called with each error that leaves an access to this database, and with each error of its
        /// background work. It must not use the database.
        public var onFailure: (@Sendable (StoreError) -> Void)?

        /// Sets every option to its default.
        public init() {}
    }
}
