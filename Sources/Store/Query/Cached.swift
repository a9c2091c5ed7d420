import Journal

extension Database {
    /// Returns the cached value of `compute` under `key`, and computes it again when something that it read
    /// has changed.
    ///
    /// The tables and columns that it reads are recorded while it runs, including those of raw SQL and joins,
    /// and the tables of the objects whose properties it reads.
    /// A commit of any thread, process or machine that changes them drops the value before its events are
    /// delivered. Nothing is cached inside a transaction or a read, which see their own snapshot. Errors are
    /// not cached.
    ///
    /// ```swift
    /// let total = try db.cached("total") { try Person.query.sum(\.age, in: db) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: Identifies the computation, together with the type of its value. Different computations need
    ///     different keys.
    ///   - ignored: Columns, of any table, whose updates do not drop the value.
    ///   - compute: Computes the value only from what it reads in this database.
    /// - Throws: What `compute` throws, and ``StoreError/Code/closed``. The cached value is unchanged then.
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

    /// Runs `compute` on one snapshot, and returns its value and what it has read.
    func tracked<T>(_ compute: () throws -> T) throws -> (value: T, region: ReadRegion) {
        try access(showingSnapshot: true) { context in
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
    /// Returns the live objects of the rows from the cache. The query runs again only after a commit that may
    /// have changed the set of rows or their order: an insert, a delete, or an update of a column by which
    /// the query selects or orders. The objects' own values follow every commit.
    ///
    /// ```swift
    /// let old = try Person.where(\.age > 60).order(by: \.name).cached(ignoring: [\.name], in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - ignored: Columns whose updates do not drop the result.
    ///   - database: The database of the rows.
    /// - Throws: ``StoreError``, as described at ``Query``. The cached result is unchanged then.
    public func cached(ignoring ignored: [PartialKeyPath<M.Columns>] = [], in database: Database) throws -> [M] {
        let keys = try select(SQL(raw: M.schema.keyList(from: M.schema.quotedTable)))
        let values = try keys.bindings.map { try $0.columnValue }
        let names = M.names(of: ignored)
        let key = CacheKey("query", ObjectIdentifier(M.self), keys.text, values, names)
        return try database.cached(key, ignoring: names) {
            try database.access { context in
                // Prepared but not run: it reads exactly the columns on which the selection and the order of
                // the rows depend.
                let tracker = RegionTracker()
                tracker.note(try context.prepare(keys.text).region)
                return (try all(in: database), tracker.region)
            }
        }
    }
}
