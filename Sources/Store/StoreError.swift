import GRDB
import GRDBSQLite
import Journal

/// What failed in the model layer, for a person and for a program.
///
/// After any of these the database stays usable, and what failed has changed nothing, in memory or in the file. The
/// description never holds a row's values: descriptions reach logs.
public struct StoreError: Error, Sendable {
    /// What a program decides by. New codes may come.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as text, such as `not_null`: the same in every release, for logs and other programs.
        public let rawValue: String
        /// A code by its text. One that no release knows is equal to itself only.
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ rawValue: String) { self.rawValue = rawValue }

        // Constraints of the schema.
        /// A UNIQUE column or index has the value already.
        public static let unique = Code("unique")
        /// A row, or an object in memory that was not saved yet, has the key already.
        public static let primaryKey = Code("primary_key")
        /// A NOT NULL column got no value.
        public static let notNull = Code("not_null")
        /// A value breaks a CHECK.
        public static let check = Code("check")
        /// A row refers to one that is not there, or others refer to the one that was to go.
        public static let foreignKey = Code("foreign_key")
        /// RAISE in a trigger, a STRICT table's type check, or another constraint.
        public static let constraint = Code("constraint")

        // A model and its table.
        /// The file has no such table, or the table no such text index.
        public static let missingTable = Code("missing_table")
        /// The table, the query, the text index or the model has no such column.
        public static let missingColumn = Code("missing_column")
        /// The model's primary key is not the table's.
        public static let keyMismatch = Code("key_mismatch")
        /// A stored value does not stand for a value of the property's type.
        public static let undecodable = Code("undecodable")
        /// A property's value cannot be stored.
        public static let unstorable = Code("unstorable")
        /// A required property was not set.
        public static let missingValue = Code("missing_value")
        /// A save, or a hook, changed the primary key of a row.
        public static let keyChanged = Code("key_changed")
        /// No free key was found among the generated ones.
        public static let keyCollision = Code("key_collision")
        /// The object's row is gone.
        public static let deleted = Code("deleted")
        /// An object was handed to a database that it does not belong to.
        public static let otherDatabase = Code("other_database")

        // Statements and transactions.
        /// SQLite does not accept a statement: its syntax, or what a function in it says.
        public static let sql = Code("sql")
        /// The number of values is not that of the parameters.
        public static let argumentCount = Code("argument_count")
        /// A write was called inside of a read, or a refresh inside of any access.
        public static let writeInsideRead = Code("write_inside_read")
        /// BEGIN, COMMIT and their like in SQL text.
        public static let transactionControl = Code("transaction_control")
        /// SQLite rolled the transaction back by itself.
        public static let transactionAborted = Code("transaction_aborted")

        // Files.
        /// The database was closed.
        public static let closed = Code("closed")
        /// There is no file at the path, or SQLite cannot open it.
        public static let notFound = Code("not_found")
        /// A file stands where a new one is to be.
        public static let alreadyExists = Code("already_exists")
        /// The file is no SQLite database, or it is encrypted.
        public static let notADatabase = Code("not_a_database")
        /// The file has no change journal.
        public static let notAReplica = Code("not_a_replica")
        /// The journal is of a later release of Tandem.
        public static let unsupportedFormat = Code("unsupported_format")
        /// The file's schema is of a later release of the program.
        public static let newerSchema = Code("newer_schema")
        /// A declared schema that cannot be: versions out of order, an index without a column, keys that SQLite would
        /// mint on several machines.
        public static let invalidSchema = Code("invalid_schema")
        /// A row does not fit a changed schema.
        public static let invalidRow = Code("invalid_row")
        /// Values that were given from outside do not fit the model.
        public static let invalidInput = Code("invalid_input")
        /// The database was opened for reading only, or the file does not let itself be written; or SQL that writes was
        /// run as a query outside of a transaction.
        public static let readOnly = Code("read_only")
        /// Another connection holds the lock; or the call would wait for the access that it is made in.
        public static let busy = Code("busy")
        /// The disk is full.
        public static let full = Code("full")
        /// The file, or the journal in it, is damaged.
        public static let corrupt = Code("corrupt")
        /// Another failure that SQLite reported.
        public static let sqlite = Code("sqlite")
        /// Another failure of the journal.
        public static let journal = Code("journal")
    }

    /// What a program decides by.
    public let code: Code
    /// One sentence without a full stop.
    public let message: String
    /// What to do about it; nil when nothing general can be said.
    public let hint: String?
    /// The table concerned; nil when it is not known.
    public internal(set) var table: String?
    /// The column concerned; nil when it is not known, or when several are.
    public internal(set) var column: String?
    /// What was tried: "saving", "creating", …
    public internal(set) var operation: String?
    /// The statement that failed, as it was written, with `?` for bound values. Not part of the description: SQL that a program
    /// puts together may hold values.
    public internal(set) var sql: String?
    /// The extended SQLite result code, when SQLite reported the failure (https://sqlite.org/rescode.html).
    public let sqliteCode: Int32?

    init(
        _ code: Code, _ message: String, hint: String? = nil, table: String? = nil, column: String? = nil,
        operation: String? = nil, sqliteCode: Int32? = nil, sql: String? = nil
    ) {
        self.code = code
        self.sql = sql
        self.message = message
        self.hint = hint
        self.table = table
        self.column = column
        self.operation = operation
        self.sqliteCode = sqliteCode
    }

    static var closed: StoreError {
        StoreError(.closed, "the database is closed", hint: "Open the file anew, by another `Database`.")
    }

    /// True for a constraint of the schema.
    var isConstraint: Bool {
        [.unique, .primaryKey, .notNull, .check, .foreignKey, .constraint].contains(code)
    }

    /// True for a failure that may pass by itself: trying again later makes sense.
    public var isRetryable: Bool { code == .busy }

    /// This error with the table and the operation it happened in, where they were not known yet.
    func during(_ operation: String, table: String? = nil) -> StoreError {
        var error = self
        error.operation = error.operation ?? operation
        error.table = error.table ?? table
        return error
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        let place = [table, column].compactMap { $0 }.joined(separator: ".")
        let subject = [operation, place.isEmpty ? nil : place].compactMap { $0 }.joined(separator: " ")
        let start = subject.isEmpty ? "" : "\(subject): "
        let end = sqliteCode.map { " (SQLite \($0))" } ?? ""
        return "\(start)\(message)\(end)" + (hint.map { ". \($0)" } ?? "")
    }
}
