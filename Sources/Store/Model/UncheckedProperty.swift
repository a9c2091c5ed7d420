import Journal

// What the expansion of `@Model` calls for a property of a type that a macro cannot judge: an enum, a struct, a class.
//
// The declaration of the property's ``Column`` is the only place that refuses a type, with a remedy and at the
// property (see `Column+Misuse.swift`). All other calls of the expansion accept every type here, so that they add
// no errors to it. The overloads without constraints never run, because a program with such a property does not
// compile.

/// The error of a call that never runs.
private let noColumn = ColumnMismatch("The property has no column")

extension RowCursor {
    /// Never runs.
    @_disfavoredOverload
    public func read<T>(_ position: Int) throws -> T { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public func read<T, Coding>(_ position: Int, as coding: Coding.Type) throws -> T { throw noColumn }
}

extension NamedRow {
    /// Never runs.
    @_disfavoredOverload
    public func read<T>(_ column: Int) throws -> T { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public func read<T, Coding>(_ column: Int, as coding: Coding.Type) throws -> T { throw noColumn }
}

extension KeyValues {
    /// Never runs.
    @_disfavoredOverload
    public func read<T>(_ position: Int) throws -> T { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public func read<T, Coding>(_ position: Int, as coding: Coding.Type) throws -> T { throw noColumn }
}

extension ColumnSet {
    /// Binds a property to a parameter, counted from 0.
    ///
    /// - Throws: What ``ParameterCursor/bind(_:at:)`` throws.
    @inlinable
    public static func bind<T: ColumnValue>(
        _ property: T, to statement: ParameterCursor, at parameter: Int
    ) throws { try statement.bind(property, at: parameter) }
    /// Binds a property with `coding` to a parameter, counted from 0.
    ///
    /// - Throws: What ``ParameterCursor/bind(_:at:as:)`` throws.
    @inlinable
    public static func bind<C: ColumnCoding>(
        _ property: C.Property, to statement: ParameterCursor, at parameter: Int, as coding: C.Type
    ) throws { try statement.bind(property, at: parameter, as: coding) }
    /// Never runs.
    @_disfavoredOverload
    public static func bind<T>(_ property: T, to statement: ParameterCursor, at parameter: Int) throws {
        throw noColumn
    }
    /// Never runs.
    @_disfavoredOverload
    public static func bind<T, Coding>(
        _ property: T, to statement: ParameterCursor, at parameter: Int, as coding: Coding.Type
    ) throws { throw noColumn }

    /// Never runs.
    @_disfavoredOverload
    public static func differ<T>(_ a: T, _ b: T) -> Bool { false }
    /// Never runs.
    @_disfavoredOverload
    public static func differ<T, Coding>(_ a: T, _ b: T, as coding: Coding.Type) -> Bool { false }
    /// Never runs.
    @_disfavoredOverload
    public static func stored<T>(_ value: T) -> T { value }
    /// Never runs.
    @_disfavoredOverload
    public static func stored<T, Coding>(_ value: T, as coding: Coding.Type) -> T { value }
    /// Never runs.
    @_disfavoredOverload
    public static func value<T>(_ property: T) throws -> Value { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public static func value<T, Coding>(_ property: T, as coding: Coding.Type) throws -> Value { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public static func decode<T>(_ value: Value) throws -> T { throw noColumn }
    /// Never runs.
    @_disfavoredOverload
    public static func decode<T, Coding>(_ value: Value, as coding: Coding.Type) throws -> T { throw noColumn }
}

extension ColumnSet {
    /// The value that a required property holds before it is set.
    @inlinable
    public static func placeholder<T: ColumnPlaceholder>() -> T { T.columnPlaceholder }
    /// Never runs: the property's column is refused.
    @_disfavoredOverload
    public static func placeholder<T>() -> T { preconditionFailure("The property has no column") }
}

extension ExactKey {
    /// The exact content of a key.
    @inlinable
    public static func of<Key: ModelKey>(_ key: Key) -> ExactKey { key.exact }
    /// Returns a new random key; nil for a type that cannot be generated.
    public static func generated<Key: ModelKey>() -> Key? { Key.generated() }
    /// Appends bytes that are unique to this part of a key.
    @inlinable
    public static func append<Key: ModelKey>(_ part: Key, to bytes: inout [UInt8]) { part.appendExact(to: &bytes) }

    /// Never runs: the key's column is refused.
    @_disfavoredOverload
    public static func of<Key>(_ key: Key) -> ExactKey { preconditionFailure("The property is no key") }
    /// Never runs.
    @_disfavoredOverload
    public static func generated<Key>() -> Key? { nil }
    /// Never runs.
    @_disfavoredOverload
    public static func append<Key>(_ part: Key, to bytes: inout [UInt8]) {}
}
