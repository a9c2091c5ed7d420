import Journal

extension Query where M: Model {
    private static var selection: SQL { SQL(raw: M.schema.selection(from: M.schema.quotedTable)) }

    /// The live objects of the rows.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says.
    public func all(in database: Database) throws -> [M] {
        let sql = try select(Query.selection)
        return try database.access { context in
            try context.fetchObjects(M.self, sql)
        }
    }

    /// The live object of the first row; nil when there is none.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says; further rows are not read.
    public func first(in database: Database) throws -> M? { try firstRow.all(in: database).first }

    /// The live objects by their keys.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says.
    public func keyed(in database: Database) throws -> [M.ID: M] {
        try Dictionary(all(in: database).map { ($0.id, $0) }) { first, _ in first }
    }

    /// The keys of the rows, in their order. No object is made.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `undecodable` for a key alone: the other columns are not read.
    public func ids(in database: Database) throws -> [M.ID] {
        let sql = try select(SQL(raw: M.schema.keyList(from: M.schema.quotedTable)))
        let count = M.schema.key.count
        return try database.list(sql, operation: "fetching keys", table: M.schema.table) { statement in
            try M.key(in: statement.values, count: count)
        }
    }
}

extension Model {
    /// Reads a key from the first columns of a row.
    static func key(in values: [Value], count: Int) throws -> ID {
        do {
            return try Fields._key(of: KeyValues(values: Array(values.prefix(count))))
        } catch {
            throw StoreError.undecodable(column: schema.key.first.map { schema.columns[$0].name }, error)
        }
    }
}

extension Query where M: ValueModel {
    /// The rows as values.
    ///
    /// - Throws: ``StoreError``, as ``Query`` says, with `missingColumn` when the table lacks the column of a property
    ///   that needs one.
    public func all(in database: Database) throws -> [M] {
        // Every column that there is: one that the table lacks leaves the property's default value.
        try database.rows(as: M.self, select(SQL(raw: "\(M.schema.quotedTable).*")))
    }

    /// The first row; nil when there is none.
    ///
    /// - Throws: As `all(in:)`; further rows are not read.
    public func first(in database: Database) throws -> M? { try firstRow.all(in: database).first }
}
