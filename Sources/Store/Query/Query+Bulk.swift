import Journal

extension Query where M: Model {
    /// Updates all rows of the query in one statement. Live objects follow; the model's hooks do not run.
    ///
    /// ```swift
    /// try Person.where(\.age < 18).update(.set(\.age, to: \.age + 1), .set(\.name, to: "young"), in: db)
    /// ```
    ///
    /// - Returns: The number of rows that met the condition. Rows whose values did not change are not
    ///   journalled.
    /// - Throws: ``StoreError``: the code of a constraint that refuses a row; `unstorable` for a value that
    ///   its column cannot hold; `sql` without an assignment; `writeInsideRead`, `readOnly`, `busy`,
    ///   `closed`; for the condition, the errors described at ``Query``. Nothing is changed then.
    @discardableResult
    public func update(_ assignments: Assignment<M>..., in database: Database) throws -> Int {
        try update(assignments, in: database)
    }

    func update(_ assignments: [Assignment<M>], in database: Database) throws -> Int {
        // An explicit ABORT overrides a conflict clause in the schema: REPLACE would delete other rows.
        let sql: SQL
        do {
            sql = try SQL(raw: "UPDATE OR ABORT \(M.schema.quotedTable) SET ") + Assignment.list(assignments) + target()
        } catch let error as StoreError {
            throw error.during("updating", table: M.schema.table)
        }
        return try database.execute(sql, operation: "updating", table: M.schema.table)
    }

    /// Deletes all rows of the query in one statement. Live objects are marked as deleted; the model's hooks
    /// do not run.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: ``StoreError``: `foreignKey` when other rows refer to one of them, and what
    ///   ``update(_:in:)`` throws for the condition and the transaction. Nothing is deleted then.
    @discardableResult
    public func delete(in database: Database) throws -> Int {
        let sql = try SQL(raw: "DELETE FROM \(M.schema.quotedTable)") + target()
        return try database.execute(sql, operation: "deleting", table: M.schema.table)
    }
}

extension Model {
    /// Updates the rows with these keys in one transaction. The number of keys is not limited.
    ///
    /// ```swift
    /// try Person.update(ids: ids, .set(\.age, to: \.age + 1), in: db)
    /// ```
    ///
    /// - Returns: How many rows were there.
    /// - Throws: What ``Query/update(_:in:)`` throws, and ``StoreError/Code/unstorable`` for a key that its
    ///   coding cannot store. Nothing is changed then.
    @discardableResult
    public static func update(
        ids: some Sequence<ID>, _ assignments: Assignment<Self>..., in database: Database
    ) throws -> Int {
        try inChunks(ids, in: database) { try Query<Self>($0).update(assignments, in: database) }
    }

    /// Deletes the rows with these keys in one transaction. The number of keys is not limited.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: What ``Query/delete(in:)`` throws, and ``StoreError/Code/unstorable`` for a key that its
    ///   coding cannot store. Nothing is deleted then.
    @discardableResult
    public static func delete(ids: some Sequence<ID>, in database: Database) throws -> Int {
        try inChunks(ids, in: database) { try Query<Self>($0).delete(in: database) }
    }

    private static func inChunks(
        _ ids: some Sequence<ID>, in database: Database, _ body: (Condition<Self>) throws -> Int
    ) throws -> Int {
        let chunks = KeyChunks<Self>(ids)
        return try database.transaction {
            var changed = 0
            for condition in try chunks.conditions() { changed += try body(condition) }
            return changed
        }
    }
}
