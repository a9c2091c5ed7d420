import Journal

extension Model {
    /// Changes the row: `edit` receives its values, and the values that `edit` changes are written.
    ///
    /// ```swift
    /// try bob.save { $0.name = "Robert" }
    /// ```
    ///
    /// Only changed columns are written, in one UPDATE; nothing is written when no value changed. `edit`
    /// starts from the last committed values of any writer and runs while the write lock is held, so
    /// `$0.count += 1` never loses an update.
    ///
    /// - Returns: True when something was written.
    /// - Throws: ``StoreError``: `deleted` when the row is deleted; `keyChanged` when `edit` changes the key;
    ///   the code of a constraint that refuses the values, with the column where it is known; `unstorable`
    ///   for a value that its column cannot hold; `writeInsideRead`, `readOnly`, `busy`, `closed`; for an
    ///   object that was never saved also what ``create(in:_:)`` throws. Also what `edit` and the model's
    ///   `willUpdate` throw. The objects and the file are unchanged then. Everything that `edit` or the hook
    ///   wrote is undone too, even inside a transaction that continues.
    @discardableResult
    public func save(_ edit: (inout Fields) throws -> Void) throws -> Bool {
        try database.write(Self.self, "saving") { try $0.save(self, edit) }
    }

    /// Changes many rows in one transaction: all of them, or none.
    ///
    /// - Returns: The number of rows written.
    /// - Throws: What ``save(_:)`` throws, for the first object that cannot be saved, and
    ///   ``StoreError/Code/otherDatabase`` for an object of another database; no row is changed then.
    @discardableResult
    public static func save(
        _ objects: some Sequence<Self>, in database: Database, _ edit: (inout Fields) throws -> Void
    ) throws -> Int {
        try database.transaction {
            try database.write(Self.self, "saving") { context in
                var written = 0
                for object in objects where try context.save(object, edit) { written += 1 }
                return written
            }
        }
    }
}

extension Model {
    /// Changes the row with this key: finds it and saves it in one transaction.
    ///
    /// ```swift
    /// try Person.modify(id, in: db) { $0.visits += 1 }
    /// ```
    ///
    /// - Returns: The object; nil when there is no such row, and `edit` is not called then.
    /// - Throws: What ``save(_:)`` throws, and ``StoreError/Code/undecodable`` for a row that the model
    ///   cannot decode; nothing is changed then.
    @discardableResult
    public static func modify(
        _ id: ID, in database: Database, _ edit: (inout Fields) throws -> Void
    ) throws -> Self? {
        try database.write(Self.self, "saving") { context in
            guard let object = try context.database.instances(of: Self.self).cached(id) ?? context.find(Self.self, id)
            else { return nil }
            guard try context.current(object).status == .present else { return nil }
            try context.save(object, edit)
            return object
        }
    }
}

extension WriteContext {
    @discardableResult
    func save<M: Model>(_ object: M, _ edit: (inout M.Fields) throws -> Void) throws -> Bool {
        do {
            let (base, status) = try values(of: object)
            var draft = base
            try edit(&draft)
            try checkKey(draft, is: base, in: M.schema)
            if status == .new {
                try insert(object, &draft)
                return true
            }
            draft._normalize()
            let edited = draft._changes(from: base)
            // The block may have saved the same object itself; those changes stay.
            let (now, _) = try values(of: object)
            var fields = now
            fields._take(edited, from: draft)
            fields._takeTransient(from: draft)
            var changes = fields._changes(from: now)
            if !changes.isEmpty {
                try object.willUpdate(&fields)
                fields._normalize()
                try checkKey(fields, is: now, in: M.schema)
                changes = fields._changes(from: now)
            }
            if !changes.isEmpty { try update(object, fields, changes) }
            publishLater(object, fields)
            if !changes.isEmpty {
                afterCommit.append(HookCall(object: object, kind: .updated(Set(M.schema.names(changes)))))
            }
            return !changes.isEmpty
        } catch let error as StoreError {
            throw error.during("saving", table: M.schema.table).of(M.self, object._withState { $0.fields._key })
        }
    }

    /// The values from which a save starts: those of the row, or the object's own values when it was never
    /// saved.
    private func values<M: Model>(of object: M) throws -> (fields: M.Fields, status: RowStatus) {
        let (fields, status) = try current(object)
        guard status != .deleted else {
            throw StoreError(.deleted, "The row is deleted", hint: "Check `isDeleted`, or create the row again.")
        }
        return (fields, status)
    }

    private func checkKey<Fields: ModelFields>(_ new: Fields, is old: Fields, in schema: ModelSchema) throws {
        guard new.exactKey != old.exactKey else { return }
        throw StoreError(
            .keyChanged, "The primary key of a row cannot be changed by a save",
            hint: "Create a row with the new key, and delete this one.",
            column: schema.key.first.map { schema.columns[$0].name })
    }

    private func update<M: Model>(_ object: M, _ fields: M.Fields, _ changes: ColumnSet) throws {
        // The block or the hook may have caught an error after which SQLite had ended the transaction. The
        // UPDATE would then run in a transaction of its own.
        try checkOpen()
        let columns = changes.positions
        let touched = try PreparedStatement(db, M.schema.update(columns)).run { statement -> Int in
            do {
                for (parameter, column) in columns.enumerated() {
                    try fields._bind(column, to: statement.parameters, at: parameter)
                }
                try M.Fields._bindKey(fields._key, to: statement.parameters, at: columns.count)
            } catch {
                throw unstorable(M.self, fields, error)
            }
            let before = statement.totalChanges
            do { _ = try statement.step() } catch { throw located(error, M.self, fields) }
            return statement.totalChanges - before
        }
        if touched == 0 {
            // Only in a table without capture can a row be deleted unnoticed.
            show(object, nil, status: .deleted)
            throw StoreError(
                .deleted, "The row does not exist any more", hint: "Check `isDeleted`, or create the row again.")
        }
        try wrote(M.self, fields._key, .update, columns: M.schema.names(changes), rowsTouched: touched)
    }
}
