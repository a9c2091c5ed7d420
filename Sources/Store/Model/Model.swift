/// A live object that stands for one row. Written by ``Model(table:)``; not to be adopted by hand.
///
/// There is one object for each row and database, as long as someone holds it. Its properties may be read on any thread and
/// follow every commit: saves, bulk updates, raw SQL, other processes, other machines. They change in memory only after the
/// commit; inside of a transaction, the code of the transaction itself sees its own changes at once.
public protocol Model: AnyObject, Sendable, Identifiable where ID == Fields.ID {
    associatedtype Fields: ModelFields

    static var schema: ModelSchema { get }
    var database: Database { get }
    var id: ID { get }

    init(_storage: consuming ModelStorage<Fields>)
    func _withState<Result: Sendable>(_ body: (inout ModelState<Fields>) throws -> Result) rethrows -> Result

    /// Makes the key of a new row that was given none. The default takes a random positive Int64, or a UUID of version 7.
    ///
    /// A key that is taken already is thrown away, and the next one asked for.
    ///
    /// - Returns: nil when the caller of `create` has to give the key.
    static func makePrimaryKey() throws -> ID?
}

extension Model {
    public static func makePrimaryKey() throws -> ID? { ID.generated() }
}

/// The values of one row, as `save` and `create` hand them out for change. Written by ``Model(table:)``.
///
/// The members with an underscore are for Store alone.
public protocol ModelFields: Sendable {
    associatedtype ID: ModelKey

    init()
    /// Reads the columns in the schema's order.
    init(_row row: RowCursor) throws

    var _key: ID { get set }
    static func _key(of values: KeyValues) throws -> ID
    static func _bindKey(_ key: ID, to statement: ParameterCursor, at parameter: Int) throws

    func _bind(_ column: Int, to statement: ParameterCursor, at parameter: Int) throws
    /// Binds every column in the schema's order, from parameter 0 on.
    func _bindAll(to statement: ParameterCursor) throws

    /// The columns whose stored values differ from those of `old`.
    func _changes(from old: Self) -> ColumnSet
    mutating func _take(_ columns: ColumnSet, from other: Self)
    mutating func _takeTransient(from other: Self)
    /// Rounds what storing rounds.
    mutating func _normalize()

    /// Required columns that were not set yet.
    var _unset: ColumnSet { get }
}

/// A value that a row decodes into by column names. Written by ``Model(table:)`` on a struct.
public protocol ValueModel: Sendable {
    static var schema: ModelSchema { get }
    init(_row row: NamedRow) throws
}
