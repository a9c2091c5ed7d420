import Foundation
import Journal

/// A way to store a property other than that of its type, named in `@Column(as:)`.
///
/// ```swift
/// enum CelsiusAsTenths: ColumnCoding {
///     static func decode(_ value: Value) throws -> Double { try Double(Int64(columnValue: value)) / 10 }
///     static func encode(_ degrees: Double) throws -> Value { .integer(Int64((degrees * 10).rounded())) }
/// }
/// ```
public protocol ColumnCoding<Property>: SendableMetatype {
    associatedtype Property: Sendable

    /// - Throws: ``ColumnMismatch`` when `value` does not stand for a property's value.
    static func decode(_ value: Value) throws -> Property

    /// - Throws: ``ColumnMismatch`` when the value cannot be stored.
    static func encode(_ property: Property) throws -> Value

    /// The property's value as it reads back after it was stored.
    static func asStored(_ property: Property) -> Property

    /// The class of the stored values, by which an automatic schema declares the column; `.any` when it is not said.
    static var columnStorage: ColumnStorage { get }
}

extension ColumnCoding {
    public static func asStored(_ property: Property) -> Property {
        // What cannot be encoded is refused with its reason when it is bound.
        (try? decode(encode(property))) ?? property
    }
}

/// Lets a coding stand for an optional property: nil is NULL.
public enum OptionalCoding<Wrapped: ColumnCoding>: ColumnCoding {
    public static func decode(_ value: Value) throws -> Wrapped.Property? {
        if case .null = value { return nil }
        return try Wrapped.decode(value)
    }

    public static func encode(_ property: Wrapped.Property?) throws -> Value {
        try property.map { try Wrapped.encode($0) } ?? .null
    }

    public static func asStored(_ property: Wrapped.Property?) -> Wrapped.Property? {
        property.map { Wrapped.asStored($0) }
    }
}

/// A Codable value as JSON text with sorted keys, so that equal values are equal texts.
public enum JSONCoding<Property: Codable & Sendable>: ColumnCoding {
    public static func decode(_ value: Value) throws -> Property {
        guard case .text(let bytes) = value else { throw ColumnMismatch(value, needed: "JSON text") }
        do {
            return try JSONDecoder().decode(Property.self, from: Data(bytes))
        } catch {
            throw ColumnMismatch("the JSON does not decode as \(Property.self)")
        }
    }

    public static func encode(_ property: Property) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .text(Bytes(try encoder.encode(property)))
        } catch {
            throw ColumnMismatch("the value of type \(Property.self) has no JSON")
        }
    }

    public static func asStored(_ property: Property) -> Property { property }
}

/// A date as an INTEGER of milliseconds since 1970, rounded to the nearest.
public enum DateAsMilliseconds: ColumnCoding {
    public static func decode(_ value: Value) throws -> Date {
        Date(timeIntervalSince1970: Double(try Int64(columnValue: value)) / 1_000)
    }

    public static func encode(_ property: Date) throws -> Value {
        guard let milliseconds = Int64(exactly: (property.timeIntervalSince1970 * 1_000).rounded()) else {
            throw ColumnMismatch("the date is out of range")
        }
        return .integer(milliseconds)
    }
}

/// A date as a REAL of seconds since 2001-01-01T00:00:00Z, which is how `Date` itself counts: every date reads back equal to the
/// one that was stored. The other forms round. An INTEGER is read alike; a date that is not a number is refused.
public enum DateAsReferenceSeconds: ColumnCoding {
    public static func decode(_ value: Value) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try Double(columnValue: value))
    }

    public static func encode(_ property: Date) throws -> Value {
        try property.timeIntervalSinceReferenceDate.columnValue
    }
}

/// A date as the TEXT that SQLite's own date functions write, `2026-01-31 12:00:00.123`, in UTC; milliseconds are left out
/// when they are 0. Reads also a date without a time, a `T` between the two, and a `Z` at the end.
public enum DateAsText: ColumnCoding {
    public static func decode(_ value: Value) throws -> Date {
        let text = try String(columnValue: value)
        guard let date = CivilTime.parse(text) else { throw ColumnMismatch("the text is not a date") }
        return date
    }

    public static func encode(_ property: Date) throws -> Value {
        guard let text = CivilTime.format(property) else {
            throw ColumnMismatch("the date lies outside of the years 0 to 9999")
        }
        return .text(text)
    }
}

/// A UUID as a BLOB of 16 bytes, half as long as its text.
public enum UUIDAsBlob: ColumnCoding {
    public static func decode(_ value: Value) throws -> UUID {
        guard case .blob(let bytes) = value, let uuid = UUID(bytes: bytes) else {
            throw ColumnMismatch(value, needed: "a BLOB of 16 bytes")
        }
        return uuid
    }

    public static func encode(_ property: UUID) throws -> Value { .blob(Bytes(property.bytes)) }
}

/// A UUID as TEXT in upper case, as Foundation prints it. For files whose keys are written so.
public enum UUIDAsUppercaseText: ColumnCoding {
    public static func decode(_ value: Value) throws -> UUID {
        let text = try String(columnValue: value)
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text else {
            throw ColumnMismatch("the text is not a UUID in upper case")
        }
        return uuid
    }

    public static func encode(_ property: UUID) throws -> Value { .text(property.uuidString) }
}
