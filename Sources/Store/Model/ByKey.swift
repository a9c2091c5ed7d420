import Journal

extension Model {
    /// Returns the live object of the row with this key, which must exist. An object that is in memory is
    /// found without a query.
    ///
    /// - Throws: ``StoreError/Code/noSuchRow`` when there is no such row, and what ``fetch(_:in:)`` throws.
    public static func require(_ id: ID, in database: Database) throws -> Self {
        if let object = try find(id, in: database) { return object }
        throw database.failed(
            StoreError(.noSuchRow, "No row has this key", hint: "Call `find` for a row that may be missing.")
                .of(Self.self, id),
            operation: "finding", table: schema.table)
    }

    /// Returns true when a row has this key, as seen by the calling thread. The row is not decoded.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a key that its coding cannot store, and what
    ///   ``Query/isEmpty(in:)`` throws.
    public static func exists(_ id: ID, in database: Database) throws -> Bool {
        try KeyChunks<Self>([id]).conditions().contains { try !Query($0).isEmpty(in: database) }
    }

    /// Deletes the row with this key, as ``delete()`` of its object does: hooks run.
    ///
    /// - Returns: True when the row existed.
    /// - Throws: What ``fetch(_:in:)`` and ``delete()`` throw; nothing is deleted then.
    @discardableResult
    public static func delete(_ id: ID, in database: Database) throws -> Bool {
        try database.transaction(operation: "deleting", table: schema.table) {
            try find(id, in: database)?.delete() ?? false
        }
    }
}
