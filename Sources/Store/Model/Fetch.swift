import Journal

extension Model {
    /// Returns the live object of the row with this key; nil when there is no such row. An object that is in
    /// memory is found without a query.
    ///
    /// - Throws: What ``fetch(_:in:)`` throws, for this row.
    public static func find(_ id: ID, in database: Database) throws -> Self? {
        if let object = try held(id, in: database) { return object }
        return try database.access { try $0.find(Self.self, id) }
    }

    /// Returns the objects of the rows with these keys, in the order of `ids`. Keys without a row are left
    /// out.
    ///
    /// The number of keys is not limited. Objects that are in memory need no query; the others take one query
    /// for each 500.
    ///
    /// - Throws: What ``fetch(_:in:)`` throws. One row that cannot be decoded fails the whole call.
    public static func find(_ ids: some Sequence<ID>, in database: Database) throws -> [Self] {
        let ids = Array(ids)
        return try database.access { context in
            var found: [ExactKey: Self] = [:]
            var missing: [ID] = []
            for id in ids {
                if let object = try held(id, in: database) {
                    found[Fields._exact(id)] = object
                } else {
                    missing.append(id)
                }
            }
            for condition in try KeyChunks<Self>(missing).conditions() {
                for object in try Query(condition).all(in: database) { found[object._exactKey] = object }
            }
            return ids.compactMap { found[Fields._exact($0)] }
        }
    }

    /// Returns the objects of the rows with these keys, by key. Keys without a row are left out.
    ///
    /// - Throws: What ``fetch(_:in:)`` throws. One row that cannot be decoded fails the whole call.
    public static func keyed(_ ids: some Sequence<ID>, in database: Database) throws -> [ID: Self] {
        try Dictionary(find(ids, in: database).map { ($0.id, $0) }) { first, _ in first }
    }

    private static func held(_ id: ID, in database: Database) throws -> Self? {
        if database.isClosed {
            throw database.failed(StoreError.closed, operation: "finding", table: schema.table)
        }
        // An object that is found in memory counts as a read for the tracker too.
        ThreadContext.access(to: database)?.tracker?.note(table: schema.table)
        guard let object = database.instances(of: Self.self).cached(id),
            (SnapshotReads.exist ? object.seen.status : object._status) == .present
        else { return nil }
        return object
    }

    /// Returns the objects of all rows; the short form of `query.all(in:)`.
    ///
    /// - Parameter database: The database of the rows.
    /// - Throws: ``StoreError``, as described at ``Query``.
    public static func all(in database: Database) throws -> [Self] { try query.all(in: database) }

    /// Returns the object of the first of all rows, nil without a row; the short form of `query.first(in:)`.
    ///
    /// - Parameter database: The database of the rows.
    /// - Throws: ``StoreError``, as described at ``Query``; further rows are not read.
    public static func first(in database: Database) throws -> Self? { try query.first(in: database) }

    /// Returns the number of all rows; the short form of `query.count(in:)`.
    ///
    /// - Parameter database: The database of the rows.
    /// - Throws: ``StoreError``, as described at ``Query``; rows are not decoded.
    public static func count(in database: Database) throws -> Int { try query.count(in: database) }

    /// Returns the objects of the rows of `SELECT … FROM table` with this tail in SQL: joins, WHERE, ORDER BY,
    /// LIMIT. For what a ``Query`` cannot say.
    ///
    /// - Throws: ``StoreError``: `undecodable` for the first row with a value that its property's type cannot
    ///   decode; `unstorable` for an argument or a key that SQLite cannot bind; `argumentCount` when the
    ///   numbers of `?` and values differ; `sql`, `missingTable` or `missingColumn` for SQL that does not fit
    ///   the schema; `closed`. No object is returned then, and objects in memory keep their values.
    public static func fetch(_ tail: SQL, in database: Database) throws -> [Self] {
        let sql = SQL(raw: schema.select + " ") + tail.expanding(schema)
        return try database.access { context in
            try context.fetchObjects(Self.self, sql)
        }
    }

    /// Reads the row again, even when the journal shows no change of it.
    ///
    /// - Returns: True when the row exists. When it does not, the object is marked as deleted.
    /// - Throws: ``StoreError/Code/undecodable`` when the row holds a value that a property's type cannot
    ///   decode: the object keeps its last values, and ``refreshError`` holds the same error. Other
    ///   ``StoreError``s when the file cannot be read.
    @discardableResult
    public func reload() throws -> Bool {
        var due: Publication?
        try database.access { context in
            if let write = context as? WriteContext {
                try RefreshableObject<Self>(object: self).refresh(in: write)
            } else {
                let publication = Publication(database)
                try RefreshableObject<Self>(object: self).refresh(
                    context.db, asOf: JournalReader.lastSeq(context.db), publication)
                (context as? ReadContext)?.adopted(self)
                due = publication
            }
        }
        due?.announce()
        if let error = refreshError { throw error }
        return existsInDatabase
    }

    /// Runs SQL on the model's table, with `$T` for the table and `$PK` for the primary key.
    ///
    /// ```swift
    /// try Person.execute("UPDATE $T SET name = ? WHERE $PK = ?", "Robert", id, in: db)
    /// ```
    ///
    /// Live objects follow, and objects of deleted rows are marked as deleted; inside a transaction, the
    /// transaction's own thread sees this at once.
    ///
    /// - Returns: The number of changed rows.
    /// - Throws: ``StoreError``: the code of a constraint that refuses a row, `sql`, `argumentCount`,
    ///   `unstorable`, `transactionControl` for `BEGIN` and similar statements, `writeInsideRead`,
    ///   `readOnly`, `busy`, `closed`. Nothing is changed then; a script of several statements is undone as a
    ///   whole.
    @discardableResult
    public static func execute(
        _ sql: SQL, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> Int {
        try database.execute(sql.binding(arguments).expanding(schema), operation: "executing SQL", table: schema.table)
    }
}

extension AccessContext {
    func find<M: Model>(_ type: M.Type, _ id: M.ID) throws -> M? {
        do {
            tracker?.note(table: M.schema.table)
            database.counters.countQuery()
            guard let row = try M.select(id, db) else { return nil }
            return try objects(for: [row], of: type).first
        } catch let error as StoreError {
            throw error.during("finding", table: M.schema.table).of(M.self, id)
        }
    }
}

extension ValueModel {
    /// Returns all rows of the struct's table, as values; the short form of `query.all(in:)`.
    ///
    /// - Parameter database: The database of the rows.
    /// - Throws: ``StoreError``, as described at ``Query``; also `missingColumn` when the table lacks the
    ///   column of a property that has no default value.
    public static func all(in database: Database) throws -> [Self] { try query.all(in: database) }
}
