import Foundation
import Journal

extension ModelFields {
    /// True when all columns hold the same values.
    public static func == (a: Self, b: Self) -> Bool { a._changes(from: b).positions.isEmpty }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(_key) }

    /// The model's name with the values by property, for people: `Person(id: 7, name: "Bob", age: nil)`.
    public var description: String {
        let columns = Self._columns
        let values = columns.enumerated().map { position, column in
            "\(column._property): \((try? column._describe(_value(position))) ?? "?")"
        }
        return "\(columns.first?._model ?? "Fields")(\(values.joined(separator: ", ")))"
    }

    /// Writes an object with the names of the properties. nil is `null`. Transient properties are left out.
    /// Integer keys and references are texts when the encoder's `userInfo` has `keysAsText`.
    ///
    /// - Throws: What the encoder and the properties' types throw.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PropertyKey.self)
        let keysAsText = encoder.userInfo[.keysAsText] as? Bool == true
        for (position, column) in Self._columns.enumerated() {
            let stored = try _value(position)
            if keysAsText, column._isReference || column._isKey, case .integer(let key) = stored {
                try container.encode(String(key), forKey: PropertyKey(column._property))
            } else {
                try column._encode(stored, to: &container)
            }
        }
    }

    /// Reads an object with the names of the properties. Integer keys and references may be texts, and dates may be
    /// texts in ISO 8601 where the decoder's own form is another one. A property
    /// without a name there keeps its default value. A key that is not there stays unset, and is generated
    /// when a row is created.
    ///
    /// - Throws: `DecodingError` for a value that a property's type cannot decode, and for a missing value of
    ///   a property that is not optional and has no default value.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: PropertyKey.self)
        for (position, column) in Self._columns.enumerated() {
            let key = PropertyKey(column._property)
            if container.contains(key) {
                let stored = try column._decode(from: container)
                do { try _set(position, to: stored) } catch {
                    throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "\(error)")
                }
            } else if _unset.contains(position), !column._isKey {
                throw DecodingError.keyNotFound(
                    key,
                    .init(codingPath: container.codingPath, debugDescription: "The property has no default value"))
            }
        }
    }
}

/// The name of a property as a coding key.
public struct PropertyKey: CodingKey {
    public let stringValue: String
    public var intValue: Int? { nil }

    public init(_ name: String) { stringValue = name }
    public init?(stringValue: String) { self.stringValue = stringValue }
    /// nil: properties have names.
    public init?(intValue: Int) { nil }
}

/// A column whose property may be of any type, for values that are encoded, decoded and printed. Only
/// ``Column`` conforms.
public protocol FieldColumn: Sendable {
    /// The name of the model.
    var _model: String { get }
    /// The name of the property.
    var _property: String { get }
    /// True for a part of the primary key.
    var _isKey: Bool { get }
    /// True for a property that holds the key of another model.
    var _isReference: Bool { get }
    /// The storage class of the stored values.
    var _storage: ColumnStorage { get }
    /// Describes the property's value for people.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that the property's type cannot decode.
    func _describe(_ stored: Value) throws -> String
    /// Encodes the property's value under its name.
    ///
    /// - Throws: ``ColumnMismatch``, and what the encoder throws.
    func _encode(_ stored: Value, to container: inout KeyedEncodingContainer<PropertyKey>) throws
    /// Decodes the property's value into its stored form.
    ///
    /// - Throws: `DecodingError`, and ``ColumnMismatch`` for a value that cannot be stored.
    func _decode(from container: KeyedDecodingContainer<PropertyKey>) throws -> Value
}

extension Column: FieldColumn {
    public var _model: String { "\(M.self)" }
    public var _property: String { M.schema.columns[position].property }
    public var _isKey: Bool { M.schema.key.contains(position) }

    public var _storage: ColumnStorage { storage }

    public var _isReference: Bool { Value.self is any Reference.Type }

    public func _describe(_ stored: Journal.Value) throws -> String {
        if stored == .null { return "nil" }
        return Column.text(try decode(stored))
    }

    /// Describes a value as it would be written in Swift, as far as its type does so, without `Optional(…)`.
    private static func text(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value is String ? String(reflecting: value) : "\(value)" }
        return mirror.children.first.map { text($0.value) } ?? "nil"
    }

    public func _encode(_ stored: Journal.Value, to container: inout KeyedEncodingContainer<PropertyKey>) throws {
        let key = PropertyKey(_property)
        if stored == .null { return try container.encodeNil(forKey: key) }
        if let value = try decode(stored) as? any Encodable { return try container.encode(value, forKey: key) }
        switch stored {
        case .null: try container.encodeNil(forKey: key)
        case .integer(let integer): try container.encode(integer, forKey: key)
        case .real(let real): try container.encode(real, forKey: key)
        case .text: try container.encode(String(columnValue: stored), forKey: key)
        case .blob: try container.encode(Data(columnValue: stored), forKey: key)
        }
    }

    public func _decode(from container: KeyedDecodingContainer<PropertyKey>) throws -> Journal.Value {
        let key = PropertyKey(_property)
        if _isKey || _isReference, let text = try? container.decode(String.self, forKey: key), let number = Int64(text),
            (try? decode(.integer(number))) != nil
        {
            return .integer(number)
        }
        if M.schema.columns[position].isOptional, try container.decodeNil(forKey: key) { return .null }
        if let type = Value.self as? any Decodable.Type {
            do {
                if let value = try container.decode(type, forKey: key) as? Value { return try encode(value) }
            } catch {
                guard let text = try? container.decode(String.self, forKey: key),
                    let date = BorderDate.parse(text), let value = date as? Value
                else { throw error }
                return try encode(value)
            }
        }
        // A type that is not Codable is given in its stored form, of which JSON has no more than these.
        if let integer = try? container.decode(Int64.self, forKey: key) { return .integer(integer) }
        if let real = try? container.decode(Double.self, forKey: key) { return .real(real) }
        let text = try container.decode(String.self, forKey: key)
        if (try? decode(.text(text))) == nil, let data = Data(base64Encoded: text) { return data.columnValue }
        return .text(text)
    }
}

/// The key of another model, or none.
private protocol Reference {}

extension Ref: Reference {}

extension Optional: Reference where Wrapped: Reference {}
