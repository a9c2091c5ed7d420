import Journal

extension Model {
    /// Makes an object in memory, to be saved later: its row does not exist yet.
    ///
    /// It is the live object of its key from now on, in the state ``RowState/new``. ``save(onConflict:)`` inserts the row, and so
    /// does ``save(_:)``, with further values. An object that nobody holds any more, and that was not saved, is gone.
    ///
    /// ```swift
    /// let bob = try Person.make(in: db) { $0.name = "Bob" }
    /// try bob.save()
    /// ```
    ///
    /// A key that is not given is generated. It is neither that of a row nor of an object in memory.
    ///
    /// An object of the given key whose row is deleted, and that someone still holds, is used again: it gets the new values, and
    /// ``isDeleted`` is false. So is it made by a transaction that has deleted it; a rollback takes that back.
    ///
    /// - Throws: ``StoreError/Code/keyCollision`` after many generated keys that are taken; ``StoreError/Code/primaryKey`` when
    ///   an object with the given key is in memory already, and not deleted (see ``findOrMake(_:in:_:)``); what `fill` throws.
    public static func make(
        _ id: ID? = nil, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        if database.isClosed {
            throw database.failed(StoreError.closed, operation: "making", table: schema.table)
        }
        var fields = Fields()
        if let id { fields._key = id }
        try fill(&fields)
        let instances = database.instances(of: Self.self)
        let isGenerated = schema.key.contains { fields._unset.contains($0) }
        for _ in 0..<WriteContext.keyAttempts {
            if isGenerated { fields._key = try database.unusedKey(Self.self) }
            let (object, isNew) = try instances.unsaved(fields, in: database)
            if isNew { return object }
            if !isGenerated {
                throw StoreError(
                    .primaryKey, "an object with this key is in memory already", hint: "Use `findOrMake`.",
                    table: schema.table, operation: "making")
            }
        }
        throw StoreError.keyCollision(schema.table)
    }

    /// The object of the row with this key, or the one that was made in memory; a new one, as by ``make(_:in:_:)``, when there is
    /// neither. Nothing is written before it is saved.
    ///
    /// - Throws: As ``fetch(_:in:)`` for a row that is there; what `fill` throws. No object is made then.
    public static func findOrMake(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        if let found = try find(id, in: database) { return found }
        var fields = Fields()
        fields._key = id
        try fill(&fields)
        return try database.instances(of: Self.self).unsaved(fields, in: database).object
    }

    /// Saves an object that was made in memory, as it is.
    ///
    /// When a row with its key came from elsewhere in the meantime, the two are merged: a value that was filled in counts as an
    /// edit of the property's default value.
    ///
    /// - Returns: True when something was written; false for an object without unsaved values.
    /// - Throws: ``StoreError``, as for ``create(in:_:)``; the object stays as it is then.
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
    /// A generated key that neither a row nor an object in memory has.
    func unusedKey<M: Model>(_ type: M.Type) throws -> M.ID {
        let instances = instances(of: type)
        for _ in 0..<WriteContext.keyAttempts {
            let key = try M.generateKey()
            if instances.cached(key) != nil { continue }
            if try access({ try M.select(key, $0.db) == nil }) { return key }
        }
        throw StoreError.keyCollision(M.schema.table)
    }

    /// Saves edits and objects that were made in memory, in one transaction: all of them, or none.
    ///
    /// ```swift
    /// try db.save([bob, edit, item])
    /// ```
    ///
    /// - Returns: How many rows were written.
    /// - Throws: What each change throws when it is saved alone, for the first that fails;
    ///   ``StoreError/Code/otherDatabase`` for one of another database. No row is written then, and edits keep their
    ///   changes.
    @discardableResult
    public func save(_ changes: [any PendingChange]) throws -> Int {
        try transaction {
            var written = 0
            for change in changes {
                try check(change.database)
                if try change.saveChanges() { written += 1 }
            }
            return written
        }
    }

    /// Deletes objects of any models in one transaction: all of them, or none.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: As ``Model/delete()``, for the first row that cannot go; ``StoreError/Code/otherDatabase`` for an
    ///   object of another database. No row is deleted then.
    @discardableResult
    public func delete(_ objects: [any Model]) throws -> Int {
        try transaction {
            var deleted = 0
            for object in objects {
                try check(object.database)
                if try object.delete() { deleted += 1 }
            }
            return deleted
        }
    }

    private func check(_ other: Database) throws {
        guard other !== self else { return }
        throw StoreError(.otherDatabase, "the object belongs to another database", hint: "Save it through its own.")
    }
}

/// Something that ``Database/save(_:)`` saves: a live object that was made in memory, or an ``Edit``.
public protocol PendingChange: Sendable {
    /// Where it is to be saved.
    var database: Database { get }
    /// - Returns: True when something was written.
    /// - Throws: ``StoreError``, and what hooks and conflict policies throw; the row and the change are as before then.
    func saveChanges() throws -> Bool
}

extension Model {
    /// Saves an object that was made in memory, as ``save(onConflict:)`` does by default.
    ///
    /// - Throws: As ``save(onConflict:)``.
    public func saveChanges() throws -> Bool { try save() }

    static func generateKey() throws -> ID {
        if let key = try makePrimaryKey() { return key }
        let columns = schema.key.map { schema.columns[$0].property }.joined(separator: ", ")
        throw StoreError(
            .missingValue, "a key of this type cannot be generated: \(columns) must be set",
            hint: "Set it in the block, or write `makePrimaryKey()` in the model.")
    }
}

extension StoreError {
    static func keyCollision(_ table: String) -> StoreError {
        StoreError(
            .keyCollision, "\(WriteContext.keyAttempts) generated keys in a row are taken",
            hint: "Let `makePrimaryKey()` draw from more values.", table: table)
    }
}
