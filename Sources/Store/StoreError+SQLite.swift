import GRDB
import GRDBSQLite
import Journal

extension StoreError {
    /// Creates an error from the last failure of a connection.
    init(connection: OpaquePointer?, operation: String? = nil, sql: String? = nil) {
        self.init(
            sqlite: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)),
            operation: operation)
        self.sql = sql
    }

    /// Creates an error from the failure of a statement.
    init(statement: OpaquePointer) {
        self.init(
            connection: sqlite3_db_handle(statement), sql: sqlite3_sql(statement).map { String(cString: $0) })
    }

    /// Translates SQLite's code and message. The messages name tables and columns, never values.
    init(sqlite code: Int32, message: String, operation: String? = nil) {
        let place = SQLitePlace(message)
        let failure = SQLiteFailure(code: code)
        let (known, hint): (Code, String?) =
            switch failure.meaning {
            case .unique:
                (.unique, message.contains(",") ? "Another row has these values already." : failure.hint)
            case .primaryKey: (.primaryKey, failure.hint)
            case .notNull: (.notNull, "Give the column a value, or make it nullable.")
            case .check: (.check, failure.hint)
            case .foreignKey: (.foreignKey, failure.hint)
            case .constraint: (.constraint, failure.hint)
            case .busy: (.busy, failure.hint)
            case .full: (.full, failure.hint)
            case .readOnly: (.readOnly, "Write inside `db.transaction`, and check the file's permissions.")
            case .corrupt: (.corrupt, failure.hint)
            case .notADatabase: (.notADatabase, failure.hint)
            case .cannotOpen: (.notFound, failure.hint)
            case .sql where message.hasPrefix("no such table"):
                (.missingTable, "Create it in a version of the schema, or name its model in `automatic`.")
            case .sql where message.hasPrefix("no such column") || message.contains("has no column named"):
                (
                    .missingColumn,
                    "Correct the name in the SQL; the column of a property can be added in a version of the schema."
                )
            case .sql where message.hasPrefix("near \"ORDER\"") || message.hasPrefix("near \"LIMIT\""):
                (.sql, "A condition ends before ORDER BY and LIMIT: write `order` and `limit` after `where`.")
            case .sql where message.hasPrefix("near \")\""):
                (.sql, "A condition may end too early: Store writes it in parentheses.")
            case .sql where message.hasPrefix("fts5:"):
                (.sql, "Correct the text of the search; a plain string literal means all its words.")
            case .sql where message == "integer overflow":
                (.sql, "A result does not fit 64 bits; for a sum, take fewer rows or use `average`.")
            case .sql: (.sql, "Correct the SQL; the error's `sql` is the statement.")
            case .inputOutput, .memory, .tooBig: (.sqlite, failure.hint)
            case .other: (.sqlite, "https://sqlite.org/rescode.html explains the code.")
            }
        self.init(
            known, message, hint: hint, table: place.table, column: place.column, operation: operation, sqliteCode: code
        )
    }

    /// Wraps the errors of the lower layers. Errors of the caller's own code are returned unchanged.
    static func wrapping(_ error: any Error, operation: String? = nil) -> any Error {
        switch error {
        case let error as DatabaseError:
            var wrapped = StoreError(
                sqlite: error.extendedResultCode.rawValue, message: error.message ?? "no message", operation: operation)
            wrapped.sql = error.sql
            return wrapped
        case let error as JournalError where error.code == .sqlite && error.sqliteCode != nil:
            return StoreError(sqlite: error.sqliteCode ?? SQLITE_ERROR, message: error.message, operation: operation)
        case let error as JournalError:
            let code: Code =
                switch error.code {
                case .notFound: .notFound
                case .notADatabase: .notADatabase
                case .notAReplica: .notAReplica
                case .unsupportedFormat: .unsupportedFormat
                case .readOnly: .readOnly
                case .busy: .busy
                case .corrupt: .corrupt
                default: .journal
                }
            return StoreError(
                code, error.message, hint: journalHint(error), operation: operation, sqliteCode: error.sqliteCode)
        default: return error
        }
    }

    /// The journal's own hint, or a general one for damage without a hint.
    static func journalHint(_ error: JournalError) -> String? {
        guard error.hint == nil, error.code == .corrupt else { return error.hint }
        return "The tables named _journal… are Tandem's own; restore the file from a peer or a backup."
    }

    static func undecodable(column: String?, _ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        return StoreError(
            .undecodable, "\(error)", hint: "Change the property's type, or name a coding with @Column(as:).",
            column: column)
    }

    /// Wraps a mismatch that was thrown when a property's value was bound.
    static func unstorable(_ error: any Error, column: String?) -> any Error {
        guard let mismatch = error as? ColumnMismatch else { return error }
        return StoreError(
            .unstorable, mismatch.description,
            hint: "Give a value that the column can hold, or name a coding with @Column(as:).", column: column)
    }
}

/// The table and column named in a message of SQLite.
private struct SQLitePlace {
    var table: String?
    var column: String?

    init(_ message: String) {
        for prefix in ["UNIQUE constraint failed: ", "NOT NULL constraint failed: "] where message.hasPrefix(prefix) {
            // The message lists several columns of one index; the first one names the table.
            let first = message.dropFirst(prefix.count).prefix { $0 != "," }
            guard let dot = first.lastIndex(of: ".") else { return }
            table = String(first[..<dot])
            column = message.contains(",") ? nil : String(first[first.index(after: dot)...])
            return
        }
        if let range = message.firstRange(of: " has no column named "), message.hasPrefix("table ") {
            table = String(message[..<range.lowerBound].dropFirst(6))
            column = String(message[range.upperBound...])
        }
        if message.hasPrefix("no such table: ") { table = String(message.dropFirst(15)) }
        if message.hasPrefix("no such column: ") {
            let name = message.dropFirst(16)
            let dot = name.lastIndex(of: ".")
            table = dot.map { String(name[..<$0]) }
            column = String(dot.map { name[name.index(after: $0)...] } ?? name)
        }
    }
}
