import GRDB
import Journal
import Synchronization

extension Database {
    /// Runs `body` in a transaction: all of it is committed, or nothing.
    ///
    /// Inside, reads and live objects show what the transaction has written so far; other threads see it after the commit.
    /// Called inside of another transaction of this database, it is a savepoint: an error that is caught outside of it
    /// undoes only its own part. Everything is undone in memory as in the file, and no event is sent for it.
    ///
    /// ```swift
    /// try db.transaction {
    ///     try a.save { $0.balance -= 10 }
    ///     try b.save { $0.balance += 10 }
    /// }
    /// ```
    ///
    /// - Throws: What `body` throws, after the rollback; ``StoreError/Code/busy`` when another process holds the write lock for
    ///   longer than ``Options/busyTimeout``; ``StoreError/Code/writeInsideRead`` inside of a read.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(operation: "writing", body)
    }

    /// - Parameters:
    ///   - operation: Named in errors that name none, as is `table`.
    ///   - table: nil when it may be any.
    func transaction<Result>(operation: String, table: String? = nil, _ body: () throws -> Result) throws -> Result {
        if let context = ThreadContext.access(to: self) as? WriteContext { return try context.savepoint(body) }
        return try write(operation: operation, table: table) { _ in try body() }
    }

    /// Runs `body` in a transaction that sends no change events. Live objects, caches, live queries and observers follow all the
    /// same, and the journal records everything.
    ///
    /// Inside of another transaction it silences its own part alone: what the others have changed is told when they commit.
    ///
    /// ```swift
    /// try db.silently { try bob.save { $0.lastSeen = .now } }
    /// ```
    ///
    /// - Throws: As ``transaction(_:)``; everything is undone then.
    @discardableResult
    public func silently<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction { try write { try $0.silently(body) } }
    }

    /// Runs `body` on one snapshot: all its queries see the same moment.
    ///
    /// Inside of a transaction it is a part of that.
    ///
    /// - Throws: What `body` throws; ``StoreError/Code/closed``; ``StoreError/Code/transactionAborted`` inside of a
    ///   transaction that SQLite has rolled back; another ``StoreError`` when the file cannot be read.
    public func read<Result>(_ body: () throws -> Result) throws -> Result {
        try access { _ in try body() }
    }

    // MARK: - The two ways to SQLite

    /// Runs `body` in the access that the calling thread is inside of, or in a snapshot of its own.
    ///
    /// - Parameters:
    ///   - operation: Named in errors that leave a snapshot of its own and name none, as is `table`.
    ///   - table: nil when it may be any.
    func access<Result>(
        operation: String = "reading", table: String? = nil, _ body: (AccessContext) throws -> Result
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
                let context = ReadContext(self, db, notices: notices)
                defer { stale = context.stale }
                return try ThreadContext.with(context) { try body(context) }
            }
        } catch {
            throw options.failed(error, operation: operation, table: table)
        }
    }

    /// Runs `body`, which writes one row, like ``write(enforcingForeignKeys:operation:table:_:)``. Errors name the model's table, also
    /// where no statement was reached. When it throws inside of a transaction that goes on, nothing of it stays
    /// (``WriteContext/step(_:)``).
    func write<M: Model, Result>(
        _ type: M.Type, _ operation: String, _ body: (WriteContext) throws -> Result
    ) throws -> Result {
        // A transaction of its own is undone as a whole.
        let isPart = ThreadContext.access(to: self) != nil
        do {
            return try write(operation: operation, table: M.schema.table) { context in
                try isPart ? context.step { try body(context) } : body(context)
            }
        } catch let error as StoreError {
            throw error.during(operation, table: M.schema.table)
        }
    }

    /// Runs `body` in the transaction that the calling thread is inside of, or in one of its own. In the first case an error that
    /// `body` throws undoes nothing: that is `body`'s affair, by ``WriteContext/savepoint(_:)``.
    ///
    /// - Parameters:
    ///   - enforcingForeignKeys: See ``Replica/write(enforcingForeignKeys:_:)``; for a transaction of its own only.
    ///   - operation: Named in errors that leave a transaction of its own and name none, as is `table`.
    ///   - table: nil when it may be any.
    func write<Result>(
        enforcingForeignKeys: Bool = true, operation: String = "writing", table: String? = nil,
        _ body: (WriteContext) throws -> Result
    ) throws -> Result {
        if let access = ThreadContext.access(to: self) {
            guard let context = access as? WriteContext else {
                throw StoreError(
                    .writeInsideRead, "a read cannot write", hint: "Use `db.transaction` in the place of `db.read`.")
            }
            try context.checkOpen()
            // It may be called by a block or a hook of another write.
            try context.beginSteps()
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
                    return result
                }
            }
            // SQLite reports no commit for a transaction that wrote nothing.
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
