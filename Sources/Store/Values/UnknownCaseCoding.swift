import Journal

/// A coding that shows a raw value which no case of an enum has as one chosen case. `@Column(unknown:)`
/// generates the coding of its property; the column holds the same raw values as without it.
public protocol UnknownCaseCoding: ColumnCoding
where Property: RawRepresentable & ColumnValue, Property.RawValue: ColumnValue {
    /// The case that stands for raw values of no case.
    static var unknown: Property { get }
}

extension UnknownCaseCoding {
    /// Reads the case of the stored raw value, or ``unknown``.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is no raw value at all, such as NULL.
    public static func decode(_ value: Value) throws -> Property {
        Property(rawValue: try Property.RawValue(columnValue: value)) ?? unknown
    }

    /// Writes the raw value.
    ///
    /// - Throws: What the raw value throws.
    public static func encode(_ property: Property) throws -> Value { try property.columnValue }

    /// The case itself.
    public static func asStored(_ property: Property) -> Property { property }

    /// The storage class of the raw value.
    public static var columnStorage: ColumnStorage { Property.columnStorage }
}
