import Journal

extension Database {
    /// The value that `compute` made last under `key`; computed anew when something that it read has changed since.
    ///
    /// What it reads is found out while it runs: tables and columns of every query, raw SQL and joins included. A commit of
    /// anyone who changes them, also of another process or machine, drops the value before its events are delivered. Inside of
    /// a transaction, and of a read, which see a moment of their own, nothing is cached. A failure is not cached.
    ///
    /// ```swift
    /// let total = try db.cached("total") { try Person.query.sum(\.age, in: db) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: Names the computation, together with the type of its value. Two that differ need two keys.
    ///   - ignored: Columns, of whatever table, whose updates do not drop the value.
    ///   - compute: Makes the value, from what it reads in this database alone.
    /// - Throws: What `compute` throws, and ``StoreError/Code/closed``. What is cached stays as it was.
    public func cached<T: Sendable>(
        _ key: some Hashable & Sendable, ignoringColumns ignored: Set<String> = [], _ compute: () throws -> T
    ) throws -> T {
        try cached(CacheKey(key, ObjectIdentifier(T.self)), ignoring: ignored) { try tracked(compute) }
    }

    func cached<T: Sendable>(
        _ key: CacheKey, ignoring ignored: Set<String>, _ compute: () throws -> (value: T, region: ReadRegion)
    ) throws -> T {
        guard ThreadContext.access(to: self) == nil else { return try compute().value }
        if isClosed { throw failed(StoreError.closed, operation: "reading") }
        if let known = cache.value(key, as: T.self) { return known }
        let commits = dependents.commits
        let (value, region) = try compute()
        let folded = Set(ignored.map { SQLText.foldedName($0) })
        cache.store(value, for: key, region: region, ignoring: folded) { dependents.commits == commits }
        return value
    }

    /// Runs `compute` on one snapshot, and tells what it has read.
    func tracked<T>(_ compute: () throws -> T) throws -> (value: T, region: ReadRegion) {
        try access { context in
            let outer = context.tracker
            let tracker = RegionTracker()
            context.tracker = tracker
            defer { context.tracker = outer }
            let value = try compute()
            outer?.merge(tracker.region)
            return (value, tracker.region)
        }
    }
}

extension Query where M: Model {
    /// The live objects of the rows, as they were found last. They are asked for again only after a commit that may have changed
    /// which they are, or their order: an insert, a delete, or an update of a column that the query chooses or orders by. The
    /// objects' own values follow anyway.
    ///
    /// ```swift
    /// let old = try Person.where(\.age > 60).order(by: \.name).cached(ignoring: [\.name], in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - ignored: Columns whose updates leave the result as it is.
    ///   - database: Where the rows are.
    /// - Throws: ``StoreError``, as ``Query`` says. What is cached stays as it was.
    public func cached(ignoring ignored: [PartialKeyPath<M.Columns>] = [], in database: Database) throws -> [M] {
        let keys = try select(SQL(raw: M.schema.keyList(from: M.schema.quotedTable)))
        let values = try keys.bindings.map { try $0.columnValue }
        let names = M.names(of: ignored)
        let key = CacheKey("query", ObjectIdentifier(M.self), keys.text, values, names)
        return try database.cached(key, ignoring: names) {
            try database.access { context in
                // Not run: what it reads is what the choice and the order of the rows depend on.
                let tracker = RegionTracker()
                tracker.note(try context.prepare(keys.text).region)
                return (try all(in: database), tracker.region)
            }
        }
    }
}
