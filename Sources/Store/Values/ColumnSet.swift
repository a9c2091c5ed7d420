import Journal

/// A set of columns of one model, by their positions in its schema.
public struct ColumnSet: Hashable, Sendable {
    private var mask = ColumnMask()

    public init() {}

    public init(_ columns: [Int]) {
        for column in columns { mask.insert(column) }
    }

    public var isEmpty: Bool { mask.isEmpty }
    public func contains(_ column: Int) -> Bool { mask.contains(column) }
    public mutating func insert(_ column: Int) { mask.insert(column) }
    public mutating func remove(_ column: Int) { mask.remove(column) }

    public func intersection(_ other: ColumnSet) -> ColumnSet {
        var result = ColumnSet()
        result.mask = mask.intersection(other.mask)
        return result
    }

    public func subtracting(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.mask.subtract(other.mask)
        return result
    }

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

    public static func differ<C: ColumnCoding>(_ a: C.Property, _ b: C.Property, as coding: C.Type) -> Bool {
        guard let first = try? C.encode(a), let second = try? C.encode(b) else { return true }
        return first != second
    }

    @inlinable
    public static func stored<T: ColumnValue>(_ value: T) -> T { value.asStored }

    public static func stored<C: ColumnCoding>(_ value: C.Property, as coding: C.Type) -> C.Property {
        C.asStored(value)
    }

    public static func value<T: ColumnValue>(_ property: T) throws -> Value { try property.columnValue }

    public static func value<C: ColumnCoding>(_ property: C.Property, as coding: C.Type) throws -> Value {
        try C.encode(property)
    }

    public static func decode<T: ColumnValue>(_ value: Value) throws -> T { try T(columnValue: value) }

    public static func decode<C: ColumnCoding>(_ value: Value, as coding: C.Type) throws -> C.Property {
        try C.decode(value)
    }
}
