import GRDBSQLite
import Journal

/// One column of a statement's current row. Valid until the statement moves.
public struct ColumnCursor {
    @usableFromInline let statement: OpaquePointer
    @usableFromInline let index: Int32

    @inlinable
    init(statement: OpaquePointer, index: Int32) {
        self.statement = statement
        self.index = index
    }

    /// True for NULL.
    @inlinable public var isNull: Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

    /// The value with its storage class and its exact bytes, copied.
    public var value: Value {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, index))
        case SQLITE_TEXT: .text(withText { Bytes($0) })
        case SQLITE_BLOB: .blob(withBlob { Bytes($0) })
        default: .null
        }
    }

    /// Calls `body` with the bytes of a TEXT column, NULs included.
    ///
    /// SQLite converts other classes to text, and NULL to no bytes.
    ///
    /// - Parameter body: Receives the bytes, which are valid until it returns.
    /// - Throws: What `body` throws.
    @inlinable
    public func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let start = sqlite3_column_text(statement, index)
        return try body(UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }

    /// Calls `body` with the bytes of a BLOB column.
    ///
    /// SQLite converts numbers to text first, and NULL to no bytes.
    ///
    /// - Parameter body: Receives the bytes, which are valid until it returns.
    /// - Throws: What `body` throws.
    @inlinable
    public func withBlob<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let start = sqlite3_column_blob(statement, index)
        return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }
}

/// A statement's current row, whose columns are those of one model in the model's order.
public struct RowCursor {
    @usableFromInline let statement: OpaquePointer
    /// The position of the model's first column; in a join, the columns of another model come before it.
    @usableFromInline let offset: Int

    init(statement: OpaquePointer, offset: Int = 0) {
        self.statement = statement
        self.offset = offset
    }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    @inlinable
    public func read<T: ColumnValue>(_ position: Int) throws -> T { try decoded(position) }

    /// The body of the generic read and of those of the standard types.
    @inlinable
    @inline(__always)
    func decoded<T: ColumnValue>(_ position: Int) throws -> T {
        do {
            return try T(
                column: ColumnCursor(statement: statement, index: Int32(truncatingIfNeeded: offset + position)))
        } catch {
            throw undecodable(position, error)
        }
    }

    /// Reads the model's column at `position`, counted from 0, with `coding`.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    @inlinable
    public func read<C: ColumnCoding>(_ position: Int, as coding: C.Type) throws -> C.Property {
        do {
            let cursor = ColumnCursor(statement: statement, index: Int32(truncatingIfNeeded: offset + position))
            return try C.decode(cursor.value)
        } catch {
            throw undecodable(position, error)
        }
    }

    @usableFromInline
    func undecodable(_ position: Int, _ error: any Error) -> StoreError {
        let name = sqlite3_column_name(statement, Int32(truncatingIfNeeded: offset + position)).map {
            String(cString: $0)
        }
        return .undecodable(column: name, error)
    }
}

/// A row whose columns were matched with a struct's by name.
public struct NamedRow {
    @usableFromInline let row: RowCursor
    /// The position in the row of each column of the struct; -1 when the row has no column of that name.
    @usableFromInline let positions: [Int32]
    @usableFromInline let schema: ModelSchema

    /// True when the row has a column with the name of the struct's column at this position, counted from 0.
    @inlinable public func has(_ column: Int) -> Bool { positions[column] >= 0 }

    /// Reads the struct's column at this position, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/missingColumn`` when the row has no column of that name;
    ///   ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode the
    ///   stored value.
    @inlinable
    public func read<T: ColumnValue>(_ column: Int) throws -> T { try row.read(position(column)) }

    /// Reads the struct's column at this position, counted from 0, with `coding`.
    ///
    /// - Throws: ``StoreError/Code/missingColumn`` when the row has no column of that name;
    ///   ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode the
    ///   stored value.
    @inlinable
    public func read<C: ColumnCoding>(_ column: Int, as coding: C.Type) throws -> C.Property {
        try row.read(position(column), as: coding)
    }

    @usableFromInline
    func position(_ column: Int) throws -> Int {
        guard positions[column] >= 0 else {
            throw StoreError(
                .missingColumn, "The query returns no column \(schema.columns[column].name)",
                hint: "Select it, or give the property a default value.", column: schema.columns[column].name)
        }
        return Int(positions[column])
    }
}

/// The parameters of a statement, by positions counted from 0.
///
/// SQLite copies bound values. A parameter without a bound value is NULL.
public struct ParameterCursor {
    @usableFromInline let statement: OpaquePointer

    /// Binds a value to the parameter at `position`.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored; ``StoreError/Code/sql`` when there is no
    ///   such parameter.
    @inlinable
    public func bind<T: ColumnValue>(_ value: T, at position: Int) throws {
        try value.bind(to: self, at: position)
    }

    /// Binds a value as `coding` encodes it.
    ///
    /// - Throws: What `coding` throws, usually ``ColumnMismatch``; ``StoreError/Code/sql`` when there is no
    ///   such parameter.
    @inlinable
    public func bind<C: ColumnCoding>(_ value: C.Property, at position: Int, as coding: C.Type) throws {
        try bind(value: C.encode(value), at: position)
    }

    /// Binds a value with its storage class and its exact bytes.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN; ``StoreError/Code/sql`` when there is no such parameter;
    ///   ``StoreError/Code/sqlite`` for more bytes than SQLite accepts.
    public func bind(value: Value, at position: Int) throws {
        switch value {
        case .null: try bindNull(at: position)
        case .integer(let number): try bind(integer: number, at: position)
        case .real(let number): try bind(real: number, at: position)
        case .text(let bytes): try bytes.withUnsafeBufferPointer { try bind(text: $0, at: position) }
        case .blob(let bytes): try bytes.withUnsafeBytes { try bind(blob: $0, at: position) }
        }
    }

    /// Binds NULL.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter.
    @inlinable
    public func bindNull(at position: Int) throws { try check(sqlite3_bind_null(statement, index(position))) }

    /// Binds an INTEGER.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter.
    @inlinable
    public func bind(integer: Int64, at position: Int) throws {
        try check(sqlite3_bind_int64(statement, index(position), integer))
    }

    /// Binds a REAL.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN; ``StoreError/Code/sql`` when there is no such parameter.
    @inlinable
    public func bind(real: Double, at position: Int) throws {
        // SQLite stores NaN as NULL (https://sqlite.org/c3ref/bind_blob.html), which would read back as
        // another value.
        if real.isNaN { throw ColumnMismatch("SQLite cannot store NaN") }
        try check(sqlite3_bind_double(statement, index(position), real))
    }

    /// Binds a TEXT of these bytes, which should be UTF-8; NUL bytes are kept.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter; ``StoreError/Code/sqlite`` for more
    ///   bytes than SQLite accepts, 1 000 000 000 by default (https://sqlite.org/limits.html#max_length).
    @inlinable
    public func bind(text: UnsafeBufferPointer<UInt8>, at position: Int) throws {
        try withUnsafePointer(to: UInt8(0)) { empty in
            // A nil pointer would bind NULL instead of an empty text.
            let start = UnsafeRawPointer(text.baseAddress ?? empty)
            try check(
                sqlite3_bind_text64(
                    statement, index(position), start.assumingMemoryBound(to: CChar.self), UInt64(text.count),
                    copyingDestructor, UInt8(SQLITE_UTF8)))
        }
    }

    /// Binds a BLOB of these bytes.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter; ``StoreError/Code/sqlite`` for more
    ///   bytes than SQLite accepts, 1 000 000 000 by default (https://sqlite.org/limits.html#max_length).
    @inlinable
    public func bind(blob: UnsafeRawBufferPointer, at position: Int) throws {
        try withUnsafePointer(to: UInt8(0)) { empty in
            let start = blob.baseAddress ?? UnsafeRawPointer(empty)
            try check(
                sqlite3_bind_blob64(statement, index(position), start, UInt64(blob.count), copyingDestructor))
        }
    }

    @inlinable
    func index(_ position: Int) -> Int32 { Int32(truncatingIfNeeded: position + 1) }

    @inlinable
    func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure() }
    }

    @usableFromInline
    func failure() -> StoreError {
        StoreError(connection: sqlite3_db_handle(statement), operation: "binding a value")
    }
}

/// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
@inlinable
var copyingDestructor: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

/// The key of a row from the journal, in the order of a model's key.
public struct KeyValues {
    let values: [Value]

    /// Reads the key's column at `position`, counted from 0.
    ///
    /// - Throws: ``ColumnMismatch`` when the key has fewer columns, or when `T` cannot decode the value.
    public func read<T: ColumnValue>(_ position: Int) throws -> T { try T(columnValue: value(position)) }

    /// Reads the key's column at `position`, counted from 0, with `coding`.
    ///
    /// - Throws: ``ColumnMismatch`` when the key has fewer columns; what `coding` throws.
    public func read<C: ColumnCoding>(_ position: Int, as coding: C.Type) throws -> C.Property {
        try C.decode(value(position))
    }

    private func value(_ position: Int) throws -> Value {
        guard values.indices.contains(position) else { throw ColumnMismatch("The key has fewer columns") }
        return values[position]
    }
}
