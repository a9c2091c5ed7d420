import GRDB
import GRDBSQLite
import Journal

/// An error of the model layer, for a person and for a program.
///
/// After any of these errors the database stays usable, and the failed operation has changed nothing, in
/// memory or in the file. The description never contains a row's values, because descriptions are logged. It
/// names the row by its key when this is an integer or a UUID.
public struct StoreError: Error, Sendable {
    /// The kind of an error, on which a program can decide. Later releases may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as text, such as `not_null`. It is the same in every release, for logs and other
        /// programs.
        public let rawValue: String
        /// Creates a code from its text. An unknown text is a code that equals only itself.
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ rawValue: String) { self.rawValue = rawValue }

        // Constraints of the schema.
        /// A UNIQUE column or index has the value already.
        public static let unique = Code("unique")
        /// A row, or an unsaved object in memory, has the key already.
        public static let primaryKey = Code("primary_key")
        /// A NOT NULL column has no value.
        public static let notNull = Code("not_null")
        /// A value breaks a CHECK.
        public static let check = Code("check")
        /// A row refers to a missing row, or other rows refer to the row to be deleted.
        public static let foreignKey = Code("foreign_key")
        /// RAISE in a trigger, a STRICT table's type check, or another constraint.
        public static let constraint = Code("constraint")

        // A model and its table.
        /// The file has no such table, or the table has no such text index.
        public static let missingTable = Code("missing_table")
        /// The table, the query, the text index or the model has no such column.
        public static let missingColumn = Code("missing_column")
        /// The model's primary key differs from the table's.
        public static let keyMismatch = Code("key_mismatch")
        /// The property's type cannot decode a stored value.
        public static let undecodable = Code("undecodable")
        /// A property's value cannot be stored.
        public static let unstorable = Code("unstorable")
        /// A required property was not set.
        public static let missingValue = Code("missing_value")
        /// A save, or a hook, changed the primary key of a row.
        public static let keyChanged = Code("key_changed")
        /// Every generated key was in use already.
        public static let keyCollision = Code("key_collision")
        /// The object's row is deleted.
        public static let deleted = Code("deleted")
        /// No row has the key.
        public static let noSuchRow = Code("no_such_row")
        /// An object was passed to a database that it does not belong to.
        public static let otherDatabase = Code("other_database")

        // Statements and transactions.
        /// SQLite does not accept a statement because of its syntax, or a function in it failed.
        public static let sql = Code("sql")
        /// The number of values differs from the number of parameters.
        public static let argumentCount = Code("argument_count")
        /// A write was called inside a read, or a refresh inside any access.
        public static let writeInsideRead = Code("write_inside_read")
        /// SQL text contains BEGIN, COMMIT or a similar statement.
        public static let transactionControl = Code("transaction_control")
        /// SQLite itself rolled the transaction back.
        public static let transactionAborted = Code("transaction_aborted")

        // Files.
        /// The database was closed.
        public static let closed = Code("closed")
        /// There is no file at the path, or SQLite cannot open it.
        public static let notFound = Code("not_found")
        /// A file exists already at the path of a new file.
        public static let alreadyExists = Code("already_exists")
        /// The file is not a SQLite database, or it is encrypted.
        public static let notADatabase = Code("not_a_database")
        /// The file has no change journal.
        public static let notAReplica = Code("not_a_replica")
        /// The journal is of a later release of Tandem.
        public static let unsupportedFormat = Code("unsupported_format")
        /// The file's schema is of a later release of the program.
        public static let newerSchema = Code("newer_schema")
        /// The declared schema is not valid: versions out of order, an index without columns, or keys that
        /// SQLite would generate on several machines.
        public static let invalidSchema = Code("invalid_schema")
        /// A row does not fit a changed schema.
        public static let invalidRow = Code("invalid_row")
        /// Input values do not fit the model.
        public static let invalidInput = Code("invalid_input")
        /// The database was opened for reading only, or the file is not writable; or SQL that writes was run
        /// as a query outside a transaction.
        public static let readOnly = Code("read_only")
        /// Another connection holds the lock, or the call would wait for the access in which it is made.
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

    /// The kind of the error, on which a program can decide.
    public let code: Code
    /// One sentence without a full stop.
    public let message: String
    /// What to do about the error; nil when there is no general advice.
    public let hint: String?
    /// The table concerned; nil when it is unknown.
    public internal(set) var table: String?
    /// The column concerned; nil when it is unknown, or when several are concerned.
    public internal(set) var column: String?
    /// The key of the row concerned, in the form and order in which the model stores it; nil when it is unknown,
    /// or when several rows are concerned. The description shows it only when it consists of integers and UUIDs.
    public internal(set) var key: [Value]?
    /// The operation that failed: "saving", "creating", …
    public internal(set) var operation: String?
    /// The statement that failed, with `?` for bound values: the program's own, or the one that Store made of a
    /// model or a query. It is not part of the description, because SQL that a program composes may contain
    /// values.
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
        StoreError(.closed, "The database is closed", hint: "Open the file with a new `Database`.")
    }

    /// True for a constraint of the schema.
    var isConstraint: Bool {
        [.unique, .primaryKey, .notNull, .check, .foreignKey, .constraint].contains(code)
    }

    /// True for an error that may not occur when the operation is repeated later.
    public var isRetryable: Bool { code == .busy }

    /// Returns this error with the operation and table in which it happened, unless it has them already.
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
        let row = plainKey.map { "(key \($0))" }
        let subject = [operation, place.isEmpty ? nil : place, row].compactMap { $0 }.joined(separator: " ")
        let start = subject.isEmpty ? "" : "\(subject): "
        let end = sqliteCode.map { " (SQLite \($0))" } ?? ""
        return "\(start)\(message)\(end)" + (hint.map { ". \($0)" } ?? "")
    }
}
