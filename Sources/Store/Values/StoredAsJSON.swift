// `@JSON` in the code of the macro. A property's type is not written there (see `PropertyType.swift`), so that the calls
// below have it from their arguments.

/// The property is stored by its ``JSONCoding``.
public enum StoredAsJSON {}
/// The property is optional, and stored by the ``JSONCoding`` of what it wraps.
public enum StoredAsOptionalJSON {}

/// The coding of an optional.
@usableFromInline
typealias OptionalJSON<T> = OptionalCoding<JSONCoding<T>>

extension RowCursor {
    /// Reads a property from JSON text.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public func read<T: Codable>(_ position: Int, as coding: StoredAsJSON.Type) throws -> T {
        try read(position, as: JSONCoding<T>.self)
    }
    /// Reads a property from JSON text or NULL.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public func read<T: Codable>(_ position: Int, as coding: StoredAsOptionalJSON.Type) throws -> T? {
        try read(position, as: OptionalJSON<T>.self)
    }
}

extension NamedRow {
    /// Reads a property from JSON text.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    public func read<T: Codable>(_ column: Int, as coding: StoredAsJSON.Type) throws -> T {
        try read(column, as: JSONCoding<T>.self)
    }
    /// Reads a property from JSON text or NULL.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    public func read<T: Codable>(_ column: Int, as coding: StoredAsOptionalJSON.Type) throws -> T? {
        try read(column, as: OptionalJSON<T>.self)
    }
}

extension ColumnSet {
    /// Binds a property to a parameter, counted from 0.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func bind<T: Codable>(
        _ property: T, to statement: ParameterCursor, at parameter: Int, as coding: StoredAsJSON.Type
    ) throws { try statement.bind(property, at: parameter, as: JSONCoding<T>.self) }
    /// Binds an optional property to a parameter, counted from 0.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func bind<T: Codable>(
        _ property: T?, to statement: ParameterCursor, at parameter: Int, as coding: StoredAsOptionalJSON.Type
    ) throws { try statement.bind(property, at: parameter, as: OptionalJSON<T>.self) }

    /// True when two properties are stored differently.
    @inlinable
    public static func differ<T: Codable>(_ a: T, _ b: T, as coding: StoredAsJSON.Type) -> Bool {
        differ(a, b, as: JSONCoding<T>.self)
    }
    /// True when two optional properties are stored differently.
    @inlinable
    public static func differ<T: Codable>(_ a: T?, _ b: T?, as coding: StoredAsOptionalJSON.Type) -> Bool {
        differ(a, b, as: OptionalJSON<T>.self)
    }

    /// A property as it reads back.
    @inlinable
    public static func stored<T: Codable>(_ property: T, as coding: StoredAsJSON.Type) -> T {
        stored(property, as: JSONCoding<T>.self)
    }
    /// An optional property as it reads back.
    @inlinable
    public static func stored<T: Codable>(_ property: T?, as coding: StoredAsOptionalJSON.Type) -> T? {
        stored(property, as: OptionalJSON<T>.self)
    }

    /// The stored value of a property.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func value<T: Codable>(_ property: T, as coding: StoredAsJSON.Type) throws -> Value {
        try value(property, as: JSONCoding<T>.self)
    }
    /// The stored value of an optional property.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func value<T: Codable>(
        _ property: T?, as coding: StoredAsOptionalJSON.Type
    ) throws -> Value { try value(property, as: OptionalJSON<T>.self) }

    /// A property from its stored value.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func decode<T: Codable>(_ value: Value, as coding: StoredAsJSON.Type) throws -> T {
        try decode(value, as: JSONCoding<T>.self)
    }
    /// An optional property from its stored value.
    ///
    /// - Throws: What ``JSONCoding`` throws.
    @inlinable
    public static func decode<T: Codable>(
        _ value: Value, as coding: StoredAsOptionalJSON.Type
    ) throws -> T? { try decode(value, as: OptionalJSON<T>.self) }
}

extension Column {
    /// Creates the column at `position` of the schema, of a property that is stored as JSON.
    public init(_ position: Int, as coding: StoredAsJSON.Type) where Value: Codable & Sendable {
        self.init(position, as: JSONCoding<Value>.self)
    }
    /// Creates the column at `position` of the schema, of an optional property that is stored as JSON.
    public init<T: Codable & Sendable>(_ position: Int, as coding: StoredAsOptionalJSON.Type) where Value == T? {
        self.init(position, as: OptionalJSON<T>.self)
    }
    /// Creates the column at `position` of the schema, of a property that is stored as JSON and a new row must set.
    public init(required position: Int, as coding: StoredAsJSON.Type)
    where Value: Codable & Sendable & ColumnPlaceholder { self.init(position, as: JSONCoding<Value>.self) }
}
