import Journal

extension Model {
    /// Deletes the row. The object keeps its last values, and ``isDeleted`` is true from the commit on.
    ///
    /// - Returns: True when there was a row; false, without a change or an event, when it was deleted before.
    /// - Throws: ``StoreError``, such as `foreignKey` when other rows refer to it; nothing is deleted then.
    @discardableResult
    public func delete() throws -> Bool {
        try database.write(Self.self, "deleting") { try $0.delete(self) }
    }

    /// Deletes many rows in one transaction: all of them, or none.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: As ``delete()``, for the first row that cannot go, and ``StoreError/Code/otherDatabase`` for an object
    ///   of another database; no row is deleted then.
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

    /// True when the row is deleted, by whomever. Inside of a transaction that deleted it, at once; elsewhere from the commit
    /// on. A row that comes again under the same key makes it false again, and so does ``make(_:in:_:)`` with that key.
    public var isDeleted: Bool { rowState == .deleted }

    /// True when the row is there, as far as the calling thread can see.
    public var existsInDatabase: Bool { rowState == .persisted }

    /// Why the object could not follow the last change of its row: the row now holds a value that a property's type cannot
    /// take. nil when all is well.
    public var refreshError: StoreError? { _withState { $0.refreshError } }
}

extension WriteContext {
    func delete<M: Model>(_ object: M) throws -> Bool {
        do {
            let (fields, status) = try current(object)
            guard status == .present else { return false }
            try object.willDelete()
            // As in `update`: the hook may have gone on after the end of the transaction.
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
            throw error.during("deleting", table: M.schema.table)
        }
    }
}
