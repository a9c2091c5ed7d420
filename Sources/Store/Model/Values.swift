extension Model {
    /// A snapshot of the values, as seen by the calling thread: a struct that does not change with the row.
    ///
    /// All properties in it are of one state of the row, while two properties that are read one after the
    /// other can be of two. Observers of `values` are notified after each commit that changes the object.
    ///
    /// ```swift
    /// let now = account.values
    /// print(now.balance - now.reserved)
    /// ```
    public var values: Fields {
        _observeValues()
        return seen.fields
    }

    /// True when the two are one object.
    public static func == (a: Self, b: Self) -> Bool { a === b }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The model's name with the values by property, for people: `Person(id: 7, name: "Bob", age: nil)`. It
    /// is no read for observers.
    public var description: String { seen.fields.description }
}

extension Query where M: Model {
    /// Returns the values of the rows, all from one snapshot, without making objects.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(Person.query.order(by: \.name).values(in: db))
    /// ```
    ///
    /// - Throws: ``StoreError``, as described at ``Query``.
    public func values(in database: Database) throws -> [M.Fields] {
        let sql = try select(SQL(raw: M.schema.selection(from: M.schema.quotedTable)))
        return try database.access { try $0.fetch(M.self, sql, operation: "fetching") }
    }
}
