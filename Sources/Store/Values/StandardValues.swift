import GRDBSQLite
import Journal

// Reading is strict: a stored value of another class is an error with the column's name, never a silent 0 or "".

extension ColumnValue where Self: FixedWidthInteger {
    public init(columnValue: Value) throws {
        switch columnValue {
        case .integer(let number):
            guard let exact = Self(exactly: number) else {
                throw ColumnMismatch("the integer does not fit \(Self.self)")
            }
            self = exact
        case .real(let number):
            guard let exact = Self(exactly: number) else {
                throw ColumnMismatch("the number is not a whole \(Self.self)")
            }
            self = exact
        default: throw ColumnMismatch(columnValue, needed: "an integer")
        }
    }

    public var columnValue: Value {
        get throws {
            guard let number = Int64(exactly: self) else { throw ColumnMismatch("SQLite's integers end at Int64.max") }
            return .integer(number)
        }
    }

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

    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        guard let number = Int64(exactly: self) else { throw ColumnMismatch("SQLite's integers end at Int64.max") }
        try statement.bind(integer: number, at: position)
    }

    @inlinable public static func differ(_ a: Self, _ b: Self) -> Bool { a != b }
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
    /// 0 is false, every other integer true, as in SQLite's expressions.
    public init(columnValue: Value) throws {
        guard case .integer(let number) = columnValue else { throw ColumnMismatch(columnValue, needed: "0 or 1") }
        self = number != 0
    }

    public var columnValue: Value { .integer(self ? 1 : 0) }
    public static func differ(_ a: Bool, _ b: Bool) -> Bool { a != b }
    public static var columnPlaceholder: Bool { false }
}

extension Double: ColumnValue, ColumnPlaceholder {
    public init(columnValue: Value) throws {
        switch columnValue {
        case .real(let number): self = number
        case .integer(let number):
            // A column without REAL affinity may hold integers that no double can hold.
            guard let exact = Double(exactly: number) else { throw ColumnMismatch("the integer does not fit a Double") }
            self = exact
        default: throw ColumnMismatch(columnValue, needed: "a number")
        }
    }

    public var columnValue: Value {
        get throws {
            if isNaN { throw ColumnMismatch("SQLite cannot store NaN") }
            return .real(self)
        }
    }

    @inlinable
    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_FLOAT {
            self = sqlite3_column_double(column.statement, column.index)
        } else {
            try self.init(columnValue: column.value)
        }
    }

    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(real: self, at: position)
    }

    // By bits: NaN would differ from itself for ever. SQL cannot tell -0.0 from 0.0, so neither does this.
    @inlinable public static func differ(_ a: Double, _ b: Double) -> Bool { a != b && a.bitPattern != b.bitPattern }
    public static var columnPlaceholder: Double { 0 }
}

extension Float: ColumnValue, ColumnPlaceholder {
    public init(columnValue: Value) throws { self = Float(try Double(columnValue: columnValue)) }
    public var columnValue: Value { get throws { try Double(self).columnValue } }
    public static func differ(_ a: Float, _ b: Float) -> Bool { a != b && a.bitPattern != b.bitPattern }
    public static var columnPlaceholder: Float { 0 }
}

extension String: ColumnValue, ColumnPlaceholder {
    /// TEXT that is not valid UTF-8 is a mismatch: repaired, it would be another text, and as a key another row.
    public init(columnValue: Value) throws {
        guard case .text(let bytes) = columnValue else { throw ColumnMismatch(columnValue, needed: "a text") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ColumnMismatch("the text is not valid UTF-8")
        }
        self = text
    }

    public var columnValue: Value { .text(self) }

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

    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        var copy = self
        try copy.withUTF8 { try statement.bind(text: $0, at: position) }
    }

    // By bytes: Swift's == holds the two normal forms of one word for equal, SQLite does not.
    @inlinable
    public static func differ(_ a: String, _ b: String) -> Bool {
        a.utf8.count != b.utf8.count || !a.utf8.elementsEqual(b.utf8)
    }

    public static var columnPlaceholder: String { "" }
}

extension Value: ColumnValue {
    public init(columnValue: Value) throws { self = columnValue }
    public var columnValue: Value { self }
    public static func differ(_ a: Value, _ b: Value) -> Bool { a != b }
}
