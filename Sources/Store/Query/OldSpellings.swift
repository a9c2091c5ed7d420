// Spellings of earlier releases. Each has one successor, which its deprecation names.

extension TableModel {
    /// The old spelling of `where` for a condition in SQL.
    ///
    /// - Parameter condition: What may follow WHERE.
    @available(*, deprecated, renamed: "where(_:)")
    public static func matching(_ condition: SQL) -> Query<Self> { Self.where(condition) }
}

extension Model {
    /// Returns the objects of the rows that meet a condition in SQL, which ORDER BY and LIMIT may follow.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE.
    ///   - arguments: The values of the `?` placeholders.
    ///   - database: The database of the rows.
    /// - Throws: What ``fetch(_:in:)`` throws.
    @available(*, deprecated, message: "write 'where(…).all(in: db)', with 'order' and 'limit' in place of their SQL")
    public static func `where`(
        _ condition: SQL, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> [Self] { try fetch("WHERE " + condition.binding(arguments), in: database) }

    /// Returns all objects in an order.
    ///
    /// - Parameters:
    ///   - order: What may follow ORDER BY; nil for no order.
    ///   - database: The database of the rows.
    /// - Throws: What ``fetch(_:in:)`` throws.
    @available(*, deprecated, message: "write 'query.order(.sql(…)).all(in: db)'")
    public static func all(orderedBy order: SQL?, in database: Database) throws -> [Self] {
        try fetch(order.map { "ORDER BY " + $0 } ?? "", in: database)
    }

    /// Returns the object of the first row that meets a condition in SQL.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE; nil for all rows.
    ///   - arguments: The values of the `?` placeholders.
    ///   - order: What may follow ORDER BY; nil for no order.
    ///   - database: The database of the rows.
    /// - Throws: What ``fetch(_:in:)`` throws; only the first row is decoded.
    @available(*, deprecated, message: "write 'where(…).first(in: db)', with 'order' in place of 'orderedBy'")
    public static func first(
        _ condition: SQL?, _ arguments: (any ColumnValue)?..., orderedBy order: SQL? = nil, in database: Database
    ) throws -> Self? { try first(condition?.binding(arguments), order, in: database) }

    /// Returns the object of the first of all rows in an order.
    ///
    /// - Parameters:
    ///   - order: What may follow ORDER BY; nil for no order.
    ///   - database: The database of the rows.
    /// - Throws: What ``fetch(_:in:)`` throws; only the first row is decoded.
    @available(*, deprecated, message: "write 'query.order(.sql(…)).first(in: db)'")
    public static func first(orderedBy order: SQL?, in database: Database) throws -> Self? {
        try first(nil, order, in: database)
    }

    private static func first(_ condition: SQL?, _ order: SQL?, in database: Database) throws -> Self? {
        var tail: SQL = condition.map { "WHERE " + $0 } ?? ""
        if let order { tail = tail + " ORDER BY " + order }
        // Reads only the first row. A LIMIT that is added as text could clash with one in the condition.
        let sql = SQL(raw: schema.select + " ") + tail.expanding(schema)
        return try database.access { try $0.fetchObjects(Self.self, sql, limit: 1).first }
    }

    /// Returns the number of rows that meet a condition in SQL.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE; nil for all rows.
    ///   - arguments: The values of the `?` placeholders.
    ///   - database: The database of the rows.
    /// - Throws: What ``fetch(_:in:)`` throws for the SQL and its values; rows are not decoded.
    @available(*, deprecated, message: "write 'where(…).count(in: db)'")
    public static func count(
        where condition: SQL?, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> Int {
        guard let condition else { return try query.count(in: database) }
        return try Query<Self>(.sql(condition, values: arguments)).count(in: database)
    }

    /// Makes an object in memory that is saved later.
    ///
    /// - Parameters:
    ///   - id: The key; nil to generate one.
    ///   - database: The database of the object.
    ///   - fill: Sets the values.
    /// - Throws: What ``makeUnsaved(_:in:_:)`` throws.
    @available(*, deprecated, renamed: "makeUnsaved(_:in:_:)")
    public static func make(
        _ id: ID? = nil, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self { try makeUnsaved(id, in: database, fill) }

    /// Returns the object of the row with this key, or an unsaved object with this key.
    ///
    /// - Parameters:
    ///   - id: The key.
    ///   - database: The database of the object.
    ///   - fill: Sets the values of an object that is made.
    /// - Throws: What ``findOrMakeUnsaved(_:in:_:)`` throws.
    @available(*, deprecated, renamed: "findOrMakeUnsaved(_:in:_:)")
    public static func findOrMake(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self { try findOrMakeUnsaved(id, in: database, fill) }

    /// Creates a row for each element, without live objects.
    ///
    /// - Parameters:
    ///   - elements: One element for each row.
    ///   - database: The database of the new rows.
    ///   - fill: Sets the values of a row from its element.
    /// - Returns: The number of rows created.
    /// - Throws: What ``insertRows(from:in:_:)`` throws.
    @available(*, deprecated, renamed: "insertRows(from:in:_:)")
    @discardableResult
    @inlinable
    public static func insert<Elements: Sequence>(
        from elements: Elements, in database: Database, _ fill: (inout Fields, Elements.Element) throws -> Void
    ) throws -> Int { try insertRows(from: elements, in: database, fill) }
}

extension ValueModel {
    /// Returns all rows of the struct's table in an order, as values.
    ///
    /// - Parameters:
    ///   - order: What may follow ORDER BY; nil for no order.
    ///   - database: The database of the rows.
    /// - Throws: What ``all(in:)`` throws.
    @available(*, deprecated, message: "write 'query.order(.sql(…)).all(in: db)'")
    public static func all(orderedBy order: SQL?, in database: Database) throws -> [Self] {
        try database.rows(as: Self.self, "SELECT * FROM $T" + (order.map { " ORDER BY " + $0 } ?? ""))
    }

    /// Returns the rows that meet a condition in SQL, which ORDER BY and LIMIT may follow, as values.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE.
    ///   - arguments: The values of the `?` placeholders.
    ///   - database: The database of the rows.
    /// - Throws: What ``all(in:)`` throws, and ``StoreError/Code/argumentCount`` when the numbers of `?` and
    ///   values differ.
    @available(*, deprecated, message: "write 'where(…).all(in: db)', with 'order' and 'limit' in place of their SQL")
    public static func `where`(
        _ condition: SQL, _ arguments: (any ColumnValue)?..., in database: Database
    ) throws -> [Self] {
        try database.rows(as: Self.self, "SELECT * FROM $T WHERE " + condition.binding(arguments))
    }
}
