import Observation

/// A live object that stands for one row. Written by ``Model(table:)``; not to be adopted by hand.
///
/// There is one object for each row and database, as long as someone holds it. Its properties may be read on any thread and
/// follow every commit: saves, bulk updates, raw SQL, other processes, other machines. They change in memory only after the
/// commit; inside of a transaction, the code of the transaction itself sees its own changes at once.
///
/// Properties take part in `withObservationTracking`: its `onChange` runs after the commit that changed one of them, on the
/// thread that saw the commit.
public protocol Model: AnyObject, TableModel, PendingChange, Identifiable, Observable where ID == Fields.ID {
    /// The values of one row, as a struct: a property for each of the class.
    associatedtype Fields: ModelFields

    /// Where the row is. The object keeps the database alive, and is of no use after ``Database/close()`` but for its
    /// last values.
    var database: Database { get }
    /// The primary key. It stays the same for as long as the object lives.
    var id: ID { get }

    /// An object over a storage of its own. For what the macro writes; ``create(in:_:)``, `make` and the fetches make
    /// objects.
    init(_storage: consuming ModelStorage<Fields>)

    // What runs once for each row. Written out in the model's own module, where its types are known, these are a good deal
    // faster than generic code can be.
    /// An object with these values.
    static func _make(_ fields: Fields, _ start: RegistrationContext) -> Self
    /// An object with the values of the row on which `row` stands.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column, for a value that its property's type cannot take.
    static func _read(_ row: RowCursor, _ start: RegistrationContext) throws -> Self
    /// Takes the committed row that `other` was made of; true when this object's row is there afterwards.
    func _offer(_ other: Self, asOf position: Int64) -> Bool
    /// What objects are found by.
    var _exactKey: ExactKey { get }
    /// What the calling thread sees.
    var _status: RowStatus { get }

    /// Runs `body` with what the object holds, under the object's lock: it must neither block nor ask for another lock.
    /// What it has changed when it throws stays changed.
    func _withState<Result: Sendable>(_ body: (inout ModelState<Fields>) throws -> Result) rethrows -> Result
    /// True when a property was read, so that someone may observe it.
    var _isObserved: Bool { get }
    /// Notes that ``rowState`` is read.
    func _observeState()
    /// Tells those who observe the object what has changed.
    func _announce(_ changes: ColumnSet, transients: Bool, status: Bool)

    /// Makes the key of a new row that was given none. The default takes a random positive Int64, or a UUID of version 7.
    ///
    /// A key that is taken already is thrown away, and the next one asked for.
    ///
    /// - Returns: nil when the caller of `create` has to give the key.
    /// - Throws: What the model's own implementation throws; no row is made then.
    static func makePrimaryKey() throws -> ID?

    /// How long objects are kept that nobody holds; ``CachePolicy/weak`` by default.
    static var cachePolicy: CachePolicy { get }

    /// The indexes that an automatic schema keeps (``SchemaBuilder/automatic(_:allowing:renaming:invalidRows:)``). None by default.
    static var indexes: [Index] { get }

    /// The full-text indexes that an automatic schema keeps. None by default.
    static var textIndexes: [TextIndex] { get }

    // Hooks, for `create`, `save`, `delete` and what is built on them: not for SQL, other processes or peers, whose changes
    // `changes(in:)` tells. A `will…` runs in the transaction and may throw, which refuses the write and undoes what
    // the hook has written itself; a `did…` runs after the commit, never after a rollback.

    /// Called before a row is made, after the caller has set the values. May change them. Throwing refuses the row.
    ///
    /// - Throws: Any error: `create` throws it on.
    static func willInsert(_ fields: inout Fields) throws
    /// Called before changed values are written; `self` still holds the old ones. May change them. Throwing refuses the save.
    ///
    /// - Throws: Any error: `save` throws it on.
    func willUpdate(_ fields: inout Fields) throws
    /// Called before the row is deleted. Throwing refuses it.
    ///
    /// - Throws: Any error: `delete` throws it on.
    func willDelete() throws
    /// Called after the commit that made the row, on the thread that committed.
    func didInsert()
    /// - Parameter columns: The names of the columns that were written.
    func didUpdate(_ columns: Set<String>)
    /// Called after the commit that deleted the row, on the thread that committed. `self` keeps the last values.
    func didDelete()
}

extension Model {
    /// None.
    public static var indexes: [Index] { [] }
    /// None.
    public static var textIndexes: [TextIndex] { [] }
}

extension Model {
    /// ``CachePolicy/weak``.
    public static var cachePolicy: CachePolicy { .weak }
    /// ``ModelKey/generated()``.
    ///
    /// - Throws: Nothing.
    public static func makePrimaryKey() throws -> ID? { ID.generated() }
}

/// The values of one row, as `save` and `create` hand them out for change. Written by ``Model(table:)``.
///
/// The members with an underscore are for Store alone.
public protocol ModelFields: Sendable {
    /// The type of the primary key: the property's own, or the model's struct `ID` of several.
    associatedtype ID: ModelKey

    /// The values before anything is set: initial values where the properties have one, nil where they are optional,
    /// placeholders where they are required.
    init()
    /// Reads the columns in the schema's order.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column, for the first value that its property's type cannot
    ///   take.
    init(_row row: RowCursor) throws

    /// The primary key among these values.
    var _key: ID { get set }
    /// The key that these stored values stand for; the inverse of `_keyValues`.
    ///
    /// - Throws: ``ColumnMismatch`` for a value of another class, and when there are fewer than the key has columns.
    static func _key(of values: KeyValues) throws -> ID
    /// Binds the key's columns to parameters from `parameter` on, counted from 0.
    ///
    /// - Throws: As ``ParameterCursor/bind(value:at:)``; parameters bound before that stay bound.
    static func _bindKey(_ key: ID, to statement: ParameterCursor, at parameter: Int) throws
    /// The stored values of a key, in the order of the schema's key.
    ///
    /// - Throws: ``ColumnMismatch`` for a key that its coding cannot store.
    static func _keyValues(_ key: ID) throws -> [Value]

    /// Binds one column, by its position in the schema, to a parameter, counted from 0. A position that the schema does
    /// not have binds nothing.
    ///
    /// - Throws: As ``ParameterCursor/bind(value:at:)``.
    func _bind(_ column: Int, to statement: ParameterCursor, at parameter: Int) throws
    /// Binds every column in the schema's order, from parameter 0 on.
    ///
    /// - Throws: As ``ParameterCursor/bind(value:at:)``, for the first column that cannot be bound; those before it
    ///   stay bound.
    func _bindAll(to statement: ParameterCursor) throws

    /// The columns whose stored values differ from those of `old`.
    func _changes(from old: Self) -> ColumnSet
    /// Takes over the values of these columns.
    mutating func _take(_ columns: ColumnSet, from other: Self)
    /// Takes over the properties without a column.
    mutating func _takeTransient(from other: Self)
    /// Rounds what storing rounds.
    mutating func _normalize()

    /// Required columns that were not set yet.
    var _unset: ColumnSet { get }

    /// How each column is stored, in the schema's order.
    static var _storage: [ColumnStorage] { get }
    /// Who makes the key of a row that was given none.
    static var _keySource: KeySource { get }
    /// What is stored in a column; `_set` is its inverse.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that its coding cannot store. A position that the schema does not have
    ///   gives NULL.
    func _value(_ column: Int) throws -> Value
    /// Sets a property to what is stored in a column; a position that the schema does not have sets nothing.
    ///
    /// - Throws: ``ColumnMismatch`` when `value` does not stand for a value of the property's type, which then keeps
    ///   its own.
    mutating func _set(_ column: Int, to value: Value) throws
}

extension ModelFields {
    /// ``KeySource/random``.
    public static var _keySource: KeySource { .random }
}

/// A type that stands for the rows of a table: a live ``Model``, or a ``ValueModel``. Written by ``Model(table:)``.
public protocol TableModel: Sendable {
    /// One ``Column`` for each stored property, of the property's name; queries name them by key paths such as `\.name`.
    associatedtype Columns: Sendable

    /// Table, columns and key, at run time.
    static var schema: ModelSchema { get }
    /// The columns, for raw SQL: `"\(Person.columns.name) LIKE 'A%'"`.
    static var columns: Columns { get }
}

/// A value that a row decodes into by column names. Written by ``Model(table:)`` on a struct.
public protocol ValueModel: TableModel {
    /// The value of a row. A property whose column the row lacks keeps its default value, or nil.
    ///
    /// - Throws: ``StoreError``: `missingColumn` for a property that has neither, `undecodable` for a value that its
    ///   property's type cannot take.
    init(_row row: NamedRow) throws
}
