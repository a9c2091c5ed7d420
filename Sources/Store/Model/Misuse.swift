// Calls that a model does not have, with the call to write instead. Each exists for its message only: the compiler
// chooses it when nothing else fits.

extension Model {
    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "the key has another type: 'find' takes the model's 'ID', or a sequence of them"
    )
    public static func find<Key>(_ id: Key, in database: Database) throws -> Self? { nil }

    /// Refuses a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'find(key, in: db)'")
    public static func find<Key>(_ id: Key) throws -> Self? { nil }

    /// Refuses a key without a database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'delete(key, in: db)'")
    @discardableResult
    public static func delete<Key>(_ id: Key) throws -> Bool { false }

    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "the key has another type: 'delete' takes the model's 'ID', or objects of the model"
    )
    @discardableResult
    public static func delete<Key>(_ id: Key, in database: Database) throws -> Bool { false }
}

extension Model {
    /// Refuses a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'create(in: db) { $0.… = … }'")
    @discardableResult
    public static func create(_ fill: (inout Fields) throws -> Void) throws -> Self {
        preconditionFailure("unavailable")
    }

    /// Refuses a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'all(in: db)'")
    public static func all() throws -> [Self] { [] }

    /// Refuses another name of `save`.
    @_disfavoredOverload
    @available(*, unavailable, message: "an object is changed by 'save { $0.… = … }'; 'update' is for queries")
    public func update(_ edit: (inout Fields) throws -> Void) throws {}
}

extension Model {
    /// Refuses a database for an object that has one.
    @_disfavoredOverload
    @available(*, unavailable, message: "an object knows its database: 'delete()'")
    public func delete(in database: Database) throws {}

    /// Refuses a database for an object that has one.
    @_disfavoredOverload
    @available(*, unavailable, message: "an object knows its database: 'save { $0.… = … }'")
    public func save(in database: Database) throws {}
}

extension Model {
    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has another type: 'require' takes the model's 'ID'")
    public static func require<Key>(_ id: Key, in database: Database) throws -> Self {
        preconditionFailure("unavailable")
    }

    /// Refuses a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'require(key, in: db)'")
    public static func require<Key>(_ id: Key) throws -> Self { preconditionFailure("unavailable") }

    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has another type: 'exists' takes the model's 'ID'")
    public static func exists<Key>(_ id: Key, in database: Database) throws -> Bool { false }

    /// Refuses a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the database: 'exists(key, in: db)'")
    public static func exists<Key>(_ id: Key) throws -> Bool { false }

    /// Refuses a label.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has no label: 'find(key, in: db)'")
    public static func find<Key>(id: Key, in database: Database) throws -> Self? { nil }

    /// Refuses a label and a missing database.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has no label, and the database is named: 'find(key, in: db)'")
    public static func find<Key>(id: Key) throws -> Self? { nil }
}

extension Model {
    /// Refuses a key of another type, and the value of a property.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "the key has another type; properties are set in the block: 'create(in: db) { $0.… = … }'"
    )
    @discardableResult
    public static func create<Key>(
        _ id: Key, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self { preconditionFailure("unavailable") }
}

extension Model {
    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has another type: 'upsert' takes the model's 'ID'")
    @discardableResult
    public static func upsert<Key>(
        _ id: Key, in database: Database, _ fill: (inout Fields) throws -> Void
    ) throws -> Self { preconditionFailure("unavailable") }

    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has another type: 'findOrCreate' takes the model's 'ID'")
    @discardableResult
    public static func findOrCreate<Key>(
        _ id: Key, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self { preconditionFailure("unavailable") }

    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(*, unavailable, message: "the key has another type: 'modify' takes the model's 'ID'")
    @discardableResult
    public static func modify<Key>(
        _ id: Key, in database: Database, _ edit: (inout Fields) throws -> Void
    ) throws -> Self? { nil }
}

extension Model {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Refuses a column that is no reference.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "a foreign key belongs to a reference: declare the property as a 'Ref' of the model"
    )
    public static func ForeignKey<V>(
        _ column: ColumnPath<Self, V>, onDelete action: Store.ForeignKey.Action = .refuse
    ) -> Store.ForeignKey { preconditionFailure("unavailable") }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Refuses a name.
    @_disfavoredOverload
    @available(*, unavailable, message: "a foreign key names its property by key path: 'ForeignKey(\\.player)'")
    public static func ForeignKey(
        _ column: String, onDelete action: Store.ForeignKey.Action = .refuse
    ) -> Store.ForeignKey { preconditionFailure("unavailable") }
}

extension Database {
    /// Refuses one object.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "'delete' of a database takes a list; one object is deleted by 'object.delete()'"
    )
    public func delete(_ object: some Model) throws {}

    /// Refuses one object.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "'save' of a database takes a list; one object is saved by 'object.save { $0.… = … }'"
    )
    public func save(_ object: some PendingChange) throws {}
}

extension Ref {
    /// Refuses an object that may be missing.
    @_disfavoredOverload
    @available(*, unavailable, message: "the object may be nil: 'object.map { Ref($0) }'")
    public init(_ object: Target?) { preconditionFailure("unavailable") }

    /// Refuses a key of another type.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "the key has another type: a reference takes the 'ID' of its model, or an object"
    )
    public init<Key>(_ id: Key) { preconditionFailure("unavailable") }

    /// Refuses an object of another model.
    @_disfavoredOverload
    @available(*, unavailable, message: "the object is of another model than the reference")
    public init<Other: Model>(_ object: Other) { preconditionFailure("unavailable") }
}
