import GRDB
import GRDBSQLite

/// A prepared statement, used directly through the C API: it reads and writes exact bytes, without
/// conversion.
///
/// GRDB owns the connection and its transactions. This type is for the hot paths that move many rows. Use it
/// only inside of the access block that handed out the connection.
package final class RawStatement {
    let handle: OpaquePointer
    private let connection: OpaquePointer

    /// - Throws: ``JournalError`` with the SQLite code when `sql` does not compile.
    package convenience init(_ db: Database, _ sql: String) throws {
        guard let connection = db.sqliteConnection else {
            throw JournalError(.sqlite, "The connection is closed")
        }
        try self.init(connection, sql)
    }

    /// - Throws: ``JournalError`` with the SQLite code when `sql` does not compile.
    package init(_ connection: OpaquePointer, _ sql: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw JournalError(sqliteConnection: connection, operation: "Preparing a statement")
        }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds `value` to the parameter at `index`, counted from 1. SQLite copies the bytes.
    ///
    /// SQLite stores NULL for a REAL that is NaN.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error, for an index that the statement does
    ///   not have, a value that is too long, and while the statement is on a row. Bind the parameter again
    ///   then.
    package func bind(_ value: Value, at index: Int32) throws {
        try bind(value, at: index, destructor: unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    /// Binds like ``bind(_:at:)``, without a copy.
    ///
    /// The array that `value` is a slice of must stay alive and unchanged until the statement has run. Its
    /// elements are in one heap buffer, which does not move. Use it for the rows of a batch, which outlives
    /// the statements that write it.
    ///
    /// - Throws: As ``bind(_:at:)``.
    package func bindBorrowed(_ value: Value, at index: Int32) throws {
        try bind(value, at: index, destructor: nil)
    }

    /// Binds consecutive values like ``bindBorrowed(_:at:)``, the first at `index`.
    ///
    /// - Throws: As ``bind(_:at:)``; the values before the failing one are then bound.
    package func bindBorrowed(_ values: ArraySlice<Value>, from index: Int32) throws {
        // In place, because copying a value out of the array would retain and release its buffer.
        try values.withUnsafeBufferPointer { values in
            for position in values.indices {
                try bind(values[position], at: index + Int32(truncatingIfNeeded: position), destructor: nil)
            }
        }
    }

    private func bind(_ value: Value, at index: Int32, destructor: sqlite3_destructor_type?) throws {
        let code: Int32 =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .text(let bytes): bindBytes(bytes, at: index, asText: true, destructor)
            case .blob(let bytes): bindBytes(bytes, at: index, asText: false, destructor)
            }
        guard code == SQLITE_OK else { throw failure("Binding a value") }
    }

    /// Binds an integer to the parameter at `index`, counted from 1.
    ///
    /// - Throws: As ``bind(_:at:)``.
    package func bind(_ number: Int64, at index: Int32) throws {
        guard sqlite3_bind_int64(handle, index, number) == SQLITE_OK else { throw failure("Binding a value") }
    }

    /// Binds NULL to the parameter at `index`, counted from 1.
    ///
    /// - Throws: As ``bind(_:at:)``.
    package func bindNull(at index: Int32) throws {
        guard sqlite3_bind_null(handle, index) == SQLITE_OK else { throw failure("Binding a value") }
    }

    /// Advances to the next row.
    ///
    /// - Returns: False when there is no further row; the statement is then reset and can be bound and run
    ///   again.
    /// - Throws: ``JournalError`` with the extended code of SQLite. The statement is then reset and can be
    ///   run again.
    package func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let error = failure("Running a statement")
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs the statement to the end, ignores its rows, and resets it.
    ///
    /// - Throws: As ``step()``.
    package func run() throws { while try step() {} }

    /// Runs like ``run()``, and returns the extended result code instead of throwing.
    package func runForResult() -> Int32 {
        var code = sqlite3_step(handle)
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        if code != SQLITE_DONE { code = sqlite3_extended_errcode(connection) }
        sqlite3_reset(handle)
        return code
    }

    /// Resets the statement, so that it leaves its current row. Bound values stay bound.
    package func reset() { sqlite3_reset(handle) }

    /// The number of rows that the most recently finished statement of this connection inserted, changed or
    /// deleted itself.
    package var changesCount: Int { Int(sqlite3_changes(connection)) }

    /// The number of columns of a row; 0 for a statement without rows.
    package var columnCount: Int32 { sqlite3_column_count(handle) }

    /// The value of a column of the current row, counted from 0, with its storage class and its exact bytes.
    package func column(_ index: Int32) -> Value {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT: .text(bytes(index))
        case SQLITE_BLOB: .blob(bytes(index))
        default: .null
        }
    }

    /// The bytes of a TEXT or BLOB column; empty for NULL.
    package func bytes(_ index: Int32) -> Bytes { withBytes(index) { Bytes($0) } }

    /// Passes the bytes of a TEXT or BLOB column to `body` without a copy; empty for NULL.
    func withBytes<Result>(_ index: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Ask for TEXT as text first: in a UTF-16 database sqlite3_column_blob() would return UTF-16.
        let isText = sqlite3_column_type(handle, index) == SQLITE_TEXT
        let pointer = isText ? UnsafeRawPointer(sqlite3_column_text(handle, index)) : sqlite3_column_blob(handle, index)
        return body(UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, index))))
    }

    /// A column of the current row as an integer, counted from 0; SQLite converts other classes, NULL to 0.
    package func int64(_ index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }

    /// True when a column of the current row, counted from 0, holds NULL.
    package func isNull(_ index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }

    func double(_ index: Int32) -> Double { sqlite3_column_double(handle, index) }

    func type(_ index: Int32) -> Int32 { sqlite3_column_type(handle, index) }

    /// A column of the current row as text, counted from 0. Invalid UTF-8 is replaced.
    package func string(_ index: Int32) -> String { String(decoding: bytes(index), as: UTF8.self) }

    private func bindBytes(
        _ bytes: Bytes, at index: Int32, asText: Bool, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            // An empty buffer may have no address, and a nil pointer would bind NULL.
            guard let start = buffer.baseAddress, buffer.count > 0 else {
                return asText
                    ? sqlite3_bind_text(handle, index, "", 0, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                    : sqlite3_bind_zeroblob(handle, index, 0)
            }
            return asText
                ? sqlite3_bind_text64(
                    handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(buffer.count), destructor,
                    UInt8(SQLITE_UTF8))
                : sqlite3_bind_blob64(handle, index, start, UInt64(buffer.count), destructor)
        }
    }

    private func failure(_ operation: String) -> JournalError {
        JournalError(sqliteConnection: connection, operation: operation)
    }
}

extension JournalError {
    /// The error that `connection` reported last.
    init(sqliteConnection connection: OpaquePointer, operation: String) {
        let code = sqlite3_extended_errcode(connection)
        let message = String(cString: sqlite3_errmsg(connection))
        self = .sqlite(code: code, message: message, operation: operation)
    }

    /// Translates a failure of SQLite into the code that callers decide by, with a hint when one is known.
    private static func sqlite(code: Int32, message: String, operation: String) -> JournalError {
        let failure = SQLiteFailure(code: code)
        let known: Code =
            switch failure.meaning {
            case .busy: .busy
            case .notADatabase: .notADatabase
            case .corrupt: .corrupt
            case .readOnly, .cannotOpen: .readOnly
            default: .sqlite
            }
        return JournalError(known, "\(operation) failed: \(message)", hint: failure.hint, sqliteCode: code)
    }

    /// Wraps an error that GRDB throws. A ``JournalError`` stays as it is.
    public init(_ error: any Error, operation: String) {
        switch error {
        case let error as JournalError: self = error
        case let error as DatabaseError:
            self = .sqlite(
                code: error.extendedResultCode.rawValue, message: error.message ?? "no message", operation: operation)
        default: self.init(.sqlite, "\(operation) failed: \(error)")
        }
    }
}
