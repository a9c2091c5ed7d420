import GRDB

/// An error of the journal layer: a code for programs, and a sentence and a hint for people.
///
/// A message never contains values of rows, because messages are logged.
public struct JournalError: Error, Sendable, Hashable {
    /// The kind of error, by which programs decide what to do.
    public struct Code: Sendable, Hashable {
        /// The name of the code: lower-case words with underscores. It is the same in every release.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// There is no such file, or its path cannot be resolved.
        public static let notFound = Code("not_found")
        /// The file is no SQLite database, or it is encrypted.
        public static let notADatabase = Code("not_a_database")
        /// The database has no journal.
        public static let notAReplica = Code("not_a_replica")
        /// The journal was written by a later release.
        public static let unsupportedFormat = Code("unsupported_format")
        /// A named table cannot be tracked: it has no primary key, or too many columns.
        public static let unsupportedTable = Code("unsupported_table")
        /// There is no such table, or the journal does not track it.
        public static let unknownTable = Code("unknown_table")
        /// The file, its directory or a file beside it cannot be read or written, or the file was opened
        /// read-only.
        public static let readOnly = Code("read_only")
        /// Another process held the write lock for longer than the busy timeout. A retry makes sense.
        public static let busy = Code("busy")
        /// SQLite or the journal found damage.
        public static let corrupt = Code("corrupt")
        /// The open file is not the file at its path: it was moved, replaced or removed.
        public static let displaced = Code("displaced")
        /// The file belongs to another cluster than the requested one.
        public static let clusterMismatch = Code("cluster_mismatch")
        /// The table does not have the column, or has another primary key.
        public static let unknownColumn = Code("unknown_column")
        /// The conflict ledger has no entry with this number.
        public static let unknownConflict = Code("unknown_conflict")
        /// No held row of the file has this number.
        public static let unknownHeldRow = Code("unknown_held_row")
        /// The file knows no replica with this origin.
        public static let unknownOrigin = Code("unknown_origin")
        /// The row is held, and cannot be written until its table shows it again.
        public static let rowIsHeld = Code("row_is_held")
        /// A constraint or a trigger of the user's schema does not allow the write.
        public static let refused = Code("refused")
        /// The request is not valid, or the system refuses a resource that it needs.
        public static let invalid = Code("invalid")
        /// Another failure that SQLite reported.
        public static let sqlite = Code("sqlite")

        package static let all: [Code] = [
            .notFound, .notADatabase, .notAReplica, .unsupportedFormat, .unsupportedTable, .unknownTable, .readOnly,
            .busy, .corrupt, .displaced, .clusterMismatch, .unknownColumn, .unknownConflict, .unknownHeldRow,
            .unknownOrigin, .rowIsHeld, .refused, .invalid, .sqlite,
        ]
    }

    /// The kind of error, by which programs decide what to do.
    public let code: Code

    /// One sentence without a full stop: the operation that failed, and why.
    public let message: String

    /// The remedy; nil when there is no general one.
    public let hint: String?

    /// The extended SQLite result code, when SQLite reported the failure.
    public let sqliteCode: Int32?

    /// - Parameters:
    ///   - code: The kind of error, by which programs decide what to do.
    ///   - message: One sentence without a full stop and without values of rows.
    ///   - hint: The remedy; nil when there is no general one.
    ///   - sqliteCode: The extended SQLite result code, when SQLite reported the failure.
    public init(_ code: Code, _ message: String, hint: String? = nil, sqliteCode: Int32? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.sqliteCode = sqliteCode
    }
}

extension JournalError {
    /// True when a constraint or a trigger of the schema refused a statement.
    var isConstraint: Bool { sqliteCode.map { $0 & 0xFF == ResultCode.SQLITE_CONSTRAINT.rawValue } ?? false }

    static let notAReplica = JournalError(
        .notAReplica, "The database has no change journal", hint: "Run `syncd init` on it first.")
}

extension JournalError.Code: CustomStringConvertible {
    public var description: String { name }
}

extension JournalError: CustomStringConvertible {
    public var description: String {
        hint.map { "\(message). \($0)" } ?? message
    }
}
