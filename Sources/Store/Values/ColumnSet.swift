import Journal

/// A set of columns of one model, given by their positions in its schema, 0 or more.
///
/// The static members compare, store and read the values of properties. The code that ``Model(table:)``
/// writes calls them.
public struct ColumnSet: Hashable, Sendable {
    private var mask = ColumnMask()

    /// Creates an empty set.
    public init() {}

    /// Creates a set of these positions, in any order; a repeated position counts once.
    public init(_ columns: [Int]) {
        for column in columns { mask.insert(column) }
    }

    /// True when no column is in the set.
    public var isEmpty: Bool { mask.isEmpty }
    /// True when the column at this position is in the set.
    public func contains(_ column: Int) -> Bool { mask.contains(column) }
    /// Adds the column at this position.
    public mutating func insert(_ column: Int) { mask.insert(column) }
    /// Removes the column at this position.
    public mutating func remove(_ column: Int) { mask.remove(column) }

    /// The columns that are in both sets.
    public func intersection(_ other: ColumnSet) -> ColumnSet {
        var result = ColumnSet()
        result.mask = mask.intersection(other.mask)
        return result
    }

    /// The columns that are not in `other`.
    public func subtracting(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.mask.subtract(other.mask)
        return result
    }

    /// Adds the columns of `other`.
    public mutating func formUnion(_ other: ColumnSet) { mask.formUnion(other.mask) }

    /// The positions, ascending.
    public var positions: [Int] {
        var positions: [Int] = []
        mask.forEach { positions.append($0) }
        return positions
    }

    /// True when the two are stored as different values.
    @inlinable
    public static func differ<T: ColumnValue>(_ a: T, _ b: T) -> Bool { T.differ(a, b) }

    /// True when `coding` stores the two as different values, and when it cannot store one of them.
    public static func differ<C: ColumnCoding>(_ a: C.Property, _ b: C.Property, as coding: C.Type) -> Bool {
        guard let first = try? C.encode(a), let second = try? C.encode(b) else { return true }
        return first != second
    }

    /// The value as it reads back after it was stored.
    @inlinable
    public static func stored<T: ColumnValue>(_ value: T) -> T { value.asStored }

    /// The value as it reads back after `coding` stored it.
    public static func stored<C: ColumnCoding>(_ value: C.Property, as coding: C.Type) -> C.Property {
        C.asStored(value)
    }

    /// The value that SQLite stores for a property.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored.
    public static func value<T: ColumnValue>(_ property: T) throws -> Value { try property.columnValue }

    /// The value that SQLite stores for a property with `coding`.
    ///
    /// - Throws: What `coding` throws, usually ``ColumnMismatch``.
    public static func value<C: ColumnCoding>(_ property: C.Property, as coding: C.Type) throws -> Value {
        try C.encode(property)
    }

    /// Decodes the property's value from the stored value.
    ///
    /// - Throws: ``ColumnMismatch`` when `T` cannot decode `value`.
    public static func decode<T: ColumnValue>(_ value: Value) throws -> T { try T(columnValue: value) }

    /// Decodes the property's value from a value that `coding` stored.
    ///
    /// - Throws: What `coding` throws, usually ``ColumnMismatch``.
    public static func decode<C: ColumnCoding>(_ value: Value, as coding: C.Type) throws -> C.Property {
        try C.decode(value)
    }
}
