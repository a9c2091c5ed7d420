import Foundation
import Journal

/// One column of a model, with the type of its property and its storage. Queries name it by a key path of the
/// model's `Columns`.
///
/// ```swift
/// let adults = Person.where(\.age >= 18).order(by: \.name)
/// let named = try Person.where("\(Person.columns.name) LIKE 'A%'").all(in: db)
/// ```
public struct Column<M: TableModel, Value>: Sendable {
    /// The position in the model's schema.
    public let position: Int
    // A type and not closures: each model holds the code that makes and copies a column for each of its properties.
    private let access: any ColumnAccess<Value>.Type

    /// Creates the column at `position` of the schema, stored as its type stores itself. Only the macro's
    /// code calls this.
    public init(_ position: Int) where Value: ColumnValue {
        self.position = position
        access = AccessOfType<Value>.self
    }

    /// Creates the column at `position` of the schema, stored by `coding`. Only the macro's code calls this.
    public init<Coding: ColumnCoding>(_ position: Int, as coding: Coding.Type)
    where Coding.Property == Value, Value: Sendable {
        self.position = position
        access = AccessByCoding<Coding>.self
    }

    var form: StoredForm { access.form }
    var storage: ColumnStorage { access.storage }

    func encode(_ property: Value) throws -> Journal.Value { try access.encode(property) }
    func decode(_ stored: Journal.Value) throws -> Value { try access.decode(stored) }
    func read(_ row: RowCursor, _ position: Int) throws -> Value { try access.read(row, position) }

    /// The column's name in the table.
    public var name: String { M.schema.columns[position].name }

    /// True when the values are decimal numbers: as text, they sort in another order than the numbers.
    var isDecimal: Bool { Value.self == Decimal.self || Value.self == Decimal?.self }
}

/// How a column's values are stored and read.
private protocol ColumnAccess<Property>: SendableMetatype {
    associatedtype Property
    static var form: StoredForm { get }
    static var storage: ColumnStorage { get }
    static func encode(_ property: Property) throws -> Value
    static func decode(_ stored: Value) throws -> Property
    static func read(_ row: RowCursor, _ position: Int) throws -> Property
}

/// A property whose type stores itself.
private enum AccessOfType<Property: ColumnValue>: ColumnAccess {
    static var form: StoredForm { StoredForm(of: Property.self) }
    static var storage: ColumnStorage { Property.columnStorage }
    static func encode(_ property: Property) throws -> Value { try property.columnValue }
    static func decode(_ stored: Value) throws -> Property { try Property(columnValue: stored) }
    static func read(_ row: RowCursor, _ position: Int) throws -> Property { try row.read(position) }
}

/// A property that a coding stores.
private enum AccessByCoding<Coding: ColumnCoding>: ColumnAccess {
    static var form: StoredForm { StoredForm(of: Coding.self) }
    static var storage: ColumnStorage { Coding.columnStorage }
    static func encode(_ property: Coding.Property) throws -> Value { try Coding.encode(property) }
    static func decode(_ stored: Value) throws -> Coding.Property { try Coding.decode(stored) }
    static func read(_ row: RowCursor, _ position: Int) throws -> Coding.Property {
        try row.read(position, as: Coding.self)
    }
}

/// Names a column of a model: `\.name`.
public typealias ColumnPath<M: TableModel, Value: Sendable> = KeyPath<M.Columns, Column<M, Value>>

/// A column whose property may be of any type.
protocol AnyColumn: Sendable {
    var position: Int { get }
}

extension Column: AnyColumn {}

extension TableModel {
    /// The positions of the columns that `paths` name.
    static func positions(of paths: [PartialKeyPath<Columns>]) -> ColumnSet {
        ColumnSet(paths.compactMap { (columns[keyPath: $0] as? any AnyColumn)?.position })
    }

    static func names(of paths: [PartialKeyPath<Columns>]) -> Set<String> { Set(schema.names(positions(of: paths))) }
}

extension SQL.Interpolation {
    /// Inserts a column's qualified name: `"lower(\(Person.columns.name)) = \(name)"`.
    public mutating func appendInterpolation<M, Value>(_ column: Column<M, Value>) {
        appendInterpolation(raw: M.schema.qualified(column.position, by: M.schema.quotedTable))
    }
}
