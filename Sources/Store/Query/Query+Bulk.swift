import Journal

extension Query where M: Model {
    /// Updates all the rows in one statement. Objects that are held follow; hooks of the model do not run.
    ///
    /// ```swift
    /// try Person.where(\.age < 18).update(.set(\.age, to: \.age + 1), .set(\.name, to: "young"), in: db)
    /// ```
    ///
    /// - Returns: How many rows the condition met; one whose values did not change is not journalled.
    /// - Throws: ``StoreError``: the code of a constraint that refuses a row, `unstorable` for a value that its column
    ///   cannot hold, `sql` without an assignment; `writeInsideRead`, `readOnly`, `busy`, `closed`; and as ``Query``
    ///   says for the condition. Nothing is changed then.
    @discardableResult
    public func update(_ assignments: Assignment<M>..., in database: Database) throws -> Int {
        try update(assignments, in: database)
    }

    func update(_ assignments: [Assignment<M>], in database: Database) throws -> Int {
        // ABORT is spelled out because it overrides a conflict clause in the schema: REPLACE would delete other rows.
        let sql =
            try SQL(raw: "UPDATE OR ABORT \(M.schema.quotedTable) SET ") + Assignment.list(assignments) + target()
        return try database.execute(sql, operation: "updating", table: M.schema.table)
    }

    /// Deletes all the rows in one statement. Objects that are held are marked; hooks of the model do not run.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: ``StoreError``: `foreignKey` when other rows refer to one of them, and what ``update(_:in:)`` throws
    ///   for the condition and the transaction. Nothing is deleted then.
    @discardableResult
    public func delete(in database: Database) throws -> Int {
        let sql = try SQL(raw: "DELETE FROM \(M.schema.quotedTable)") + target()
        return try database.execute(sql, operation: "deleting", table: M.schema.table)
    }
}

extension Model {
    /// Updates the rows with these keys, any number of them, in one transaction.
    ///
    /// ```swift
    /// try Person.update(ids: ids, .set(\.age, to: \.age + 1), in: db)
    /// ```
    ///
    /// - Returns: How many rows were there.
    /// - Throws: As ``Query/update(_:in:)``, and ``StoreError/Code/unstorable`` for a key that its coding cannot store.
    ///   Nothing is changed then.
    @discardableResult
    public static func update(
        ids: some Sequence<ID>, _ assignments: Assignment<Self>..., in database: Database
    ) throws -> Int {
        try inChunks(ids, in: database) { try Query<Self>($0).update(assignments, in: database) }
    }

    /// Deletes the rows with these keys, any number of them, in one transaction.
    ///
    /// - Returns: How many rows were there.
    /// - Throws: As ``Query/delete(in:)``, and ``StoreError/Code/unstorable`` for a key that its coding cannot store.
    ///   Nothing is deleted then.
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
