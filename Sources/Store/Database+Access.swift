import GRDB
import Journal
import Synchronization

extension Database {
    /// Runs `body` in a transaction: all of it is committed, or nothing.
    ///
    /// Inside, reads and live objects show what the transaction has written so far; other threads see it
    /// after the commit. A call inside another transaction of this database is a savepoint: an error that is
    /// caught outside it undoes only its own part. A rollback undoes the changes in the file and in memory,
    /// and sends no events for them.
    ///
    /// ```swift
    /// try db.transaction {
    ///     try a.save { $0.balance -= 10 }
    ///     try b.save { $0.balance += 10 }
    /// }
    /// ```
    ///
    /// - Throws: What `body` throws, after the rollback; ``StoreError/Code/busy`` when another process holds
    ///   the write lock for longer than ``Options/busyTimeout``; ``StoreError/Code/writeInsideRead`` inside a
    ///   read.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(operation: "writing", body)
    }

    /// Runs `body` in a transaction, or in a savepoint inside another transaction.
    ///
    /// - Parameters:
    ///   - operation: Named in errors that do not name an operation.
    ///   - table: Named in errors that name no table; nil when no single table is concerned.
    func transaction<Result>(operation: String, table: String? = nil, _ body: () throws -> Result) throws -> Result {
        if let context = ThreadContext.access(to: self) as? WriteContext { return try context.inSavepoint(body) }
        return try write(operation: operation, table: table) { _ in try body() }
    }

    /// Runs `body` in a transaction that sends no change events. Live objects, caches, live queries and
    /// observers still follow, and the journal records everything.
    ///
    /// Inside another transaction it silences only its own part: the events of the other parts are sent when
    /// the transaction commits.
    ///
    /// ```swift
    /// try db.silently { try bob.save { $0.lastSeen = .now } }
    /// ```
    ///
    /// - Throws: What ``transaction(_:)`` throws; everything is undone then.
    @discardableResult
    public func silently<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction { try write { try $0.silently(body) } }
    }

    /// Runs `body` on one snapshot: all its queries see the same state of the database.
    ///
    /// Objects show the snapshot too, on the thread of `body`: their properties, ``Model/values`` and
    /// ``Model/rowState``, whatever is committed meanwhile. An object whose newest row is another one reads
    /// that row from the snapshot, once. An object whose row the snapshot does not have keeps its newest
    /// values, and an ``Edit`` follows the newest row. Inside a transaction it is a part of that transaction.
    ///
    /// ```swift
    /// let sum = try db.read { try Account.all(in: db).reduce(0) { $0 + $1.balance } }   // of one state
    /// ```
    ///
    /// - Parameter body: Runs on the calling thread.
    /// - Throws: What `body` throws; ``StoreError/Code/closed``; ``StoreError/Code/transactionAborted``
    ///   inside a transaction that SQLite has rolled back; another ``StoreError`` when the file cannot be
    ///   read.
    public func read<Result>(_ body: () throws -> Result) throws -> Result {
        try access(showingSnapshot: true) { _ in try body() }
    }

    // MARK: - The two ways to SQLite

    /// Runs `body` in the calling thread's access to this database, or in a new snapshot when there is none.
    ///
    /// - Parameters:
    ///   - operation: Named in errors that leave the new snapshot and name no operation.
    ///   - table: Named in errors that name no table; nil when no single table is concerned.
    ///   - showsSnapshot: True when `body` is code of the caller, in which objects show the new snapshot.
    func access<Result>(
        operation: String = "reading", table: String? = nil, showingSnapshot showsSnapshot: Bool = false,
        _ body: (AccessContext) throws -> Result
    ) throws -> Result {
        if let context = ThreadContext.access(to: self) {
            try (context as? WriteContext)?.checkOpen()
            return try body(context)
        }
        let notices = pipeline.clock.announcedNotices.load(ordering: .sequentiallyConsistent)
        var stale: [any Refreshable] = []
        defer { recheck(stale) }
        do {
            try checkOpen()
            return try replica.read { db in
                let context = ReadContext(self, db, notices: notices, snapshot: showsSnapshot ? SnapshotRows() : nil)
                defer { stale = context.stale }
                return try ThreadContext.with(context) {
                    try showsSnapshot ? SnapshotReads.counted { try body(context) } : body(context)
                }
            }
        } catch {
            throw options.failed(error, operation: operation, table: table)
        }
    }

    /// Runs `body`, which writes one row, like ``write(enforcingForeignKeys:operation:table:_:)``. All errors
    /// name the model's table, including errors before the first statement. When `body` throws inside a
    /// transaction that continues, everything that it wrote is undone (``WriteContext/inLazySavepoint(_:)``).
    func write<M: Model, Result>(
        _ type: M.Type, _ operation: String, _ body: (WriteContext) throws -> Result
    ) throws -> Result {
        // A new transaction needs no step: its rollback undoes everything.
        let isPart = ThreadContext.access(to: self) != nil
        do {
            return try write(operation: operation, table: M.schema.table) { context in
                try isPart ? context.inLazySavepoint { try body(context) } : body(context)
            }
        } catch let error as StoreError {
            throw error.during(operation, table: M.schema.table)
        }
    }

    /// Runs `body` in the calling thread's transaction, or in a new one when there is none. In the calling
    /// thread's transaction, an error of `body` undoes nothing: `body` itself must use
    /// ``WriteContext/inSavepoint(_:)`` or ``WriteContext/inLazySavepoint(_:)``.
    ///
    /// - Parameters:
    ///   - enforcingForeignKeys: See ``Replica/write(enforcingForeignKeys:_:)``. Has an effect on a new
    ///     transaction only.
    ///   - operation: Named in errors that leave the new transaction and name no operation.
    ///   - table: Named in errors that name no table; nil when no single table is concerned.
    func write<Result>(
        enforcingForeignKeys: Bool = true, operation: String = "writing", table: String? = nil,
        _ body: (WriteContext) throws -> Result
    ) throws -> Result {
        if let access = ThreadContext.access(to: self) {
            guard let context = access as? WriteContext else {
                throw StoreError(
                    .writeInsideRead, "A read cannot write", hint: "Use `db.transaction` instead of `db.read`.")
            }
            try context.checkOpen()
            // The caller may be a block or a hook of another write, whose savepoint must begin before this
            // write.
            try context.beginLazySavepoints()
            return try body(context)
        }
        var context: WriteContext?
        do {
            try checkOpen()
            try checkWritable()
            let result = try replica.write(enforcingForeignKeys: enforcingForeignKeys) { db, before in
                let current = WriteContext(self, db)
                context = current
                db.afterNextTransaction { _ in
                    current.committed()
                } onRollback: { _ in
                    current.rolledBack()
                }
                return try ThreadContext.with(current) {
                    try current.catchUp(upTo: before)
                    let result = try body(current)
                    try current.confirm()
                    try current.checkOpen()
                    current.checkInvariants(checkingUndo: true)
                    return result
                }
            }
            // SQLite calls no commit hook for a transaction that wrote nothing.
            context?.committed()
            recheck(context?.recheck ?? [])
            context?.announce()
            analyzeWhenDue(upTo: context?.position ?? 0)
            return result
        } catch {
            context?.rolledBack()
            recheck(context?.recheck ?? [])
            throw options.failed(error, operation: operation, table: table)
        }
    }
}
