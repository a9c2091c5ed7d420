import Foundation
import GRDBSQLite
import Journal

// A model with such properties needs no other import than Store.
@_exported import struct Foundation.Data
@_exported import struct Foundation.Date
@_exported import struct Foundation.Decimal
@_exported import struct Foundation.URL
@_exported import struct Foundation.UUID

extension Data: ColumnValue, ColumnPlaceholder {
    /// Reads the bytes of a BLOB.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public init(columnValue: Value) throws {
        guard case .blob(let bytes) = columnValue else { throw ColumnMismatch(columnValue, needed: "a blob") }
        self = Data(bytes)
    }

    /// A BLOB.
    public var columnValue: Value { .blob(Bytes(self)) }

    /// Reads like ``init(columnValue:)``.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a BLOB.
    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_BLOB {
            self = column.withBlob { Data($0) }
        } else {
            try self.init(columnValue: column.value)
        }
    }

    /// Binds a BLOB.
    ///
    /// - Throws: ``StoreError/Code/sql`` when there is no such parameter; ``StoreError/Code/sqlite`` for more
    ///   bytes than SQLite accepts.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try withUnsafeBytes { try statement.bind(blob: $0, at: position) }
    }

    /// Compares the bytes.
    public static func differ(_ a: Data, _ b: Data) -> Bool { a != b }
    /// No bytes.
    public static var columnPlaceholder: Data { Data() }
}

extension Date: ColumnValue, ColumnPlaceholder {
    /// Reads a REAL or INTEGER of seconds since 1970. This form rounds the last bit;
    /// ``DateAsReferenceSeconds`` keeps it.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a number.
    public init(columnValue: Value) throws {
        self.init(timeIntervalSince1970: try Double(columnValue: columnValue))
    }

    /// A REAL of seconds since 1970.
    ///
    /// - Throws: ``ColumnMismatch`` for a date that is not a number.
    public var columnValue: Value { get throws { try timeIntervalSince1970.columnValue } }

    /// Reads like ``init(columnValue:)``.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a number.
    @inlinable
    public init(column: ColumnCursor) throws {
        self.init(timeIntervalSince1970: try Double(column: column))
    }

    /// Binds a REAL of seconds since 1970.
    ///
    /// - Throws: ``ColumnMismatch`` for a date that is not a number; ``StoreError/Code/sql`` when there is no
    ///   such parameter.
    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(real: timeIntervalSince1970, at: position)
    }

    /// Compares the seconds since 1970, as they are stored.
    public static func differ(_ a: Date, _ b: Date) -> Bool {
        Double.differ(a.timeIntervalSince1970, b.timeIntervalSince1970)
    }

    /// The date as it reads back. `Date` counts from 2001; the conversion to seconds since 1970 rounds the
    /// last bit, so that memory holds what the file holds.
    public var asStored: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
    /// 1970-01-01T00:00:00Z.
    public static var columnPlaceholder: Date { Date(timeIntervalSince1970: 0) }
}

extension UUID: ColumnValue, ColumnPlaceholder {
    /// Reads lower-case TEXT, the form of RFC 9562. Any other spelling, or a BLOB, is a mismatch: a key that
    /// is read leniently and written strictly would not find its row again. ``UUIDAsBlob`` and
    /// ``UUIDAsUppercaseText`` are for such columns.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public init(columnValue: Value) throws {
        guard case .text(let bytes) = columnValue, let text = String(validating: bytes, as: UTF8.self),
            let uuid = UUID(uuidString: text), uuid.lowercaseText == text
        else {
            throw ColumnMismatch(
                "The value is not a UUID in lower-case text; for other forms, name UUIDAsBlob or UUIDAsUppercaseText in @Column(as:)"
            )
        }
        self = uuid
    }

    /// TEXT in lower case.
    public var columnValue: Value { .text(lowercaseText) }
    /// Compares the 16 bytes.
    public static func differ(_ a: UUID, _ b: UUID) -> Bool { a != b }
    /// The UUID of 16 zero bytes.
    public static var columnPlaceholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

    var lowercaseText: String { uuidString.lowercased() }
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var uuid = UUID.columnPlaceholder.uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        self.init(uuid: uuid)
    }
}

extension URL: ColumnValue, ColumnPlaceholder {
    /// Reads a TEXT that Foundation accepts as a URL.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public init(columnValue: Value) throws {
        guard let url = URL(string: try String(columnValue: columnValue)) else {
            throw ColumnMismatch("The text is not a URL")
        }
        self = url
    }

    /// A TEXT of the absolute URL.
    public var columnValue: Value { .text(absoluteString) }
    /// `file:///`.
    public static var columnPlaceholder: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: ColumnValue, ColumnPlaceholder {
    /// Reads TEXT with all digits, or an INTEGER. A REAL is a mismatch, because a double may have lost
    /// digits.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value, and for a text that is not a decimal number.
    public init(columnValue: Value) throws {
        switch columnValue {
        case .integer(let number): self = Decimal(number)
        case .text:
            let text = try String(columnValue: columnValue)
            guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
                text.utf8.allSatisfy({ Decimal.characters.contains($0) })
            else { throw ColumnMismatch("The text is not a decimal number") }
            self = number
        default: throw ColumnMismatch(columnValue, needed: "a decimal number as TEXT")
        }
    }

    /// TEXT with all digits and a decimal point, independent of the locale.
    ///
    /// - Throws: ``ColumnMismatch`` for NaN.
    public var columnValue: Value {
        get throws {
            if isNaN { throw ColumnMismatch("SQLite cannot store NaN") }
            return .text(NSDecimalNumber(decimal: self).description(withLocale: Locale(identifier: "en_US_POSIX")))
        }
    }

    /// Compares the numbers.
    public static func differ(_ a: Decimal, _ b: Decimal) -> Bool { a != b }
    /// 0.
    public static var columnPlaceholder: Decimal { 0 }
    private static let characters = Set("0123456789+-.eE".utf8)
}
