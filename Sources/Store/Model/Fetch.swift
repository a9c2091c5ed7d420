import Journal

extension Model {
    /// The live object of the row with this key; nil when there is no such row. An object that someone holds is found
    /// without a query.
    ///
    /// - Throws: ``StoreError``, as ``fetch(_:in:)`` does for this one row.
    public static func find(_ id: ID, in database: Database) throws -> Self? {
        if let object = try held(id, in: database) { return object }
        return try database.access { try $0.find(Self.self, id) }
    }

    /// The objects of the rows with these keys, in the order of `ids`; keys without a row are left out.
    ///
    /// Any number of keys: those whose objects are held need no query, the others one for each 500.
    ///
    /// - Throws: As ``fetch(_:in:)``: one row that does not decode fails all of it.
    public static func find(_ ids: some Sequence<ID>, in database: Database) throws -> [Self] {
        let ids = Array(ids)
        return try database.access { context in
            var found: [ExactKey: Self] = [:]
            var missing: [ID] = []
            for id in ids {
                if let object = try held(id, in: database) { found[id.exact] = object } else { missing.append(id) }
            }
            for condition in try KeyChunks<Self>(missing).conditions() {
                for object in try Query(condition).all(in: database) { found[object.id.exact] = object }
            }
            return ids.compactMap { found[$0.exact] }
        }
    }

    /// The objects of the rows with these keys, by key; keys without a row are left out.
    ///
    /// - Throws: As ``fetch(_:in:)``: one row that does not decode fails all of it.
    public static func keyed(_ ids: some Sequence<ID>, in database: Database) throws -> [ID: Self] {
        try Dictionary(find(ids, in: database).map { ($0.id, $0) }) { first, _ in first }
    }

    private static func held(_ id: ID, in database: Database) throws -> Self? {
        if database.isClosed {
            throw database.failed(StoreError.closed, operation: "finding", table: schema.table)
        }
        // What is found in memory was read too, for whoever wants to know of changes.
        ThreadContext.access(to: database)?.tracker?.note(table: schema.table)
        guard let object = database.instances(of: Self.self).cached(id),
            object._status == .present
        else { return nil }
        return object
    }

    /// The objects of the rows for which `condition` holds. Order and limit may follow it as SQL.
    ///
    /// ```swift
    /// try Person.where("name = \(name) ORDER BY age LIMIT 10", in: db)
    /// try Person.where("name = ? AND age > ?", name, 18, in: db)
    /// ```
    ///
    /// `$T` stands for the table, `$PK` for the primary key.
    ///
    /// - Throws: As ``fetch(_:in:)``.
    public static func `where`(
        _ condition: SQL, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> [Self] {
        try fetch("WHERE " + condition.binding(arguments), in: database)
    }

    /// All objects, optionally in an order: `Person.all(orderedBy: "name DESC, $PK", in: db)`.
    ///
    /// - Throws: As ``fetch(_:in:)``.
    public static func all(orderedBy order: SQL? = nil, in database: Database) throws -> [Self] {
        try fetch(order.map { "ORDER BY " + $0 } ?? "", in: database)
    }

    /// The first object of the rows for which `condition` holds; of all rows when it is left out.
    ///
    /// - Throws: As ``fetch(_:in:)``, for the first row alone.
    public static func first(
        _ condition: SQL? = nil, _ arguments: (any ColumnValue)?..., orderedBy order: SQL? = nil, in database: Database
    ) throws -> Self? {
        var tail: SQL = try condition.map { try "WHERE " + $0.binding(arguments) } ?? ""
        if let order { tail = tail + " ORDER BY " + order }
        // Read to the first row only: a LIMIT added as text could clash with one of the condition's own.
        let sql = SQL(raw: schema.select + " ") + tail.expanding(schema)
        return try database.access { context in
            try context.fetchObjects(Self.self, sql, limit: 1).first
        }
    }

    /// How many rows there are for which `condition` holds; all rows when it is left out.
    ///
    /// - Throws: ``StoreError`` for SQL and values that do not fit, as ``fetch(_:in:)``; rows are not decoded.
    public static func count(
        where condition: SQL? = nil, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> Int {
        let bound = try condition?.binding(arguments)
        let tail: SQL = bound.map { " WHERE " + $0 } ?? ""
        let sql = ("SELECT count(*) FROM $T" + tail).expanding(schema)
        return try database.value(Int.self, sql, operation: "counting", table: schema.table) ?? 0
    }

    /// The objects of the rows that `SELECT … FROM table` gives with this tail: WHERE, ORDER BY, LIMIT, joins.
    ///
    /// - Throws: ``StoreError``: `undecodable` for the first row with a value that its property's type cannot take;
    ///   `unstorable` for an argument or a key that SQLite cannot bind; `argumentCount` when `?` and values are not as
    ///   many; `sql`, `missingTable` or `missingColumn` for what does not fit the schema; `closed`. No object is
    ///   returned then, and objects that are held keep their values.
    public static func fetch(_ tail: SQL, in database: Database) throws -> [Self] {
        let sql = SQL(raw: schema.select + " ") + tail.expanding(schema)
        return try database.access { context in
            try context.fetchObjects(Self.self, sql)
        }
    }

    /// Reads the row again, whatever the journal says.
    ///
    /// - Returns: True when the row is there. When it is gone, the object is marked as deleted.
    /// - Throws: ``StoreError/Code/undecodable`` when the row holds a value that a property's type cannot take: the object keeps its
    ///   last values, and ``refreshError`` says the same. Other ``StoreError``s when the file cannot be read.
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
    /// Objects that are held follow, those of deleted rows are marked; inside of a transaction at once.
    ///
    /// - Returns: How many rows were changed.
    /// - Throws: ``StoreError``: the code of a constraint that refuses a row, `sql`, `argumentCount`, `unstorable`,
    ///   `transactionControl` for a `BEGIN` or the like, `writeInsideRead`, `readOnly`, `busy`, `closed`. Nothing is
    ///   changed then; a script of several statements is undone as a whole.
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
            throw error.during("finding", table: M.schema.table)
        }
    }
}

extension ValueModel {
    /// All rows of the struct's table, as values.
    ///
    /// - Throws: ``StoreError``: `missingColumn` when the table lacks the column of a property that needs one,
    ///   `undecodable` for the first value that its property's type cannot take, and what ``Model/fetch(_:in:)`` throws
    ///   for SQL.
    public static func all(orderedBy order: SQL? = nil, in database: Database) throws -> [Self] {
        try database.rows(as: Self.self, "SELECT * FROM $T" + (order.map { " ORDER BY " + $0 } ?? ""))
    }

    /// The rows for which `condition` holds, as values.
    ///
    /// - Throws: As ``all(orderedBy:in:)``, and ``StoreError/Code/argumentCount`` when `?` and values are not as many.
    public static func `where`(
        _ condition: SQL, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> [Self] {
        try database.rows(as: Self.self, "SELECT * FROM $T WHERE " + condition.binding(arguments))
    }
}
