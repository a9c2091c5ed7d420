import Foundation
import Journal

/// A coding that stores a property in another form than its type does. It is named in `@Column(as:)`.
///
/// ```swift
/// enum CelsiusAsTenths: ColumnCoding {
///     static func decode(_ value: Value) throws -> Double { try Double(Int64(columnValue: value)) / 10 }
///     static func encode(_ degrees: Double) throws -> Value { .integer(Int64((degrees * 10).rounded())) }
/// }
/// ```
public protocol ColumnCoding<Property>: SendableMetatype {
    /// The type of the property.
    associatedtype Property

    /// Decodes the property's value from the stored value.
    ///
    /// - Throws: ``ColumnMismatch`` when `value` cannot be decoded. The caller rethrows it as
    ///   ``StoreError/Code/undecodable``, with the column.
    static func decode(_ value: Value) throws -> Property

    /// Encodes the property's value for storage.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored. The caller rethrows it as
    ///   ``StoreError/Code/unstorable``, with the column; nothing is written then.
    static func encode(_ property: Property) throws -> Value

    /// Returns the property's value as it reads back after it was stored.
    static func asStored(_ property: Property) -> Property

    /// The storage class of the stored values, which is the column's type in an automatic schema; `.any` by
    /// default.
    static var columnStorage: ColumnStorage { get }
}

extension ColumnCoding {
    /// Encodes the value and decodes it again. A value that cannot be encoded is returned unchanged.
    public static func asStored(_ property: Property) -> Property {
        // A value that cannot be encoded is refused, with the reason, when it is bound.
        (try? decode(encode(property))) ?? property
    }
}

/// Extends a coding to an optional property: nil is NULL.
public enum OptionalCoding<Wrapped> {}

// The conformance is conditional, so that a property with a wrong coding gets one error, at its declaration.
extension OptionalCoding: SendableMetatype where Wrapped: ColumnCoding {}

extension OptionalCoding: ColumnCoding where Wrapped: ColumnCoding {
    /// Decodes NULL as nil, and other values by `Wrapped`.
    ///
    /// - Throws: What `Wrapped` throws.
    public static func decode(_ value: Value) throws -> Wrapped.Property? {
        if case .null = value { return nil }
        return try Wrapped.decode(value)
    }

    /// Encodes nil as NULL, and other values by `Wrapped`.
    ///
    /// - Throws: What `Wrapped` throws.
    public static func encode(_ property: Wrapped.Property?) throws -> Value {
        try property.map { try Wrapped.encode($0) } ?? .null
    }

    /// Returns nil for nil, and other values as `Wrapped` stores them.
    public static func asStored(_ property: Wrapped.Property?) -> Wrapped.Property? {
        property.map { Wrapped.asStored($0) }
    }
}

/// Stores a Codable value as JSON text with sorted keys, so that equal values have equal texts.
public enum JSONCoding<Property> {}

extension JSONCoding: SendableMetatype where Property: Codable {}

extension JSONCoding: ColumnCoding where Property: Codable {
    /// Reads JSON text.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not TEXT, or whose JSON the property's type cannot
    ///   decode.
    public static func decode(_ value: Value) throws -> Property {
        guard case .text(let bytes) = value else { throw ColumnMismatch(value, needed: "JSON text") }
        do {
            return try JSONDecoder().decode(Property.self, from: Data(bytes))
        } catch {
            throw ColumnMismatch("The JSON cannot be decoded as \(Property.self)")
        }
    }

    /// Writes JSON text.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that has no JSON form, such as an infinite number.
    public static func encode(_ property: Property) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .text(Bytes(try encoder.encode(property)))
        } catch {
            throw ColumnMismatch("The value of type \(Property.self) cannot be encoded as JSON")
        }
    }

    /// Returns the value itself. It is not decoded again, because that would cost as much as storing it.
    public static func asStored(_ property: Property) -> Property { property }
}

/// Stores a date as an INTEGER of milliseconds since 1970, rounded to the nearest millisecond.
public enum DateAsMilliseconds: ColumnCoding {
    /// Reads an INTEGER of milliseconds.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a whole number.
    public static func decode(_ value: Value) throws -> Date {
        Date(timeIntervalSince1970: Double(try Int64(columnValue: value)) / 1_000)
    }

    /// Writes the nearest millisecond.
    ///
    /// - Throws: ``ColumnMismatch`` for a date whose milliseconds do not fit 64 bits, and for one that is not
    ///   a number.
    public static func encode(_ property: Date) throws -> Value {
        guard let milliseconds = Int64(exactly: (property.timeIntervalSince1970 * 1_000).rounded()) else {
            throw ColumnMismatch("The date is out of range")
        }
        return .integer(milliseconds)
    }
}

/// Stores a date as a REAL of seconds since 2001-01-01T00:00:00Z, as `Date` itself counts: every date reads
/// back exactly as it was stored, while the other forms round. An INTEGER can be read too. A date that is not
/// a number is refused.
public enum DateAsReferenceSeconds: ColumnCoding {
    /// Reads a REAL or INTEGER of seconds.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not a number.
    public static func decode(_ value: Value) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try Double(columnValue: value))
    }

    /// Writes the seconds, without rounding.
    ///
    /// - Throws: ``ColumnMismatch`` for a date that is not a number.
    public static func encode(_ property: Date) throws -> Value {
        try property.timeIntervalSinceReferenceDate.columnValue
    }
}

/// Stores a date as the TEXT that SQLite's own date functions write, `2026-01-31 12:00:00.123`, in UTC;
/// milliseconds are omitted when they are 0. It also reads a date without a time, a `T` between date and
/// time, and a `Z` at the end.
public enum DateAsText: ColumnCoding {
    /// Reads a date text, with all its digits of a second.
    ///
    /// - Throws: ``ColumnMismatch`` for a text in another form, and for a day or time that does not exist.
    public static func decode(_ value: Value) throws -> Date {
        let text = try String(columnValue: value)
        guard let date = CivilTime.parse(text) else { throw ColumnMismatch("The text is not a date") }
        return date
    }

    /// Writes the nearest millisecond.
    ///
    /// - Throws: ``ColumnMismatch`` for a date outside the years 0 to 9999, which SQLite's functions cannot
    ///   read.
    public static func encode(_ property: Date) throws -> Value {
        guard let text = CivilTime.format(property) else {
            throw ColumnMismatch("The date is outside the years 0 to 9999")
        }
        return .text(text)
    }
}

/// Stores a UUID as a BLOB of 16 bytes, half as long as its text.
public enum UUIDAsBlob: ColumnCoding {
    /// Reads a BLOB of 16 bytes.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value.
    public static func decode(_ value: Value) throws -> UUID {
        guard case .blob(let bytes) = value, let uuid = UUID(bytes: bytes) else {
            throw ColumnMismatch(value, needed: "a BLOB of 16 bytes")
        }
        return uuid
    }

    /// Writes the 16 bytes, in the order of the text.
    ///
    /// - Throws: Nothing.
    public static func encode(_ property: UUID) throws -> Value { .blob(Bytes(property.bytes)) }
}

/// Stores a UUID as TEXT in upper case, as Foundation prints it. For files whose keys have this form.
public enum UUIDAsUppercaseText: ColumnCoding {
    /// Reads TEXT in upper case.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value or spelling, because a key in another spelling would
    ///   not find its row again.
    public static func decode(_ value: Value) throws -> UUID {
        let text = try String(columnValue: value)
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text else {
            throw ColumnMismatch("The text is not a UUID in upper case")
        }
        return uuid
    }

    /// Writes TEXT in upper case.
    ///
    /// - Throws: Nothing.
    public static func encode(_ property: UUID) throws -> Value { .text(property.uuidString) }
}
