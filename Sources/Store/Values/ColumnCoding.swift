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
    /// The type of the property.
    associatedtype Property: Sendable

    /// The property's value for a stored one.
    ///
    /// - Throws: ``ColumnMismatch`` when `value` does not stand for a property's value. The caller throws it on as
    ///   ``StoreError/Code/undecodable``, with the column.
    static func decode(_ value: Value) throws -> Property

    /// What is stored for the property's value.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored. The caller throws it on as
    ///   ``StoreError/Code/unstorable``, with the column; nothing is written then.
    static func encode(_ property: Property) throws -> Value

    /// The property's value as it reads back after it was stored.
    static func asStored(_ property: Property) -> Property

    /// The class of the stored values, by which an automatic schema declares the column; `.any` when it is not said.
    static var columnStorage: ColumnStorage { get }
}

extension ColumnCoding {
    /// Encodes the value and decodes it again. One that cannot be encoded stays as it is.
    public static func asStored(_ property: Property) -> Property {
        // What cannot be encoded is refused with its reason when it is bound.
        (try? decode(encode(property))) ?? property
    }
}

/// Lets a coding stand for an optional property: nil is NULL.
public enum OptionalCoding<Wrapped: ColumnCoding>: ColumnCoding {
    /// nil for NULL; otherwise what `Wrapped` makes of it.
    ///
    /// - Throws: What `Wrapped` throws.
    public static func decode(_ value: Value) throws -> Wrapped.Property? {
        if case .null = value { return nil }
        return try Wrapped.decode(value)
    }

    /// NULL for nil; otherwise what `Wrapped` makes of it.
    ///
    /// - Throws: What `Wrapped` throws.
    public static func encode(_ property: Wrapped.Property?) throws -> Value {
        try property.map { try Wrapped.encode($0) } ?? .null
    }

    /// nil for nil; otherwise what `Wrapped` makes of it.
    public static func asStored(_ property: Wrapped.Property?) -> Wrapped.Property? {
        property.map { Wrapped.asStored($0) }
    }
}

/// A Codable value as JSON text with sorted keys, so that equal values are equal texts.
public enum JSONCoding<Property: Codable & Sendable>: ColumnCoding {
    /// Reads JSON text.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is no TEXT, or whose JSON does not decode as the property's type.
    public static func decode(_ value: Value) throws -> Property {
        guard case .text(let bytes) = value else { throw ColumnMismatch(value, needed: "JSON text") }
        do {
            return try JSONDecoder().decode(Property.self, from: Data(bytes))
        } catch {
            throw ColumnMismatch("the JSON does not decode as \(Property.self)")
        }
    }

    /// Writes JSON text.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that has no JSON, such as an infinite number.
    public static func encode(_ property: Property) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .text(Bytes(try encoder.encode(property)))
        } catch {
            throw ColumnMismatch("the value of type \(Property.self) has no JSON")
        }
    }

    /// The value itself: it is not read back, which would cost as much as storing it.
    public static func asStored(_ property: Property) -> Property { property }
}

/// A date as an INTEGER of milliseconds since 1970, rounded to the nearest.
public enum DateAsMilliseconds: ColumnCoding {
    /// Reads an INTEGER of milliseconds.
    ///
    /// - Throws: ``ColumnMismatch`` for what is no whole number.
    public static func decode(_ value: Value) throws -> Date {
        Date(timeIntervalSince1970: Double(try Int64(columnValue: value)) / 1_000)
    }

    /// Writes the nearest millisecond.
    ///
    /// - Throws: ``ColumnMismatch`` for a date whose milliseconds do not fit 64 bits, and for one that is not a number.
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
    /// Reads a REAL or INTEGER of seconds.
    ///
    /// - Throws: ``ColumnMismatch`` for what is no number.
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

/// A date as the TEXT that SQLite's own date functions write, `2026-01-31 12:00:00.123`, in UTC; milliseconds are left out
/// when they are 0. Reads also a date without a time, a `T` between the two, and a `Z` at the end.
public enum DateAsText: ColumnCoding {
    /// Reads a date text, with as many digits of a second as it has.
    ///
    /// - Throws: ``ColumnMismatch`` for what is no such text, or names a day or a time that does not exist.
    public static func decode(_ value: Value) throws -> Date {
        let text = try String(columnValue: value)
        guard let date = CivilTime.parse(text) else { throw ColumnMismatch("the text is not a date") }
        return date
    }

    /// Writes the nearest millisecond.
    ///
    /// - Throws: ``ColumnMismatch`` for a date outside of the years 0 to 9999, which SQLite's functions cannot read.
    public static func encode(_ property: Date) throws -> Value {
        guard let text = CivilTime.format(property) else {
            throw ColumnMismatch("the date lies outside of the years 0 to 9999")
        }
        return .text(text)
    }
}

/// A UUID as a BLOB of 16 bytes, half as long as its text.
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

/// A UUID as TEXT in upper case, as Foundation prints it. For files whose keys are written so.
public enum UUIDAsUppercaseText: ColumnCoding {
    /// Reads TEXT in upper case.
    ///
    /// - Throws: ``ColumnMismatch`` for any other value or spelling: a key would not find its row again.
    public static func decode(_ value: Value) throws -> UUID {
        let text = try String(columnValue: value)
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text else {
            throw ColumnMismatch("the text is not a UUID in upper case")
        }
        return uuid
    }

    /// Writes TEXT in upper case.
    ///
    /// - Throws: Nothing.
    public static func encode(_ property: UUID) throws -> Value { .text(property.uuidString) }
}
