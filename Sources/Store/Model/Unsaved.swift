import Journal

extension Model {
    /// Makes an object in memory that is saved later: its row does not exist yet.
    ///
    /// It becomes the live object of its key, in the state ``RowState/new``. ``save(onConflict:)`` inserts
    /// the row; ``save(_:)`` inserts it with further values. An unsaved object is lost when its last
    /// reference is released.
    ///
    /// ```swift
    /// let bob = try Person.makeUnsaved(in: db) { $0.name = "Bob" }
    /// try bob.save()
    /// ```
    ///
    /// When no key is given, one is generated that neither a row nor an object in memory has.
    ///
    /// When an object of the given key is still in memory and its row is deleted, that object is used again:
    /// it takes the new values, and ``isDeleted`` becomes false. This also holds inside the transaction that
    /// deleted the row; a rollback undoes it.
    ///
    /// - Throws: ``StoreError/Code/keyCollision`` when 16 generated keys in a row are in use;
    ///   ``StoreError/Code/primaryKey`` when an object with the given key is in memory and not deleted (see
    ///   ``findOrMakeUnsaved(_:in:_:)``); what `fill` throws.
    public static func makeUnsaved(
        _ id: ID? = nil, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        if database.isClosed {
            throw database.failed(StoreError.closed, operation: "making", table: schema.table)
        }
        var fields = Fields()
        if let id { fields._key = id }
        try fill(&fields)
        let instances = database.instances(of: Self.self)
        let unset = fields._unset
        let isGenerated = schema.key.contains { unset.contains($0) }
        for _ in 0..<WriteContext.keyAttempts {
            if isGenerated { fields._key = try database.unusedKey(Self.self, unset) }
            let (object, isNew) = try instances.unsaved(fields, in: database)
            if isNew { return object }
            if !isGenerated {
                throw StoreError(
                    .primaryKey, "An object with this key is in memory already", hint: "Use `findOrMakeUnsaved`.",
                    table: schema.table, operation: "making"
                ).of(Self.self, fields._key)
            }
        }
        throw StoreError.keyCollision(schema.table)
    }

    /// Returns the object of the row with this key, or the unsaved object with this key. When there is
    /// neither, makes a new one, as ``makeUnsaved(_:in:_:)`` does. Nothing is written before the object is saved.
    ///
    /// - Throws: What ``fetch(_:in:)`` throws for an existing row; what `fill` throws. No object is made
    ///   then.
    public static func findOrMakeUnsaved(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        if let found = try find(id, in: database) { return found }
        var fields = Fields()
        fields._key = id
        try fill(&fields)
        return try database.instances(of: Self.self).unsaved(fields, in: database).object
    }

    /// Saves an object that was made in memory.
    ///
    /// When another writer has inserted a row with its key in the meantime, the two are merged: a value that
    /// was filled in counts as an edit of the property's default value.
    ///
    /// - Returns: True when something was written; false for an object without unsaved values.
    /// - Throws: What ``create(in:_:)`` throws, as ``StoreError``; the object is unchanged then.
    @discardableResult
    public func save(onConflict policy: ConflictPolicy<Self> = .keepLocal) throws -> Bool {
        try database.write(Self.self, "saving") { context in
            let status = try context.current(self).status
            if status == .new { return try context.save(self) { _ in } }
            guard let made = _withState({ $0.filledIn }) else { return false }
            return try context.save(self) { fields in
                var base = Fields()
                base._key = fields._key
                fields = try ThreeWay<Self>(base: base, local: made, database: fields).merged(policy)
            }
        }
    }
}

extension Database {
    /// Returns a generated key that neither a row nor an object in memory has.
    func unusedKey<M: Model>(_ type: M.Type, _ unset: ColumnSet) throws -> M.ID {
        let instances = instances(of: type)
        for _ in 0..<WriteContext.keyAttempts {
            let key = try M.generateKey(unset)
            if instances.cached(key) != nil { continue }
            if try access({ context in try StatementOwner.store.runs { try M.select(key, context.db) == nil } }) {
                return key
            }
        }
        throw StoreError.keyCollision(M.schema.table)
    }

    /// Saves edits and objects that were made in memory, in one transaction: all of them, or none.
    ///
    /// ```swift
    /// try db.save([bob, edit, item])
    /// ```
    ///
    /// - Returns: The number of rows written.
    /// - Throws: What saving a single change throws, for the first one that fails;
    ///   ``StoreError/Code/otherDatabase`` for a change of another database. No row is written then, and
    ///   edits keep their changes.
    @discardableResult
    public func save(_ changes: [any PendingChange]) throws -> Int {
        try transaction {
            var written = 0
            for change in changes {
                try check(change.database, of: change as? any Model)
                if try change.saveChanges() { written += 1 }
            }
            return written
        }
    }

    /// Deletes objects of any models in one transaction: all of them, or none.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: What ``Model/delete()`` throws, for the first row that cannot be deleted;
    ///   ``StoreError/Code/otherDatabase`` for an object of another database. No row is deleted then.
    @discardableResult
    public func delete(_ objects: [any Model]) throws -> Int {
        try transaction {
            var deleted = 0
            for object in objects {
                try check(object.database, of: object)
                if try object.delete() { deleted += 1 }
            }
            return deleted
        }
    }

    private func check(_ other: Database, of object: (any Model)?) throws {
        guard other !== self else { return }
        let error = StoreError(
            .otherDatabase, "The object belongs to the database \(other.path), and not to this one",
            hint: "Save it through the database that it belongs to.")
        throw object.map { $0.located(error) } ?? error
    }
}

/// A change that ``Database/save(_:)`` can save: a live object that was made in memory, or an ``Edit``.
public protocol PendingChange: Sendable {
    /// The database in which it is saved.
    var database: Database { get }
    /// Saves the change.
    ///
    /// - Returns: True when something was written.
    /// - Throws: ``StoreError``, and what hooks and conflict policies throw; the row and the change are
    ///   unchanged then.
    func saveChanges() throws -> Bool
}

extension Model {
    /// Returns the error with the object's table and key.
    fileprivate func located(_ error: StoreError) -> StoreError {
        error.during("saving", table: Self.schema.table).of(Self.self, _withState { $0.fields._key })
    }

    /// Saves an object that was made in memory, like ``save(onConflict:)`` with its default policy.
    ///
    /// - Throws: What ``save(onConflict:)`` throws.
    @discardableResult
    public func saveChanges() throws -> Bool { try save() }

    /// - Parameter unset: The columns of the new row that have no value.
    static func generateKey(_ unset: ColumnSet) throws -> ID {
        if let key = try makePrimaryKey() { return key }
        let missing = schema.key.filter { unset.contains($0) }.map { schema.columns[$0] }
        let names = missing.map(\.property).joined(separator: ", ")
        throw StoreError(
            .missingValue, "A key of this type cannot be generated: \(names) must be set",
            hint: "Set \(missing.count == 1 ? "it" : "them") in the block, or write `makePrimaryKey()` in the model.",
            table: schema.table, column: missing.count == 1 ? missing[0].name : nil)
    }
}

extension StoreError {
    static func keyCollision(_ table: String) -> StoreError {
        StoreError(
            .keyCollision, "\(WriteContext.keyAttempts) generated keys in a row are in use already",
            hint: "Let `makePrimaryKey()` choose from more values.", table: table)
    }
}
