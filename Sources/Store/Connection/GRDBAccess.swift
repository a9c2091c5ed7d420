import GRDB
import Journal

extension Database {
    /// Runs `body` with GRDB's handle of the writing connection, inside a transaction, for what Tandem does
    /// not offer.
    ///
    /// The journal records what it writes, live objects follow when it returns, and capture follows a changed
    /// schema. It must neither begin nor end a transaction.
    ///
    /// ```swift
    /// import GRDB
    ///
    /// try db.withGRDB { try $0.create(table: "log") { $0.primaryKey("id", .text) } }
    /// ```
    ///
    /// - Throws: What `body` throws, with GRDB's errors wrapped as ``StoreError``;
    ///   ``StoreError/Code/transactionAborted`` when the transaction is over when `body` returns; what
    ///   ``transaction(_:)`` throws. All that `body` wrote is undone then, in the file and in memory.
    @discardableResult
    public func withGRDB<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
        try write { context in
            try context.inSavepoint {
                try context.confirm()
                let before = try context.schemaVersion()
                let result: Result
                do { result = try StatementOwner.program.runs { try body(context.db) } } catch {
                    throw StoreError.wrapping(error, operation: "using GRDB")
                }
                try context.checkOpen()
                if try context.schemaVersion() != before { try context.schemaChanged() }
                try context.absorb()
                return result
            }
        }
    }

    /// Runs `body` with GRDB's handle of a reading connection, on one snapshot.
    ///
    /// Inside a transaction it is the writing connection, which shows what the transaction has written so
    /// far. `body` must not write.
    ///
    /// - Throws: What `body` throws, with GRDB's errors wrapped as ``StoreError``;
    ///   ``StoreError/Code/closed``.
    public func readGRDB<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
        try access { context in
            try (context as? WriteContext)?.confirm()
            do { return try StatementOwner.program.runs { try body(context.db) } } catch {
                throw StoreError.wrapping(error, operation: "using GRDB")
            }
        }
    }
}

extension WriteContext {
    fileprivate func schemaVersion() throws -> Int64 {
        try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
    }
}
