import Journal

extension Model {
    /// Creates a row and returns its live object. See ``makeUnsaved(_:in:_:)`` for an object whose row is
    /// created later, and ``insertRows(from:in:_:)`` for rows without objects.
    ///
    /// The key is generated when it is not set (``makePrimaryKey()``).
    ///
    /// - Parameters:
    ///   - database: The database of the new row.
    ///   - fill: Sets the values. Properties that are not optional and have no default value must be set.
    /// - Throws: ``StoreError``: `missingValue`, `primaryKey`, `unique`, `notNull`, `check`, `foreignKey`,
    ///   `keyCollision` and others; what `fill` throws. No row and no object is created then.
    @discardableResult
    public static func create(in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }) throws -> Self {
        try database.write(Self.self, "creating") { try $0.create(Self.self, nil, fill) }
    }

    /// Creates a row with this key and returns its live object.
    ///
    /// - Throws: What ``create(in:_:)`` throws; `primaryKey` when a row with this key exists.
    @discardableResult
    public static func create(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        try database.write(Self.self, "creating") { try $0.create(Self.self, id, fill) }
    }

    /// Creates a row for each element, in one transaction: all of them, or none.
    ///
    /// - Returns: The objects, in the order of the elements.
    /// - Throws: What ``create(in:_:)`` throws, for the first row that cannot be created; no row is created
    ///   then.
    @discardableResult
    @inlinable
    public static func create<Elements: Sequence>(
        from elements: Elements, in database: Database, _ fill: (inout Fields, Elements.Element) throws -> Void
    ) throws -> [Self] {
        // Inlined for the reason given in `insertRows(from:in:_:)`.
        var iterator = elements.makeIterator()
        return try create(elements.underestimatedCount, in: database) { fields in
            guard let element = iterator.next() else { return false }
            try fill(&fields, element)
            return true
        }
    }

    /// Creates rows with their objects until there are no more.
    ///
    /// - Parameters:
    ///   - count: At least so many rows.
    ///   - fillNext: Fills the next row; returns false when there is none.
    @usableFromInline
    static func create(
        _ count: Int, in database: Database, _ fillNext: (inout Fields) throws -> Bool
    ) throws -> [Self] {
        do {
            return try database.transaction(operation: "creating", table: schema.table) {
                try database.write { try $0.create(Self.self, count, fillNext) }
            }
        } catch let error as StoreError {
            throw error.during("creating", table: schema.table)
        }
    }

    /// Creates a row for each element, in one transaction, without live objects: the fast way to load many
    /// rows.
    ///
    /// ```swift
    /// try Person.insertRows(from: names, in: db) { $0.name = $1 }
    /// ```
    ///
    /// Keys are generated and `willInsert` runs as in ``create(from:in:_:)``. `didInsert` does not run,
    /// because there is no object.
    ///
    /// - Returns: The number of rows created.
    /// - Throws: What ``create(in:_:)`` throws, for the first row that cannot be created; no row is created
    ///   then.
    @discardableResult
    @inlinable
    public static func insertRows<Elements: Sequence>(
        from elements: Elements, in database: Database, _ fill: (inout Fields, Elements.Element) throws -> Void
    ) throws -> Int {
        // Inlined because of the sequence: a step of a sequence whose type is not known at compile time costs
        // as much as binding a row.
        var iterator = elements.makeIterator()
        return try insertRows(in: database) { fields in
            guard let element = iterator.next() else { return false }
            try fill(&fields, element)
            return true
        }
    }

    /// Inserts rows until there are no more.
    ///
    /// - Parameter fillNext: Fills the next row; returns false when there is none.
    @usableFromInline
    static func insertRows(in database: Database, _ fillNext: (inout Fields) throws -> Bool) throws -> Int {
        do {
            return try database.transaction(operation: "inserting", table: schema.table) {
                try database.write { try $0.insert(Self.self, fillNext) }
            }
        } catch let error as StoreError {
            throw error.during("inserting", table: schema.table)
        }
    }

    /// Returns the object of the row with this key. When there is no such row, creates it with `fill`. See
    /// ``findOrMakeUnsaved(_:in:_:)`` for a row that is saved later.
    ///
    /// - Throws: What ``create(in:_:)`` throws for a new row, and what ``fetch(_:in:)`` throws for an
    ///   existing one. Nothing is written then.
    @discardableResult
    public static func findOrCreate(
        _ id: ID, in database: Database, _ fill: (inout Fields) throws -> Void = { _ in }
    ) throws -> Self {
        if let found = try find(id, in: database) { return found }
        return try database.write(Self.self, "creating") { context in
            // Another writer may have created the row before this transaction took the write lock.
            try context.find(Self.self, id) ?? context.create(Self.self, id, fill)
        }
    }
}

extension WriteContext {
    /// The number of generated keys that may be in use already before an insert fails.
    static let keyAttempts = 16

    func create<M: Model>(_ type: M.Type, _ id: M.ID?, _ fill: (inout M.Fields) throws -> Void) throws -> M {
        var fields = M.Fields()
        do {
            if let id { fields._key = id }
            try fill(&fields)
            return try insert(type, &fields)
        } catch let error as StoreError {
            throw error.during("creating", table: M.schema.table)
        }
    }

    fileprivate func create<M: Model>(
        _ type: M.Type, _ count: Int, _ fillNext: (inout M.Fields) throws -> Bool
    ) throws -> [M] {
        let instances = database.instances(of: type)
        // A sequence may have any number of elements, and end early.
        let count = min(count, 100_000)
        instances.reserve(count)
        var inserter = try RowInserter<M>(self)
        defer { inserter.finish() }
        var objects: [M] = []
        objects.reserveCapacity(count)
        undo.reserveCapacity(undo.count + count)
        afterCommit.reserveCapacity(afterCommit.count + count)
        while true {
            var fields = M.Fields()
            guard try fillNext(&fields) else { return objects }
            try inserter.insert(&fields)
            objects.append(created(fields, instances))
        }
    }

    fileprivate func insert<M: Model>(_ type: M.Type, _ fillNext: (inout M.Fields) throws -> Bool) throws -> Int {
        let instances = database.instances(of: type)
        var inserter = try RowInserter<M>(self)
        defer { inserter.finish() }
        var count = 0
        while true {
            var fields = M.Fields()
            guard try fillNext(&fields) else { return count }
            try inserter.insert(&fields)
            if instances.mayHold, let object = instances.cached(fields._key) { publishLater(object, fields) }
            count += 1
        }
    }

    private func insert<M: Model>(_ type: M.Type, _ fields: inout M.Fields) throws -> M {
        var inserter = try RowInserter<M>(self)
        defer { inserter.finish() }
        try inserter.insert(&fields)
        return created(fields, database.instances(of: type))
    }

    /// The object of a row that was just inserted.
    private func created<M: Model>(_ fields: M.Fields, _ instances: LiveInstances<M>) -> M {
        let (object, isNew) = instances.provisional(for: fields, in: database)
        if isNew { publishFirst(object, fields) } else { publishLater(object, fields) }
        afterCommit.append(HookCall(object: object, kind: .inserted))
        return object
    }

    /// Inserts the row of an object that was made in memory.
    func insert<M: Model>(_ object: M, _ fields: inout M.Fields) throws {
        let key = fields._key
        try M.willInsert(&fields)
        try requireAll(M.self, fields)
        fields._normalize()
        guard fields.exactKey == M.Fields._exact(key) else {
            throw StoreError(
                .keyChanged, "A hook cannot change the key of an object", hint: "Override `makePrimaryKey()`.")
        }
        var inserter = try RowInserter<M>(self)
        defer { inserter.finish() }
        try inserter.write(&fields, isMinted: false)
        publishLater(object, fields)
        afterCommit.append(HookCall(object: object, kind: .inserted))
    }

    func requireAll<M: Model>(_ type: M.Type, _ fields: M.Fields) throws {
        guard !fields._unset.isEmpty else { return }
        let missing = fields._unset.positions.map { M.schema.columns[$0] }
        let names = missing.map(\.property).joined(separator: ", ")
        if missing.count == 1 {
            throw StoreError(
                .missingValue, "\(names) was not set",
                hint: "Set it in the block, make it optional, or give it a default value.", column: missing[0].name)
        }
        throw StoreError(
            .missingValue, "\(names) were not set",
            hint: "Set them in the block, make them optional, or give them default values.")
    }

    /// Adds the column to the error of a value that could not be bound.
    func unstorable<M: Model>(_ type: M.Type, _ fields: M.Fields, _ error: any Error) -> any Error {
        guard error is ColumnMismatch else { return error }
        let column = M.schema.columns.indices.first { position in
            // Binds each column to a statement of its own to find the one that fails; this is cheap on an
            // error path.
            guard let probe = try? PreparedStatement(db, "SELECT ?") else { return false }
            return probe.run { probe in
                do {
                    try fields._bind(position, to: probe.parameters, at: 0)
                    return false
                } catch {
                    return true
                }
            }
        }
        return StoreError.unstorable(error, column: column.map { M.schema.columns[$0].name })
    }
}
