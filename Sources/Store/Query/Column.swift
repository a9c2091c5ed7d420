import Foundation
import Journal

/// One column of a model, with the type of its property and its storage. Queries name it by a key path of the
/// model's `Columns`.
///
/// ```swift
/// let adults = Person.where(\.age >= 18).order(by: \.name)
/// let named = try Person.where("\(Person.columns.name) LIKE 'A%'").all(in: db)
/// ```
public struct Column<M: TableModel, Value: Sendable>: Sendable {
    /// The position in the model's schema.
    public let position: Int
    let form: StoredForm
    // Not computed at once: a reference to another model asks for that model's columns, which may be these.
    let storage: @Sendable () -> ColumnStorage
    let encode: @Sendable (Value) throws -> Journal.Value
    let decode: @Sendable (Journal.Value) throws -> Value
    let read: @Sendable (RowCursor, Int) throws -> Value

    /// Creates the column at `position` of the schema, stored as its type stores itself. Only the macro's
    /// code calls this.
    public init(_ position: Int) where Value: ColumnValue {
        self.position = position
        form = StoredForm(of: Value.self)
        storage = { Value.columnStorage }
        encode = { try $0.columnValue }
        decode = { try Value(columnValue: $0) }
        read = { try $0.read($1) }
    }

    /// Creates the column at `position` of the schema, stored by `coding`. Only the macro's code calls this.
    public init<Coding: ColumnCoding>(_ position: Int, as coding: Coding.Type) where Coding.Property == Value {
        self.position = position
        form = StoredForm(of: Coding.self)
        storage = { Coding.columnStorage }
        encode = { try Coding.encode($0) }
        decode = { try Coding.decode($0) }
        read = { try $0.read($1, as: Coding.self) }
    }

    /// The column's name in the table.
    public var name: String { M.schema.columns[position].name }

    /// True when the values are decimal numbers: as text, they sort in another order than the numbers.
    var isDecimal: Bool { Value.self == Decimal.self || Value.self == Decimal?.self }
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
