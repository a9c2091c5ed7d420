import Journal

/// The SQL text of the statements that models themselves run, for programs that prepare their own. Values
/// bind in the order of ``ModelSchema/columns``. An UPDATE binds the named columns in the order given, then
/// the key.
///
/// ```swift
/// Person.insertSQL                    // INSERT OR ABORT INTO "Person" ("id", "name") VALUES (?, ?)
/// try Person.updateSQL("name")        // UPDATE OR ABORT "Person" SET "name" = ? WHERE "Person"."id" = ?
/// let row = try bob.upsertStatement() // the same with bob's values: a value of type SQL
/// ```
extension Model {
    /// Selects all columns of every row, qualified by the table's name. The caller may append WHERE or ORDER
    /// BY.
    public static var selectSQL: String { schema.select }
    /// Inserts a row. A duplicate key or UNIQUE value is an error, even when the table declares another
    /// conflict clause.
    public static var insertSQL: String { schema.insert }
    /// Deletes the row whose key is bound, in the order of the key.
    public static var deleteSQL: String { schema.delete }

    /// Inserts a row, or updates the row that has its key. A conflict on another UNIQUE column is an error,
    /// even when the table declares another conflict clause. A row that already has these values is not
    /// written.
    public static var upsertSQL: String { schema.upsert }

    /// Updates columns of the row whose key is bound last.
    ///
    /// - Parameter columns: Names of properties or columns. Without names, all columns except the key.
    /// - Throws: ``StoreError/Code/missingColumn`` for a name that the model does not have.
    public static func updateSQL(_ columns: String...) throws -> String { schema.update(try positions(columns)) }

    private static func positions(_ names: [String]) throws -> [Int] {
        if names.isEmpty { return schema.columns.indices.filter { !schema.key.contains($0) } }
        return try names.map { name in
            let column = try schema.columnName(of: name)
            return schema.columns.firstIndex { $0.name == column } ?? 0
        }
    }

    /// ``insertSQL`` with the values of this object.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a value that cannot be stored.
    public func insertStatement() throws -> SQL { try bound(Self.insertSQL, Array(Self.schema.columns.indices)) }

    /// ``upsertSQL`` with the values of this object.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a value that cannot be stored.
    public func upsertStatement() throws -> SQL { try bound(Self.upsertSQL, Array(Self.schema.columns.indices)) }

    /// ``updateSQL(_:)`` with the values of this object.
    ///
    /// - Throws: ``StoreError/Code/missingColumn`` for a name that the model does not have;
    ///   ``StoreError/Code/unstorable`` for a value that cannot be stored.
    public func updateStatement(_ columns: String...) throws -> SQL {
        let positions = try Self.positions(columns)
        return try bound(Self.schema.update(positions), positions + Self.schema.key)
    }

    /// ``deleteSQL`` with the key of this object.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for a value that cannot be stored.
    public func deleteStatement() throws -> SQL { try bound(Self.deleteSQL, Self.schema.key) }

    private func bound(_ text: String, _ columns: [Int]) throws -> SQL {
        let values = try encodedValues
        return try SQL(raw: text).binding(columns.map { values[Self.schema.columns[$0].name] ?? .null })
    }
}
