// What a property with a coding is told that the coding cannot store. See `Column+Misuse.swift`.

extension Column {
    /// Refuses JSON of a type that is not Codable.
    @_disfavoredOverload
    @available(*, unavailable, message: "'@JSON' needs a Codable type: add 'Codable' to its declaration")
    public init(_ position: Int, as coding: StoredAsJSON.Type) { self.init(unavailable: position) }
    /// Refuses JSON of an optional type that is not Codable.
    @_disfavoredOverload
    @available(*, unavailable, message: "'@JSON' needs a Codable type: add 'Codable' to its declaration")
    public init(_ position: Int, as coding: StoredAsOptionalJSON.Type) { self.init(unavailable: position) }
    /// Refuses a coding whose property has another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the coding in '@Column(as:)' is for properties of another type")
    public init<Coding: ColumnCoding>(_ position: Int, as coding: Coding.Type) { self.init(unavailable: position) }
    /// Refuses a type that is no coding.
    @_disfavoredOverload
    @available(*, unavailable, message: "'@Column(as:)' names a coding: a type that conforms to 'ColumnCoding'")
    public init<Coding>(_ position: Int, as coding: Coding.Type) { self.init(unavailable: position) }
}

// The same for a property with a coding that a new row must set.

extension Column {
    /// Creates the column at `position` of the schema, of a property that `coding` stores and a new row must set.
    public init<Coding: ColumnCoding>(required position: Int, as coding: Coding.Type)
    where Coding.Property == Value, Value: ColumnPlaceholder & Sendable { self.init(position, as: coding) }

    /// Refuses a required property without a placeholder. The coding is right.
    @available(
        *, unavailable,
        message: "a required property of this type needs a default value, or its type conforms to 'ColumnPlaceholder'"
    )
    public init<Coding: ColumnCoding>(required position: Int, as coding: Coding.Type) where Coding.Property == Value {
        self.init(unavailable: position)
    }
    /// Refuses required JSON without a placeholder. The type is Codable.
    @available(
        *, unavailable,
        message: "a required property of this type needs a default value, or its type conforms to 'ColumnPlaceholder'"
    )
    public init(required position: Int, as coding: StoredAsJSON.Type) where Value: Codable & Sendable {
        self.init(unavailable: position)
    }
    /// Refuses JSON of a type that is not Codable.
    @_disfavoredOverload
    @available(*, unavailable, message: "'@JSON' needs a Codable type: add 'Codable' to its declaration")
    public init(required position: Int, as coding: StoredAsJSON.Type) { self.init(unavailable: position) }
    /// Refuses a coding whose property has another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the coding in '@Column(as:)' is for properties of another type")
    public init<Coding: ColumnCoding>(required position: Int, as coding: Coding.Type) {
        self.init(unavailable: position)
    }
    /// Refuses a type that is no coding.
    @_disfavoredOverload
    @available(*, unavailable, message: "'@Column(as:)' names a coding: a type that conforms to 'ColumnCoding'")
    public init<Coding>(required position: Int, as coding: Coding.Type) { self.init(unavailable: position) }
}
