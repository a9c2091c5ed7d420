import Journal

/// A value that can stand in a column.
///
/// To store a type of your own, give it ``init(columnValue:)`` and ``columnValue``; an enum with a raw value that is a
/// `ColumnValue` needs nothing but the conformance:
///
/// ```swift
/// enum Status: String, ColumnValue { case open, closed }
/// ```
public protocol ColumnValue: Sendable {
    /// The value that a stored one stands for.
    ///
    /// - Throws: ``ColumnMismatch`` when `columnValue` does not stand for a value of this type. The caller throws it on as
    ///   ``StoreError/Code/undecodable``, with the column.
    init(columnValue: Value) throws

    /// What SQLite stores.
    ///
    /// - Throws: ``ColumnMismatch`` when the value cannot be stored. The caller throws it on as ``StoreError/Code/unstorable``,
    ///   with the column where it is known; nothing is written then.
    var columnValue: Value { get throws }

    /// Reads a column of the current row. The standard types read straight from SQLite; the default goes through `Value`.
    ///
    /// - Throws: ``ColumnMismatch``, like ``init(columnValue:)``.
    init(column: ColumnCursor) throws

    /// Binds to a parameter of a statement. The standard types bind straight; the default goes through `Value`.
    ///
    /// - Parameters:
    ///   - statement: Its parameters.
    ///   - position: Counted from 0.
    /// - Throws: ``ColumnMismatch``, like ``columnValue``; ``StoreError/Code/sql`` when there is no such parameter.
    func bind(to statement: ParameterCursor, at position: Int) throws

    /// True when the two are stored as different values, so that one replacing the other has to be written.
    static func differ(_ a: Self, _ b: Self) -> Bool

    /// This value as it reads back after it was stored. Differs from `self` only where storing rounds.
    var asStored: Self { get }

    /// The class of the stored values, by which an automatic schema declares the column; `.any` when it is not said.
    static var columnStorage: ColumnStorage { get }
}

extension ColumnValue {
    /// Reads the column through ``init(columnValue:)``.
    ///
    /// - Throws: What that throws.
    public init(column: ColumnCursor) throws { try self.init(columnValue: column.value) }

    /// Binds ``columnValue``.
    ///
    /// - Throws: What that throws; ``StoreError/Code/sql`` when there is no such parameter.
    public func bind(to statement: ParameterCursor, at position: Int) throws {
        try statement.bind(value: columnValue, at: position)
    }

    /// Compares what is stored; a value that cannot be stored differs from every other.
    public static func differ(_ a: Self, _ b: Self) -> Bool {
        guard let first = try? a.columnValue, let second = try? b.columnValue else { return true }
        return first != second
    }

    /// The value itself: storing it rounds nothing.
    public var asStored: Self { self }
}

/// A type with a value that a required property holds before it is set. ``Model`` classes use it inside `create` only.
public protocol ColumnPlaceholder {
    /// The value before the property is set. It is never stored: a row whose required property was not set is refused
    /// with ``StoreError/Code/missingValue``.
    static var columnPlaceholder: Self { get }
}

extension ColumnPlaceholder where Self: CaseIterable {
    /// The first case. An enum without a case has no value to be stored, so nothing ever asks it for one.
    public static var columnPlaceholder: Self {
        guard let first = allCases.first else { preconditionFailure("\(Self.self) has no case") }
        return first
    }
}

/// Why a stored value does not stand for a value of the wanted type. Holds no row value.
public struct ColumnMismatch: Error, Hashable, CustomStringConvertible {
    /// "TEXT where an integer is needed".
    public let description: String

    /// A mismatch described by a sentence, which must not hold a row's value: descriptions reach logs.
    public init(_ description: String) { self.description = description }

    /// The mismatch of a stored value's class with what is needed.
    public init(_ found: Value, needed: String) {
        let name =
            switch found {
            case .null: "NULL"
            case .integer: "an INTEGER"
            case .real: "a REAL"
            case .text: "a TEXT"
            case .blob: "a BLOB"
            }
        self.init("\(name) stands where \(needed) is needed")
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// nil for NULL; otherwise what the wrapped type makes of it.
    ///
    /// - Throws: What the wrapped type throws.
    public init(columnValue: Value) throws {
        if case .null = columnValue { self = nil } else { self = try Wrapped(columnValue: columnValue) }
    }

    /// NULL for nil; otherwise what the wrapped value stores.
    ///
    /// - Throws: What the wrapped value throws.
    public var columnValue: Value { get throws { try self?.columnValue ?? .null } }

    /// nil for NULL; otherwise what the wrapped type reads.
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

    /// nil differs from everything but nil.
    @inlinable
    public static func differ(_ a: Self, _ b: Self) -> Bool {
        switch (a, b) {
        case (nil, nil): false
        case (let a?, let b?): Wrapped.differ(a, b)
        default: true
        }
    }

    /// nil for nil; otherwise the wrapped value as it reads back.
    @inlinable
    public var asStored: Self { self?.asStored }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// The case of the stored raw value.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is no raw value of any case.
    public init(columnValue: Value) throws {
        try self.init(raw: RawValue(columnValue: columnValue))
    }

    /// What the raw value stores.
    ///
    /// - Throws: What the raw value throws.
    public var columnValue: Value { get throws { try rawValue.columnValue } }

    /// The case of the stored raw value.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that is no raw value of any case.
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
            throw ColumnMismatch("the stored value is no case of \(Self.self)")
        }
        self = value
    }
}
