import Journal

extension Model {
    /// Inserts a row, or updates the existing row with its key: `INSERT … ON CONFLICT (key) DO UPDATE`.
    ///
    /// An existing row takes all the values, including those left at their defaults; unchanged columns are
    /// not journalled. Only a row with the same key is changed: a value that another row holds in a unique
    /// column is an error, and that row stays. The model's hooks do not run.
    ///
    /// ```swift
    /// let bob = try Person.upsert(7, in: db) { $0.name = "Bob" }
    /// ```
    ///
    /// - Throws: ``StoreError/Code/unique`` and other constraint errors; nothing is changed then.
    @discardableResult
    public static func upsert(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void
    ) throws -> Self {
        var fields = Fields()
        fields._key = id
        do { try fill(&fields) } catch let error as StoreError {
            throw error.during("upserting", table: schema.table).of(Self.self, id)
        }
        guard let object = try upsert([fields], in: database).first else {
            throw StoreError(
                .deleted, "The row does not exist after it was written", hint: "Check the table's triggers.")
        }
        return object
    }

    /// Inserts or updates a row for each element, in one transaction. `fill` also sets the key.
    ///
    /// - Returns: The objects, in the order of the elements.
    /// - Throws: What ``upsert(_:in:_:)`` throws, and ``StoreError/Code/missingValue``, for the first element
    ///   that cannot be written; no row is changed then.
    @discardableResult
    public static func upsert<Elements: Sequence>(
        from elements: Elements, in database: Database, _ fill: (inout Fields, Elements.Element) throws -> Void
    ) throws -> [Self] {
        let rows = try elements.map { element in
            var fields = Fields()
            try fill(&fields, element)
            return fields
        }
        return try upsert(rows, in: database)
    }

    private static func upsert(_ rows: [Fields], in database: Database) throws -> [Self] {
        do {
            return try database.write(operation: "upserting", table: schema.table) { context in
                try context.inSavepoint {
                    try context.confirm()
                    for var fields in rows {
                        do {
                            try context.requireAll(Self.self, fields)
                            fields._normalize()
                            try context.upsert(Self.self, fields)
                        } catch let error as StoreError {
                            let hasKey = schema.key.allSatisfy { !fields._unset.contains($0) }
                            throw hasKey ? error.of(Self.self, fields._key) : error
                        }
                    }
                    try context.absorb()
                    return try find(rows.map(\._key), in: database)
                }
            }
        } catch let error as StoreError {
            throw error.during("upserting", table: schema.table)
        }
    }
}

extension WriteContext {
    fileprivate func upsert<M: Model>(_ type: M.Type, _ fields: M.Fields) throws {
        try PreparedStatement(db, M.schema.upsert).run { statement in
            do {
                try fields._bindAll(to: statement.parameters)
            } catch {
                throw unstorable(type, fields, error)
            }
            do { _ = try statement.step() } catch { throw located(error, type, fields) }
        }
    }
}

extension ModelSchema {
    /// The statement that inserts a row, or updates the row with the same key when a value differs.
    ///
    /// ABORT in the INSERT overrides a conflict clause in the schema: REPLACE would delete other rows. A
    /// conflict on a unique index other than the key's is an error (https://sqlite.org/lang_upsert.html).
    var upsert: String {
        let others = columns.indices.filter { !key.contains($0) }
        let target = key.map { quotedColumns[$0] }.joined(separator: ", ")
        let assignments = others.map { "\(quotedColumns[$0]) = excluded.\(quotedColumns[$0])" }.joined(separator: ", ")
        let differences = others.map { "\(qualified($0, by: quotedTable)) IS NOT excluded.\(quotedColumns[$0])" }
        return "\(insert) ON CONFLICT (\(target)) DO "
            + (others.isEmpty
                ? "NOTHING" : "UPDATE SET \(assignments) WHERE \(differences.joined(separator: " OR "))")
    }
}
