import Journal

extension Model {
    /// Deletes the row. The object keeps its last values. ``isDeleted`` is true after the commit.
    ///
    /// - Returns: True when the row existed; false, without a change or an event, when it was deleted
    ///   already.
    /// - Throws: ``StoreError``, such as `foreignKey` when other rows refer to this one; nothing is deleted
    ///   then.
    @discardableResult
    public func delete() throws -> Bool {
        try database.write(Self.self, "deleting") { try $0.delete(self) }
    }

    /// Deletes many rows in one transaction: all of them, or none.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: What ``delete()`` throws, for the first row that cannot be deleted, and
    ///   ``StoreError/Code/otherDatabase`` for an object of another database; no row is deleted then.
    @discardableResult
    public static func delete(_ objects: some Sequence<Self>, in database: Database) throws -> Int {
        try database.transaction {
            try database.write { context in
                var deleted = 0
                for object in objects where try context.delete(object) { deleted += 1 }
                return deleted
            }
        }
    }

    /// True when the row is deleted, whichever writer deleted it. The deleting transaction sees true at once,
    /// all others after the commit. The value becomes false again when a row appears under the same key, or
    /// when ``makeUnsaved(_:in:_:)`` is called with that key.
    public var isDeleted: Bool { rowState == .deleted }

    /// True when the row exists, as seen by the calling thread.
    public var existsInDatabase: Bool { rowState == .persisted }

    /// The error that kept the object from following the last change of its row: the row holds a value that a
    /// property's type cannot decode. nil when the object is up to date.
    public var refreshError: StoreError? { _withState { $0.refreshError } }
}

extension WriteContext {
    func delete<M: Model>(_ object: M) throws -> Bool {
        do {
            let (fields, status) = try current(object)
            guard status == .present else { return false }
            try object.willDelete()
            // As in `update`: the hook may have caught an error after which SQLite had ended the transaction.
            try checkOpen()
            let touched = try PreparedStatement(db, M.schema.delete).run { statement -> Int in
                try M.Fields._bindKey(fields._key, to: statement.parameters, at: 0)
                let before = statement.totalChanges
                do { _ = try statement.step() } catch { throw referrer(error, M.self, fields) }
                return statement.totalChanges - before
            }
            show(object, nil, status: .deleted)
            if touched == 0 { return false }
            try wrote(M.self, fields._key, .delete, columns: [], rowsTouched: touched)
            afterCommit.append(HookCall(object: object, kind: .deleted))
            return true
        } catch let error as StoreError {
            throw error.during("deleting", table: M.schema.table).of(M.self, object._withState { $0.fields._key })
        }
    }
}
