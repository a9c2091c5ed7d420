import Journal
import Logging

extension Database {
    /// How a database is opened and runs: a value, given once.
    ///
    /// ```swift
    /// var options = Database.Options()
    /// options.busyTimeout = .seconds(2)
    /// options.functions = [SQLFunction("reversed", argumentCount: 1) { .text(String(try String(columnValue: $0[0]).reversed())) }]
    /// let db = try Database(path: path, options: options)
    /// ```
    public struct Options: Sendable {
        /// How long a write waits for another process's write lock.
        public var busyTimeout: Duration = .seconds(10)
        /// What a commit waits for. `.full`, the default: the disk, so it survives a loss of power. `.normal`: it does not wait; the
        /// newest commits may be lost with the power, until ``Database/flush()``, and the file is never torn.
        public var durability: Replica.Durability = .full
        /// The most reads at once, 1 or more.
        public var maximumReaders = 5
        /// True, the default, to make a file that is not there, and to take an empty one. False: opening it throws
        /// ``StoreError/Code/notFound``, for an empty one ``StoreError/Code/notAReplica``.
        public var createIfMissing = true
        /// True to give a SQLite file that has tables, but no journal, a journal: its rows become this replica's first
        /// changes. False refuses such a file.
        public var adoptsExistingFile = false
        /// True opens any SQLite file, a replica or not, without writing to it: no journal, no capture, no migration. A
        /// write throws ``StoreError/Code/readOnly``; declared versions are checked, not run.
        public var isReadOnly = false
        /// The name that all replicas of one set share; used when the journal is made.
        public var cluster = InitializeRequest.defaultCluster

        /// Called for each new connection before anything is read: the place for the key of an encrypted file
        /// (`PRAGMA key`), with a SQLite library that encrypts. When it is set, the file's header is not looked at.
        /// What it throws fails what needed the connection: the opening, or a read.
        public var unlock: (@Sendable (Connection) throws -> Void)?
        /// Called for each new connection after Tandem's own settings, to set pragmas or attach what the program needs.
        /// What it throws fails what needed the connection: the opening, or a read.
        public var prepare: (@Sendable (Connection) throws -> Void)?
        /// Functions that SQL can call on every connection of this database.
        public var functions: [SQLFunction] = []

        /// After how many journalled changes the planner's statistics are renewed (``Database/analyze()``); nil for never.
        /// The count survives closing.
        public var analyzeInterval: Int64? = 500_000

        /// Where warnings go: slow statements, and failures of following other processes. nil, the default, for nowhere.
        public var logger: Logger?
        /// Called after each statement, on the thread that ran it. Keep it short; it must not use the database.
        public var profile: (@Sendable (StatementProfile) -> Void)?
        /// Statements that take so long or longer are logged as a warning, without their values; nil for none.
        public var slowStatement: Duration?
        /// Called with each error that leaves an access to this database, and each that its background work meets. It must not
        /// use the database.
        public var onFailure: (@Sendable (StoreError) -> Void)?

        /// Every option at its default.
        public init() {}
    }
}
