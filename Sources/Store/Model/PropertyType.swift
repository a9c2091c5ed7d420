/// Takes the type of a property from the class's own declaration of it. Only the macro's code uses this.
///
/// The code of a model needs the type in several places. A type that does not exist would be an error in each of them,
/// if its name were written there.
public enum PropertyType {
    /// Returns a value with the type of a property.
    @inlinable
    public static func value<M, Property>(_ value: Property, of property: KeyPath<M, Property>) -> Property { value }
    /// Makes a value with the type of a property.
    @inlinable
    public static func made<M, Property>(
        _ make: (Property.Type) -> Property, of property: KeyPath<M, Property>
    ) -> Property { make(Property.self) }
    /// Returns nil, with the type of a property.
    @inlinable
    public static func none<M, Property>(_ property: KeyPath<M, Property>) -> Property? { nil }
    /// The type of a property's column.
    @inlinable
    public static func column<M, Property>(_ property: KeyPath<M, Property>) -> Column<M, Property>.Type {
        Column<M, Property>.self
    }
    /// Accepts a property that threads may share.
    public static func check<M, Property: Sendable>(_ property: KeyPath<M, Property>) {}
}
