// What a key of a type that is none is told. See `Column+Misuse.swift`.

extension Column {
    /// Creates the column at `position` of the schema, of a key with a default value.
    public init(key position: Int) where Value: ColumnValue & ModelKey { self.init(position) }

    /// Refuses an enum that is no key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "add 'ColumnValue' and 'ModelKey' to the declaration of the enum: a key then is its raw value"
    )
    public init(key position: Int) where Value: RawRepresentable { self.init(unavailable: position) }
    /// Refuses any other type that is no key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "no key has this type: use an integer, a String, a UUID, Data or a 'Ref', or conform the type to 'ColumnValue' and 'ModelKey'"
    )
    public init(key position: Int) { self.init(unavailable: position) }
}

// The same for a key that a new row must set.

extension Column {
    /// Creates the column at `position` of the schema, of a key that a new row must set.
    public init(requiredKey position: Int) where Value: ColumnValue & ModelKey & ColumnPlaceholder {
        self.init(position)
    }

    /// Refuses a key without a placeholder.
    @available(*, unavailable, message: "give the key a default value, or conform its type to 'ColumnPlaceholder'")
    public init(requiredKey position: Int) where Value: ColumnValue & ModelKey { self.init(unavailable: position) }
    /// Refuses an enum that is no key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "add 'ColumnValue', 'ModelKey', 'CaseIterable' and 'ColumnPlaceholder' to the declaration of the enum: a key then is its raw value"
    )
    public init(requiredKey position: Int) where Value: RawRepresentable { self.init(unavailable: position) }
    /// Refuses any other type that is no key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "no key has this type: use an integer, a String, a UUID, Data or a 'Ref', or conform the type to 'ColumnValue', 'ModelKey' and 'ColumnPlaceholder'"
    )
    public init(requiredKey position: Int) { self.init(unavailable: position) }
}

// The same for a key with a coding.

extension Column {
    /// Creates the column at `position` of the schema, of a key with a default value that `coding` stores.
    public init<Coding: ColumnCoding>(key position: Int, as coding: Coding.Type)
    where Coding.Property == Value, Value: ModelKey { self.init(position, as: coding) }
    /// Creates the column at `position` of the schema, of a key that `coding` stores and a new row must set.
    public init<Coding: ColumnCoding>(requiredKey position: Int, as coding: Coding.Type)
    where Coding.Property == Value, Value: ModelKey & ColumnPlaceholder { self.init(position, as: coding) }

    /// Refuses a key of a type that is none. The coding is right.
    @available(*, unavailable, message: "a key's type conforms to 'ModelKey': its coding is not enough")
    public init<Coding: ColumnCoding>(key position: Int, as coding: Coding.Type) where Coding.Property == Value {
        self.init(unavailable: position)
    }
    /// Refuses a key of a type that is none, or has no placeholder. The coding is right.
    @available(
        *, unavailable,
        message: "a key's type conforms to 'ModelKey' and 'ColumnPlaceholder': its coding is not enough"
    )
    public init<Coding: ColumnCoding>(requiredKey position: Int, as coding: Coding.Type)
    where Coding.Property == Value { self.init(unavailable: position) }
    /// Refuses a type that is no coding of the key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "'@Column(as:)' names a coding of the property's type: one that conforms to 'ColumnCoding'"
    )
    public init<Coding>(key position: Int, as coding: Coding.Type) { self.init(unavailable: position) }
    /// Refuses a type that is no coding of the key.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "'@Column(as:)' names a coding of the property's type: one that conforms to 'ColumnCoding'"
    )
    public init<Coding>(requiredKey position: Int, as coding: Coding.Type) { self.init(unavailable: position) }
}
