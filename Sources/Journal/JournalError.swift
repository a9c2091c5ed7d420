/// What went wrong in the journal's floor of a file, for a person and for a program.
///
/// Row values never stand in a message: messages reach logs.
public struct JournalError: Error, Sendable, Hashable {
    /// What a program decides by.
    public enum Code: String, Sendable, Hashable {
        /// There is no such file, or its path cannot be followed.
        case notFound = "not_found"
        /// The file is no SQLite database, or it is encrypted.
        case notADatabase = "not_a_database"
        /// The database has no journal.
        case notAReplica = "not_a_replica"
        /// The journal was written by a later release.
        case unsupportedFormat = "unsupported_format"
        /// A table that was named cannot be tracked: it has no primary key, or too many columns.
        case unsupportedTable = "unsupported_table"
        /// There is no such table, or the journal does not track it.
        case unknownTable = "unknown_table"
        /// The file, its directory or a file beside it cannot be written; or it was opened for reading only.
        case readOnly = "read_only"
        /// Another process held the write lock for longer than was to be waited. Trying again makes sense.
        case busy
        /// SQLite or the journal found damage.
        case corrupt
        /// The open file is no longer the one at its path.
        case displaced
        /// The file belongs to another cluster than was asked for.
        case clusterMismatch = "cluster_mismatch"
        /// The table does not have the column, or has another primary key, by now.
        case unknownColumn = "unknown_column"
        /// The ledger has no entry of that number.
        case unknownConflict = "unknown_conflict"
        /// No replica of that name is known here.
        case unknownOrigin = "unknown_origin"
        /// The row is set aside, and cannot be written before it is back.
        case rowIsHeld = "row_is_held"
        /// A constraint or a trigger of the user's schema does not allow the write.
        case refused
        /// What was asked for makes no sense, or the system refuses what it needs.
        case invalid
        /// Another failure that SQLite reported.
        case sqlite
    }

    /// What a program decides by.
    public let code: Code

    /// One sentence without a full stop: what was tried, and why it failed.
    public let message: String

    /// What to do about it; nil when nothing general can be said.
    public let hint: String?

    /// The extended SQLite result code, when SQLite reported the failure.
    public let sqliteCode: Int32?

    /// - Parameters:
    ///   - code: What a program decides by.
    ///   - message: One sentence without a full stop, without values of rows.
    ///   - hint: What to do about it.
    ///   - sqliteCode: The extended SQLite result code, when SQLite reported the failure.
    public init(_ code: Code, _ message: String, hint: String? = nil, sqliteCode: Int32? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.sqliteCode = sqliteCode
    }
}

extension JournalError {
    static let notAReplica = JournalError(
        .notAReplica, "the database has no change journal", hint: "Run `syncd init` on it first.")
}

extension JournalError: CustomStringConvertible {
    public var description: String {
        hint.map { "\(message). \($0)" } ?? message
    }
}
