import GRDBSQLite
import Journal

// Reading is strict: a stored value of another storage class is an error with the column's name, never a
// silent 0 or "".

extension ColumnValue where Self: FixedWidthInteger {
    /// Reads an INTEGER, or a REAL without a fraction.
    ///
    /// - Throws: ``ColumnMismatch`` for a number that the type cannot hold exactly, and for any other value.
    public init(columnValue: Value) throws {
        switch columnValue {
        case .integer(let number):
            guard let exact = Self(exactly: number) else {
                throw ColumnMismatch("The integer does not fit \(Self.self)")
            }
            self = exact
        case .real(let number):
            guard let exact = Self(exactly: number) else {
                throw ColumnMismatch("The number is not a whole number that fits \(Self.self)")
            }
            self = exact
        default: throw ColumnMismatch(columnValue, needed: "an integer")
        }
    }

    /// An INTEGER.
    ///
    /// - Throws: ``ColumnMismatch`` for a number greater than `Int64.max`.
    public var columnValue: Value {
        get throws {
            guard let number = Int64(exactly: self) else {
                throw ColumnMismatch("The integer is greater than Int64.max, SQLite's greatest")
            }
            return .integer(number)
        }
    }

    /// Reads like ``init(columnValue:)``.
    ///
    /// - Throws: ``ColumnMismatch`` for a number that the type cannot hold exactly, and for any other value.
    @inlinable
    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_INTEGER,
            let exact = Self(exactly: sqlite3_column_int64(column.statement, column.index))
        {
            self = exact
        } else {
            try self.init(columnValue: column.value)
        }
    }

    /// Binds an INTEGER.
    ///
    /// - Throws: ``ColumnMismatch`` for a number greater than `Int64.max`; ``StoreError/Code/sql`` when there
    ///   is no such parameter.
    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        guard let number = Int64(exactly: self) else {
            throw ColumnMismatch("The integer is greater than Int64.max, SQLite's greatest")
        }
        try statement.bind(integer: number, at: position)
    }

    /// Compares the numbers.
    @inlinable public static func differ(_ a: Self, _ b: Self) -> Bool { a != b }
    /// 0.
    @inlinable public static var columnPlaceholder: Self { 0 }
}

extension Int: ColumnValue, ColumnPlaceholder {}
extension Int8: ColumnValue, ColumnPlaceholder {}
extension Int16: ColumnValue, ColumnPlaceholder {}
extension Int32: ColumnValue, ColumnPlaceholder {}
extension Int64: ColumnValue, ColumnPlaceholder {}
extension UInt: ColumnValue, ColumnPlaceholder {}
extension UInt8: ColumnValue, ColumnPlaceholder {}
extension UInt16: ColumnValue, ColumnPlaceholder {}
extension UInt32: ColumnValue, ColumnPlaceholder {}
extension UInt64: ColumnValue, ColumnPlaceholder {}

extension Bool: ColumnValue, ColumnPlaceholder {
    /// Reads 0 as false and every other integer as true, as SQLite's expressions do.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not an INTEGER.
    public init(columnValue: Value) throws {
        guard case .integer(let number) = columnValue else { throw ColumnMismatch(columnValue, needed: "0 or 1") }
        self = number != 0
    }

    /// 1 or 0.
    public var columnValue: Value { .integer(self ? 1 : 0) }
    /// Compares the two truth values.
    public static func differ(_ a: Bool, _ b: Bool) -> Bool { a != b }
    /// False.
    public static var columnPlaceholder: Bool { false }
}

extension Double: ColumnValue, ColumnPlaceholder {
    /// Reads a REAL, or an INTEGER that a double holds exactly.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public init(columnValue: Value) throws {
        switch columnValue {
        case .real(let number): self = number
        case .integer(let number):
            // A column without REAL affinity may hold integers that no double can hold.
            guard let exact = Double(exactly: number) else {
                throw ColumnMismatch("A Double cannot hold the integer exactly")
            }
            self = exact
        default: throw ColumnMismatch(columnValue, needed: "a number")
        }
    }

    /// A REAL.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN, which SQLite would store as NULL.
    public var columnValue: Value {
        get throws {
            if isNaN { throw ColumnMismatch("SQLite cannot store NaN") }
            return .real(self)
        }
    }

    /// Reads like ``init(columnValue:)``.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is neither a REAL nor an INTEGER that a double holds
    ///   exactly.
    @inlinable
    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_FLOAT {
            self = sqlite3_column_double(column.statement, column.index)
        } else {
            try self.init(columnValue: column.value)
        }
    }

    /// Binds a REAL.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN; ``StoreError/Code/sql`` when there is no such parameter.
    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(real: self, at: position)
    }

    /// Compares the values, then the bits: by value alone, NaN would always differ from itself. SQL cannot
    /// distinguish -0.0 from 0.0, so they do not differ here either.
    @inlinable public static func differ(_ a: Double, _ b: Double) -> Bool { a != b && a.bitPattern != b.bitPattern }
    /// 0.
    public static var columnPlaceholder: Double { 0 }
}

extension Float: ColumnValue, ColumnPlaceholder {
    /// Reads a REAL, or an INTEGER that a double holds exactly, rounded to the nearest `Float`.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public init(columnValue: Value) throws { self = Float(try Double(columnValue: columnValue)) }
    /// A REAL: the same number as a double.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN, which SQLite would store as NULL.
    public var columnValue: Value { get throws { try Double(self).columnValue } }
    /// Compares like `Double`.
    public static func differ(_ a: Float, _ b: Float) -> Bool { a != b && a.bitPattern != b.bitPattern }
    /// 0.
    public static var columnPlaceholder: Float { 0 }
}

extension String: ColumnValue, ColumnPlaceholder {
    /// Reads a TEXT of valid UTF-8. Invalid UTF-8 is a mismatch: a repaired text would be another text, and
    /// as a key another row.
    ///
    /// - Throws: ``ColumnMismatch`` for invalid UTF-8, and for a value that is not a TEXT.
    public init(columnValue: Value) throws {
        guard case .text(let bytes) = columnValue else { throw ColumnMismatch(columnValue, needed: "a text") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ColumnMismatch("The text is not valid UTF-8")
        }
        self = text
    }

    /// A TEXT of the string's UTF-8, NULs included.
    public var columnValue: Value { .text(self) }

    /// Reads like ``init(columnValue:)``.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a TEXT, or is not valid UTF-8.
    @inlinable
    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_TEXT,
            let text = column.withText({ String(validating: $0, as: UTF8.self) })
        {
            self = text
        } else {
            try self.init(columnValue: column.value)
        }
    }

    /// Binds a TEXT of the string's UTF-8, NULs included.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter; ``StoreError/Code/sqlite`` for more
    ///   bytes than SQLite accepts.
    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        var copy = self
        try copy.withUTF8 { try statement.bind(text: $0, at: position) }
    }

    /// Compares the bytes: Swift's == treats the two Unicode normal forms of a text as equal, SQLite does
    /// not.
    @inlinable
    public static func differ(_ a: String, _ b: String) -> Bool {
        a.utf8.count != b.utf8.count || !a.utf8.elementsEqual(b.utf8)
    }

    /// The empty string.
    public static var columnPlaceholder: String { "" }
}

extension Value: ColumnValue {
    /// The value unchanged.
    ///
    /// - Throws: Nothing.
    public init(columnValue: Value) throws { self = columnValue }
    /// The value unchanged.
    public var columnValue: Value { self }
    /// Compares storage class and content: 1 and 1.0 differ.
    public static func differ(_ a: Value, _ b: Value) -> Bool { a != b }
}
