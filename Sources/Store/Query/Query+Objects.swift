import Journal

extension Query where M: Model {
    private static var selection: SQL { SQL(raw: M.schema.selection(from: M.schema.quotedTable)) }

    /// Returns the live objects of the rows.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``.
    public func all(in database: Database) throws -> [M] {
        let sql = try select(Query.selection)
        return try database.access { context in
            try context.fetchObjects(M.self, sql)
        }
    }

    /// Returns the live object of the first row; nil when there is none.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; further rows are not read.
    public func first(in database: Database) throws -> M? {
        guard M.unreadableRows == .skip else { return try firstRow.all(in: database).first }
        let sql = try select(Query.selection)
        return try database.access { try $0.fetchObjects(M.self, sql, limit: 1).first }
    }

    /// Returns the live objects by key.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``.
    public func keyed(in database: Database) throws -> [M.ID: M] {
        try Dictionary(all(in: database).map { ($0.id, $0) }) { first, _ in first }
    }

    /// Returns the keys of the rows, in the order of the query, without making objects.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; `undecodable` only for keys, because other
    ///   columns are not read.
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
    /// Every column that the table has: a property whose column is missing takes its default value.
    static var everyColumn: SQL { SQL(raw: "\(M.schema.quotedTable).*") }

    /// Returns the rows as values.
    ///
    /// - Throws: ``StoreError``, as described at ``Query``; also `missingColumn` when the table lacks the
    ///   column of a property that has no default value.
    public func all(in database: Database) throws -> [M] {
        try database.rows(as: M.self, select(Query.everyColumn), table: M.schema.table)
    }

    /// Returns the first row; nil when there is none.
    ///
    /// - Throws: What `all(in:)` throws; further rows are not read.
    public func first(in database: Database) throws -> M? {
        try (M.unreadableRows == .skip ? self : firstRow).all(in: database).first
    }
}
