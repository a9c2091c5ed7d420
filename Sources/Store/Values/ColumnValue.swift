import Journal

/// A value that can be stored in a column.
///
/// To store a type of your own, implement ``init(columnValue:)`` and ``columnValue``. An enum whose raw value
/// is a `ColumnValue` needs only the conformance:
///
/// ```swift
/// enum Status: String, ColumnValue { case open, closed }
/// ```
public protocol ColumnValue: Sendable {
    /// The type without NULL: `Wrapped` for an optional, otherwise the type itself. Two columns can be compared
    /// when they have the same one.
    associatedtype Unwrapped = Self

    /// Decodes the value from the stored value.
    ///
    /// - Throws: ``ColumnMismatch`` when this type cannot decode `columnValue`. The caller rethrows it as
    ///   ``StoreError/Code/undecodable``, with the column.
    init(columnValue: Value) throws

    /// The value that SQLite stores.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored. The caller rethrows it as
    ///   ``StoreError/Code/unstorable``, with the column where it is known; nothing is written then.
    var columnValue: Value { get throws }

    /// Reads a column of the current row. The standard types read directly from SQLite; the default
    /// implementation reads a `Value`.
    ///
    /// - Throws: ``ColumnMismatch``, like ``init(columnValue:)``.
    init(column: ColumnCursor) throws

    /// Binds the value to a parameter of a statement. The standard types bind directly; the default
    /// implementation binds a `Value`.
    ///
    /// - Parameters:
    ///   - statement: The parameters of the statement.
    ///   - position: The position of the parameter, counted from 0.
    /// - Throws: ``ColumnMismatch``, like ``columnValue``; ``StoreError/Code/sql`` when there is no such
    ///   parameter.
    func bind(to statement: ParameterCursor, at position: Int) throws

    /// True when the two are stored as different values, so that replacing one by the other must be written.
    static func differ(_ a: Self, _ b: Self) -> Bool

    /// This value as it reads back after it was stored. It differs from `self` only where storing rounds.
    var asStored: Self { get }

    /// The storage class of the stored values, which is the column's type in an automatic schema; `.any` by
    /// default.
    static var columnStorage: ColumnStorage { get }
}

extension ColumnValue {
    /// Reads the column through ``init(columnValue:)``.
    ///
    /// - Throws: What ``init(columnValue:)`` throws.
    public init(column: ColumnCursor) throws { try self.init(columnValue: column.value) }

    /// Binds ``columnValue``.
    ///
    /// - Throws: What ``columnValue`` throws; ``StoreError/Code/sql`` when there is no such parameter.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(value: columnValue, at: position)
    }

    /// Compares the stored values; a value that cannot be stored differs from every other.
    public static func differ(_ a: Self, _ b: Self) -> Bool {
        guard let first = try? a.columnValue, let second = try? b.columnValue else { return true }
        return first != second
    }

    /// The value itself, for types that are stored without rounding.
    public var asStored: Self { self }
}

/// A type with a value that a required property holds before it is set. ``Model`` classes use the value only
/// inside `create`.
public protocol ColumnPlaceholder {
    /// The value before the property is set. It is never stored: a row whose required property was not set is
    /// refused with ``StoreError/Code/missingValue``.
    static var columnPlaceholder: Self { get }
}

extension ColumnPlaceholder where Self: CaseIterable {
    /// The first case. An enum without cases has no value to store, so this is never called for it.
    public static var columnPlaceholder: Self {
        guard let first = allCases.first else { preconditionFailure("\(Self.self) has no case") }
        return first
    }
}

/// The reason why a value cannot be decoded or stored. It contains no row value.
public struct ColumnMismatch: Error, Hashable, CustomStringConvertible {
    /// The reason, such as "The value is a TEXT, but an integer is needed".
    public let description: String

    /// Creates a mismatch with a description, which must not contain a row's value, because descriptions are
    /// logged.
    public init(_ description: String) { self.description = description }

    /// Creates a mismatch between a stored value's class and the class that is needed.
    public init(_ found: Value, needed: String) {
        let name =
            switch found {
            case .null: "NULL"
            case .integer: "An INTEGER"
            case .real: "A REAL"
            case .text: "a TEXT"
            case .blob: "A BLOB"
            }
        self.init("The value is \(name), but \(needed) is needed")
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    public typealias Unwrapped = Wrapped

    /// Decodes NULL as nil, and other values by the wrapped type.
    ///
    /// - Throws: What the wrapped type throws.
    public init(columnValue: Value) throws {
        if case .null = columnValue { self = nil } else { self = try Wrapped(columnValue: columnValue) }
    }

    /// NULL for nil; otherwise the stored form of the wrapped value.
    ///
    /// - Throws: What the wrapped value throws.
    public var columnValue: Value { get throws { try self?.columnValue ?? .null } }

    /// Reads NULL as nil, and other values by the wrapped type.
    ///
    /// - Throws: What the wrapped type throws.
    @inlinable
    public init(column: ColumnCursor) throws {
        self = column.isNull ? nil : try Wrapped(column: column)
    }

    /// Binds NULL for nil; otherwise the wrapped value.
    ///
    /// - Throws: What the wrapped value throws; ``StoreError/Code/sql`` when there is no such parameter.
    @inlinable
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        if let self { try self.bind(to: statement, at: position) } else { try statement.bindNull(at: position) }
    }

    /// nil differs from every value except nil.
    @inlinable
    public static func differ(_ a: Self, _ b: Self) -> Bool {
        switch (a, b) {
        case (nil, nil): false
        case (let a?, let b?): Wrapped.differ(a, b)
        default: true
        }
    }

    /// nil for nil; otherwise the wrapped value as it reads back after it was stored.
    @inlinable
    public var asStored: Self { self?.asStored }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// Reads the case of the stored raw value.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not the raw value of a case.
    public init(columnValue: Value) throws {
        try self.init(raw: RawValue(columnValue: columnValue))
    }

    /// The stored form of the raw value.
    ///
    /// - Throws: What the raw value throws.
    public var columnValue: Value { get throws { try rawValue.columnValue } }

    /// Reads the case of the stored raw value.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is not the raw value of a case.
    public init(column: ColumnCursor) throws { try self.init(raw: RawValue(column: column)) }

    /// Binds the raw value.
    ///
    /// - Throws: What the raw value throws; ``StoreError/Code/sql`` when there is no such parameter.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try rawValue.bind(to: statement, at: position)
    }

    /// Compares the raw values.
    public static func differ(_ a: Self, _ b: Self) -> Bool { RawValue.differ(a.rawValue, b.rawValue) }

    private init(raw: RawValue) throws {
        guard let value = Self(rawValue: raw) else {
            throw ColumnMismatch("The stored value is not a case of \(Self.self)")
        }
        self = value
    }
}
