// What a property of a type that is no column is told. These initializers exist for their messages: the compiler
// chooses one of them when none of the others fits. See `UncheckedProperty.swift`.

/// An optional of a type with a raw value.
public protocol OptionalRawValue {}
extension Optional: OptionalRawValue where Wrapped: RawRepresentable {}

/// An optional of a model.
public protocol OptionalModel {}
extension Optional: OptionalModel where Wrapped: Model {}

extension Column {
    init(unavailable position: Int) { preconditionFailure("unavailable") }

    /// Refuses an enum that does not conform to ``ColumnValue``.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "add 'ColumnValue' to the declaration of the enum: a column then stores its raw value"
    )
    public init(_ position: Int) where Value: RawRepresentable { self.init(unavailable: position) }
    /// Refuses an optional enum that does not conform to ``ColumnValue``.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "add 'ColumnValue' to the declaration of the enum: a column then stores its raw value"
    )
    public init(_ position: Int) where Value: OptionalRawValue { self.init(unavailable: position) }
    /// Refuses an object.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "a row holds no object: refer to it by its key, with a 'Ref' of its model"
    )
    public init(_ position: Int) where Value: Model { self.init(unavailable: position) }
    /// Refuses an optional object.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "a row holds no object: refer to it by its key, with a 'Ref' of its model"
    )
    public init(_ position: Int) where Value: OptionalModel { self.init(unavailable: position) }
    /// Refuses any other type that does not conform to ``ColumnValue``.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to 'ColumnValue'"
    )
    public init(_ position: Int) { self.init(unavailable: position) }
}

// The same for a property that a new row must set.

extension Column {
    /// Creates the column at `position` of the schema, of a property that a new row must set.
    public init(required position: Int) where Value: ColumnValue & ColumnPlaceholder { self.init(position) }

    /// Refuses a required enum without a placeholder.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "give the property a default value, or add 'CaseIterable' and 'ColumnPlaceholder' to the declaration of the enum"
    )
    public init(required position: Int) where Value: ColumnValue & RawRepresentable { self.init(unavailable: position) }
    /// Refuses a required property without a placeholder.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "give the property a default value, or conform its type to 'ColumnPlaceholder'"
    )
    public init(required position: Int) where Value: ColumnValue { self.init(unavailable: position) }
    /// Refuses an enum that does not conform to ``ColumnValue``.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "add 'ColumnValue' to the declaration of the enum: a column then stores its raw value"
    )
    public init(required position: Int) where Value: RawRepresentable { self.init(unavailable: position) }
    /// Refuses an object.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "a row holds no object: refer to it by its key, with a 'Ref' of its model"
    )
    public init(required position: Int) where Value: Model { self.init(unavailable: position) }
    /// Refuses any other type that does not conform to ``ColumnValue``.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to 'ColumnValue'"
    )
    public init(required position: Int) { self.init(unavailable: position) }
}
