import Foundation
import GRDBSQLite
import Journal

extension Data: ColumnValue, ColumnPlaceholder {
    public init(columnValue: Value) throws {
        guard case .blob(let bytes) = columnValue else { throw ColumnMismatch(columnValue, needed: "a blob") }
        self = Data(bytes)
    }

    public var columnValue: Value { .blob(Bytes(self)) }

    public init(column: ColumnCursor) throws {
        if sqlite3_column_type(column.statement, column.index) == SQLITE_BLOB {
            self = column.withBlob { Data($0) }
        } else {
            try self.init(columnValue: column.value)
        }
    }

    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try withUnsafeBytes { try statement.bind(blob: $0, at: position) }
    }

    public static func differ(_ a: Data, _ b: Data) -> Bool { a != b }
    public static var columnPlaceholder: Data { Data() }
}

extension Date: ColumnValue, ColumnPlaceholder {
    /// Seconds since 1970, as REAL; an INTEGER is read alike. ``DateAsReferenceSeconds`` keeps the last bit too, which is rounded
    /// away here.
    public init(columnValue: Value) throws {
        self.init(timeIntervalSince1970: try Double(columnValue: columnValue))
    }

    public var columnValue: Value { get throws { try timeIntervalSince1970.columnValue } }

    @inlinable
    public init(column: ColumnCursor) throws {
        self.init(timeIntervalSince1970: try Double(column: column))
    }

    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(real: timeIntervalSince1970, at: position)
    }

    public static func differ(_ a: Date, _ b: Date) -> Bool {
        Double.differ(a.timeIntervalSince1970, b.timeIntervalSince1970)
    }

    // Date counts from 2001: counted from 1970, the last bit is rounded away. Memory holds what the file holds.
    public var asStored: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
    public static var columnPlaceholder: Date { Date(timeIntervalSince1970: 0) }
}

extension UUID: ColumnValue, ColumnPlaceholder {
    /// Lower-case TEXT, the spelling of RFC 9562. Another spelling or a BLOB is a mismatch: read leniently and written
    /// strictly, a key would never find its row again. ``UUIDAsBlob`` and ``UUIDAsUppercaseText`` are for such columns.
    public init(columnValue: Value) throws {
        guard case .text(let bytes) = columnValue, let text = String(validating: bytes, as: UTF8.self),
            let uuid = UUID(uuidString: text), uuid.lowercaseText == text
        else {
            throw ColumnMismatch(
                "the value is not a UUID in lower-case text; for another form name UUIDAsBlob or UUIDAsUppercaseText in @Column(as:)"
            )
        }
        self = uuid
    }

    public var columnValue: Value { .text(lowercaseText) }
    public static func differ(_ a: UUID, _ b: UUID) -> Bool { a != b }
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
    public init(columnValue: Value) throws {
        guard let url = URL(string: try String(columnValue: columnValue)) else {
            throw ColumnMismatch("the text is not a URL")
        }
        self = url
    }

    public var columnValue: Value { .text(absoluteString) }
    public static var columnPlaceholder: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: ColumnValue, ColumnPlaceholder {
    /// TEXT with all digits; an INTEGER is read too. A REAL is a mismatch: its digits went through a double already.
    public init(columnValue: Value) throws {
        switch columnValue {
        case .integer(let number): self = Decimal(number)
        case .text:
            let text = try String(columnValue: columnValue)
            guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
                text.utf8.allSatisfy({ Decimal.characters.contains($0) })
            else { throw ColumnMismatch("the text is not a decimal number") }
            self = number
        default: throw ColumnMismatch(columnValue, needed: "a decimal number as TEXT")
        }
    }

    public var columnValue: Value {
        get throws {
            if isNaN { throw ColumnMismatch("SQLite cannot store NaN") }
            return .text(NSDecimalNumber(decimal: self).description(withLocale: Locale(identifier: "en_US_POSIX")))
        }
    }

    public static func differ(_ a: Decimal, _ b: Decimal) -> Bool { a != b }
    public static var columnPlaceholder: Decimal { 0 }
    private static let characters = Set("0123456789+-.eE".utf8)
}
