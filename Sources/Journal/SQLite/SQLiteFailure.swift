import GRDB

/// What a result code of SQLite means, and what to do about it (https://sqlite.org/rescode.html).
///
/// Every layer derives the code of its own error from this one table.
package struct SQLiteFailure: Sendable {
    package enum Meaning: Sendable {
        case unique, primaryKey, notNull, check, foreignKey
        /// Another constraint, or a RAISE in a trigger.
        case constraint
        case busy
        case notADatabase
        case corrupt
        case readOnly
        case cannotOpen
        case full
        case inputOutput
        case memory
        case tooBig
        /// SQL that SQLite does not accept, or a function in it that failed.
        case sql
        case other
    }

    package let meaning: Meaning
    /// The remedy; nil when there is no general one.
    package let hint: String?

    /// - Parameter code: A primary or an extended result code.
    package init(_ code: ResultCode) {
        let known =
            SQLiteFailure.table.first { $0.code == code }
            ?? SQLiteFailure.table.first { $0.code == code.primaryResultCode }
        meaning = known?.meaning ?? .other
        hint = known?.hint
    }

    /// - Parameter code: A primary or an extended result code.
    package init(code: Int32) { self.init(ResultCode(rawValue: code)) }

    private static let table: [(code: ResultCode, meaning: Meaning, hint: String?)] = [
        (.SQLITE_CONSTRAINT_UNIQUE, .unique, "Another row has this value already."),
        (.SQLITE_CONSTRAINT_PRIMARYKEY, .primaryKey, "Another row has this key already."),
        (.SQLITE_CONSTRAINT_ROWID, .primaryKey, "Another row has this key already."),
        (.SQLITE_CONSTRAINT_NOTNULL, .notNull, "Give the column a value, or make it nullable."),
        (.SQLITE_CONSTRAINT_CHECK, .check, "The value breaks a CHECK of the table."),
        (
            .SQLITE_CONSTRAINT_FOREIGNKEY, .foreignKey,
            "A referenced row must exist first, and cannot be deleted while other rows refer to it."
        ),
        (.SQLITE_CONSTRAINT, .constraint, "A trigger or the type of a STRICT table refuses the row."),
        (.SQLITE_MISMATCH, .constraint, "A trigger or the type of a STRICT table refuses the row."),
        (.SQLITE_BUSY, .busy, "Another connection holds the write lock; try again when it has finished."),
        (.SQLITE_LOCKED, .busy, "Another connection holds the write lock; try again when it has finished."),
        (.SQLITE_NOTADB, .notADatabase, "The file is not a SQLite database, or it is encrypted."),
        (
            .SQLITE_CORRUPT, .corrupt,
            "Run PRAGMA integrity_check, and restore the file, or make a new replica and sync it with a peer."
        ),
        (
            .SQLITE_READONLY_ROLLBACK, .readOnly,
            "A program was interrupted while it wrote; open the file for writing once, as `syncd init` does."
        ),
        (.SQLITE_READONLY, .readOnly, "The file and its directory must be writable by this user."),
        (.SQLITE_PERM, .readOnly, "The file and its directory must be writable by this user."),
        (.SQLITE_CANTOPEN, .cannotOpen, "Check the path; the file and its directory must be writable by this user."),
        (.SQLITE_FULL, .full, "The disk is full; free some space."),
        (.SQLITE_IOERR, .inputOutput, "The disk or its file system failed; check the system's log."),
        (.SQLITE_NOMEM, .memory, "The process has too little memory; free some, or raise its limit (ulimit -v)."),
        (.SQLITE_TOOBIG, .tooBig, "Split the value, or the statement, into smaller ones."),
        (.SQLITE_ERROR, .sql, nil),
        (.SQLITE_RANGE, .sql, nil),
    ]
}
