/// What went wrong in the journal's floor of a file, for a person and for a program.
///
/// Row values never stand in a message: messages reach logs.
public struct JournalError: Error, Sendable, Hashable {
    /// What a program decides by.
    public enum Code: String, Sendable, Hashable {
        case notFound = "not_found"
        case notADatabase = "not_a_database"
        case notAReplica = "not_a_replica"
        case unsupportedFormat = "unsupported_format"
        case unsupportedTable = "unsupported_table"
        case unknownTable = "unknown_table"
        case readOnly = "read_only"
        case busy
        case corrupt
        /// The open file is no longer the one at its path.
        case displaced
        case alreadyRunning = "already_running"
        case clusterMismatch = "cluster_mismatch"
        case unknownColumn = "unknown_column"
        case unknownConflict = "unknown_conflict"
        case unknownOrigin = "unknown_origin"
        case rowIsHeld = "row_is_held"
        /// A constraint or a trigger of the user's schema does not allow the write.
        case refused
        case invalid
        case sqlite
    }

    public let code: Code

    /// One sentence without a full stop: what was tried, and why it failed.
    public let message: String

    /// What to do about it; nil when nothing general can be said.
    public let hint: String?

    /// The extended SQLite result code, when SQLite reported the failure.
    public let sqliteCode: Int32?

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
