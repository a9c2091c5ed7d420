import Observation

/// A live object that represents one row. ``Model(table:)`` writes the conformance; do not write it by hand.
///
/// There is one object for each row and database, as long as it is referenced. Its properties can be read on
/// any thread and follow every commit: saves, bulk updates, raw SQL, other processes, other machines. They
/// change in memory only after the commit. Inside a transaction, the code of the transaction sees its own
/// changes at once.
///
/// Properties take part in `withObservationTracking`: `onChange` runs after the commit that changed one of
/// them, on the thread that published the commit.
///
/// Two objects are equal when they are the same object, which is the only one of its row and database.
/// Compare ``Model/values`` to compare rows.
public protocol Model: AnyObject, TableModel, PendingChange, Identifiable, Observable, Hashable,
    CustomStringConvertible
where ID == Fields.ID {
    /// The values of one row, as a struct with a property for each property of the class.
    associatedtype Fields: ModelFields

    /// The database of the row. The object keeps the database alive. After ``Database/close()`` only the
    /// object's last values remain usable.
    var database: Database { get }
    /// The primary key. It does not change while the object lives.
    var id: ID { get }

    /// Creates an object with its own storage. Only the macro's code calls this; ``create(in:_:)``, `makeUnsaved`
    /// and the fetches return objects.
    init(_storage: consuming ModelStorage<Fields>)

    // These requirements run once for each row. The macro writes them out in the model's own module, where
    // its types are known, because generic code would be considerably slower.
    /// Makes an object with these values.
    static func _make(_ fields: Fields, _ start: RegistrationContext) -> Self
    /// Makes an object with the values of the cursor's current row.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column, for a value that its property's type
    ///   cannot decode.
    static func _read(_ row: RowCursor, _ start: RegistrationContext) throws -> Self
    /// Takes over the committed row from which `other` was made. Returns true when this object's row exists
    /// afterwards.
    func _offer(_ other: Self, asOf position: Int64) -> Bool
    /// The key by which objects are found.
    var _exactKey: ExactKey { get }
    /// The status of the row as seen by the calling thread.
    var _status: RowStatus { get }

    /// Runs `body` with the object's state, under the object's lock: it must neither block nor take another
    /// lock. Changes that it made before it throws remain.
    func _withState<Result: Sendable>(_ body: (inout ModelState<Fields>) throws -> Result) rethrows -> Result
    /// True when a property was read, so that an observer may exist.
    var _isObserved: Bool { get }
    /// Records a read of ``values`` for observers.
    func _observeValues()
    /// Records a read of ``rowState`` for observers.
    func _observeState()
    /// Notifies the object's observers of changes.
    func _announce(_ changes: ColumnSet, transients: Bool, status: Bool)

    /// Generates the key of a new row for which the caller sets none. The default is a random positive Int64,
    /// or a UUID of version 7.
    ///
    /// When the key is in use already, this is called again for another one.
    ///
    /// - Returns: nil when the caller of `create` must set the key.
    /// - Throws: What the model's own implementation throws; no row is created then.
    static func makePrimaryKey() throws -> ID?

    /// How long objects that the program does not hold are kept; ``CachePolicy/weak`` by default.
    static var cachePolicy: CachePolicy { get }

    /// The indexes that an automatic schema creates and maintains
    /// (``SchemaBuilder/automatic(_:allowing:renaming:invalidRows:)``), besides one for each reference. None by default.
    static var indexes: [Index] { get }

    /// The references that SQLite keeps, in the table that an automatic schema creates. None by default.
    static var foreignKeys: [ForeignKey] { get }

    /// The full-text indexes that an automatic schema creates and maintains. None by default.
    static var textIndexes: [TextIndex] { get }

    // Hooks run for `create`, `save`, `delete` and the methods that use them. They do not run for SQL, other
    // processes or peers; `changes(in:)` reports those changes. A `will…` hook runs in the transaction. When
    // it throws, the write is refused, and what the hook itself wrote is undone. A `did…` hook runs after the
    // commit, never after a rollback.

    /// Called before a row is inserted, after the caller has set the values. It may change them. Throwing
    /// refuses the row.
    ///
    /// - Throws: Any error; `create` rethrows it.
    static func willInsert(_ fields: inout Fields) throws
    /// Called before changed values are written; `self` still holds the old ones. It may change the new ones.
    /// Throwing refuses the save.
    ///
    /// - Throws: Any error; `save` rethrows it.
    func willUpdate(_ fields: inout Fields) throws
    /// Called before the row is deleted. Throwing refuses the deletion.
    ///
    /// - Throws: Any error; `delete` rethrows it.
    func willDelete() throws
    /// Called after the commit that inserted the row, on the thread that committed.
    func didInsert()
    /// Called after the commit that changed the row, on the thread that committed.
    ///
    /// - Parameter columns: The names of the columns that were written.
    func didUpdate(_ columns: Set<String>)
    /// Called after the commit that deleted the row, on the thread that committed. `self` keeps the last
    /// values.
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
    public static func makePrimaryKey() throws -> ID? { Fields._generated() }
}

/// The values of one row, which `save` and `create` hand to their block to be changed. ``Model(table:)``
/// writes the conformance.
///
/// Two values are equal when all columns hold the same; transient properties are not compared. They encode
/// and decode by the names of properties, each in its own Codable form, or in its stored form when its type
/// is not Codable.
///
/// ```swift
/// let json = try JSONEncoder().encode(bob.values)                     // {"id":7,"name":"Bob",…}
/// let input = try JSONDecoder().decode(Person.Fields.self, from: body)
/// let ann = try Person.create(in: db) { $0 = input }
/// ```
///
/// The members with an underscore are for Store only.
public protocol ModelFields: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The type of the primary key: the type of its property, or the model's struct `ID` for a key of several
    /// columns. It conforms to ``ModelKey``, which the declaration of its ``Column`` checks.
    associatedtype ID: Hashable & Sendable

    /// Creates the values before anything is set: default values where the properties have one, nil where
    /// they are optional, placeholders where they are required.
    init()
    /// Reads the columns in the schema's order.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column, for the first value that its property's
    ///   type cannot decode.
    init(_row row: RowCursor) throws

    /// The primary key among these values.
    var _key: ID { get set }
    /// The exact content of a key.
    static func _exact(_ key: ID) -> ExactKey
    /// Returns a new random key; nil for a type that cannot be generated.
    static func _generated() -> ID?
    /// Decodes a key from its stored values; the inverse of `_keyValues`.
    ///
    /// - Throws: ``ColumnMismatch`` for a value of another storage class, and when there are fewer values
    ///   than key columns.
    static func _key(of values: KeyValues) throws -> ID
    /// Binds the key's columns to consecutive parameters, beginning with `parameter`, counted from 0.
    ///
    /// - Throws: What ``ParameterCursor/bind(value:at:)`` throws; parameters bound before the error stay
    ///   bound.
    static func _bindKey(_ key: ID, to statement: ParameterCursor, at parameter: Int) throws
    /// The stored values of a key, in the order of the schema's key.
    ///
    /// - Throws: ``ColumnMismatch`` for a key that its coding cannot store.
    static func _keyValues(_ key: ID) throws -> [Value]

    /// Binds the column at this position in the schema to a parameter, counted from 0. A position outside the
    /// schema binds nothing.
    ///
    /// - Throws: What ``ParameterCursor/bind(value:at:)`` throws.
    func _bind(_ column: Int, to statement: ParameterCursor, at parameter: Int) throws
    /// Binds every column in the schema's order, beginning with parameter 0.
    ///
    /// - Throws: What ``ParameterCursor/bind(value:at:)`` throws, for the first column that cannot be bound;
    ///   earlier columns stay bound.
    func _bindAll(to statement: ParameterCursor) throws

    /// The columns whose stored values differ from those of `old`.
    func _changes(from old: Self) -> ColumnSet
    /// Copies the values of these columns from `other`.
    mutating func _take(_ columns: ColumnSet, from other: Self)
    /// Copies the properties without a column from `other`.
    mutating func _takeTransient(from other: Self)
    /// Rounds the values to what the database stores.
    mutating func _normalize()

    /// The required columns that are not set yet.
    var _unset: ColumnSet { get }

    /// The columns, in the schema's order.
    static var _columns: [any FieldColumn] { get }
    /// The source of keys for rows without one.
    static var _keySource: KeySource { get }
    /// Returns the stored value of a column; `_set` is the inverse. A position outside the schema gives NULL.
    ///
    /// - Throws: ``ColumnMismatch`` for a value that its coding cannot store.
    func _value(_ column: Int) throws -> Value
    /// Sets a property from the stored value of its column. A position outside the schema sets nothing.
    ///
    /// - Throws: ``ColumnMismatch`` when the property's type cannot decode `value`; the property then keeps
    ///   its value.
    mutating func _set(_ column: Int, to value: Value) throws
}

extension ModelFields {
    /// ``KeySource/random``.
    public static var _keySource: KeySource { .random }

    /// The exact content of the row's key.
    var exactKey: ExactKey { Self._exact(_key) }
}

extension ModelFields where ID: ModelKey {
    /// ``ModelKey/exact``.
    @inlinable
    public static func _exact(_ key: ID) -> ExactKey { key.exact }
    /// ``ModelKey/generated()``.
    public static func _generated() -> ID? { ID.generated() }
}

/// A type that represents the rows of a table: a live ``Model``, or a ``ValueModel``. ``Model(table:)``
/// writes the conformance.
public protocol TableModel: Sendable {
    /// A type with one ``Column`` for each stored property, of the same name; queries name them by key paths
    /// such as `\.name`.
    associatedtype Columns: Sendable

    /// The table, its columns and its key, at run time.
    static var schema: ModelSchema { get }
    /// The columns, for raw SQL: `"\(Person.columns.name) LIKE 'A%'"`.
    static var columns: Columns { get }
    /// What lists do with rows that cannot be read; ``UnreadableRows/fail`` by default.
    static var unreadableRows: UnreadableRows { get }
}

/// A value that is decoded from a row by column names. ``Model(table:)`` on a struct writes the conformance.
public protocol ValueModel: TableModel {
    /// Decodes a row. A property whose column the row lacks takes its default value, or nil.
    ///
    /// - Throws: ``StoreError``: `missingColumn` for a property whose column is missing and that is not
    ///   optional and has no default value; `undecodable` for a value that its property's type cannot decode.
    init(_row row: NamedRow) throws
}

extension ValueModel where Self: Model {
    /// Never runs: a live model conforms to ``ValueModel`` only as an unavailable type.
    ///
    /// - Throws: ``StoreError/Code/invalidSchema``.
    @available(*, unavailable)
    public init(_row row: NamedRow) throws { preconditionFailure("unavailable") }
}
