import GRDB
import Journal
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

extension Database {
    /// Renews the statistics by which SQLite's planner chooses indexes (https://sqlite.org/lang_analyze.html), from a sample of each
    /// index. Happens by itself after ``Options/analyzeInterval`` journalled changes.
    ///
    /// - Throws: ``StoreError``: `writeInsideRead`, `readOnly`, `busy`, `closed`. The statistics are then as they were.
    public func analyze() throws {
        try write { context in
            try Maintenance.analyze(context.db)
            try context.schemaChanged()
            // Noted at the position that this transaction starts from: it journals nothing itself.
            let position = try JournalReader.lastSeq(context.db)
            try Maintenance.note(position, context.db)
            analyzedPosition.store(position, ordering: .relaxed)
        }
    }

    /// The journal position at which statistics were renewed last; nil for never.
    ///
    /// - Throws: ``StoreError/Code/closed``, or another ``StoreError`` when the file cannot be read.
    public func lastAnalyzed() throws -> Int64? {
        try access { try Maintenance.lastAnalyzed($0.db) }
    }

    /// Rebuilds the file without the space of what was deleted (https://sqlite.org/lang_vacuum.html). Blocks writers for its time, and
    /// needs as much free disk space as the file has content.
    ///
    /// - Throws: ``StoreError``: `busy` inside of an access to this database, or while others use the file; `full`; `readOnly`;
    ///   `closed`. The rows are all there then.
    public func vacuum() throws {
        try outside("vacuuming") {
            try checkWritable()
            try replica.withConnections { try $0.writeWithoutTransaction { try $0.execute(sql: "VACUUM") } }
            _ = try replica.checkpoint(.truncate)
            // VACUUM counts as a change of the schema.
            try replica.refreshDerivedState()
        }
    }

    /// Moves the write-ahead log into the database file, under the lock that all processes with Tandem agree on. Happens by
    /// itself; do it before the file is copied by other means, or when the log has grown.
    ///
    /// - Parameter mode: `.passive` waits for nobody; `.restart` and `.truncate` wait for readers and writers, for
    ///   ``Options/busyTimeout`` at most.
    /// - Returns: nil when another process is at it, when its lock file cannot be made, and in memory.
    /// - Throws: ``StoreError``: `busy` inside of an access to this database; `readOnly`; `closed`; `journal` when the file is
    ///   not at its path any more. The log is whole then.
    @discardableResult
    public func checkpoint(_ mode: Checkpoint.Mode = .passive) throws -> Checkpoint? {
        try outside("moving the log") {
            try checkWritable()
            return try replica.checkpoint(mode)
        }
    }

    /// What SQLite finds wrong with the file, 100 things at most (https://sqlite.org/pragma.html#pragma_integrity_check);
    /// empty when all is well. Reads the whole file.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when the file is too damaged to be looked at; ``StoreError/Code/closed``.
    public func integrityProblems() throws -> [String] {
        try values(String.self, "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    /// Makes everything committed so far survive a loss of power: commits in a group.
    ///
    /// With ``Options/durability`` `.normal` a commit does not wait for the disk; one `flush` after many of them does, once for all,
    /// whoever made them.
    ///
    /// ```swift
    /// for order in orders { try order.save { $0.isPaid = true } }   // no wait
    /// try db.flush()                                                // one
    /// ```
    ///
    /// - Throws: ``StoreError``: `sqlite` when the system cannot write the log, `readOnly`, `closed`. The commits are
    ///   in the file all the same, and seen by everyone; whether they would survive a loss of power is not known.
    public func flush() throws {
        do { try flushLog() } catch { throw failed(error, operation: "flushing") }
    }

    private func flushLog() throws {
        try checkOpen()
        try checkWritable()
        // The log is the one file that a commit writes. Closing a descriptor of the database itself would drop SQLite's locks
        // (https://sqlite.org/howtocorrupt.html, section 2.2); the log has none.
        let files = replica.options.files
        do {
            // It may be so new that its name was not synced either.
            _ = try files.withFile(files.resolved(path) + "-wal", .reading) { log in
                try log.sync()
                try log.syncName()
            }
        } catch let error as FileError {
            throw StoreError(
                .sqlite, "the log could not be \(error.operation): \(String(cString: strerror(error.code)))",
                hint: "Check the disk and the permissions; a loss of power may take commits since the last flush.")
        }
    }

    /// Runs `body`, which must not be called by an access to this database.
    func outside<Result>(_ operation: String, _ body: () throws -> Result) throws -> Result {
        if isClosed { throw failed(StoreError.closed, operation: operation) }
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(
                .busy, "it waits for the end of the access that calls it", hint: "Call it afterwards.",
                operation: operation)
        }
        do { return try body() } catch { throw options.failed(error, operation: operation) }
    }

    /// Renews statistics after a commit, when enough has changed since the last time.
    func analyzeWhenDue(upTo position: Int64) {
        guard let interval = options.analyzeInterval else { return }
        let last = analyzedPosition.load(ordering: .relaxed)
        guard position - last >= max(1, interval) else { return }
        // Before it begins, so that its own commit does not ask again.
        guard analyzedPosition.compareExchange(expected: last, desired: position, ordering: .relaxed).exchanged else {
            return
        }
        // A commit is not undone because statistics could not be renewed; the failure handler has heard of it.
        try? analyze()
    }
}

/// The table `_journal_maintenance` of one row: how far statistics were renewed.
enum Maintenance {
    /// How many entries of each index ANALYZE looks at.
    private static let sample = 1_000

    static func analyze(_ db: GRDB.Database) throws {
        do {
            try db.execute(sql: "PRAGMA analysis_limit = \(sample); ANALYZE")
        } catch {
            throw StoreError.wrapping(error, operation: "analyzing")
        }
    }

    static func note(_ position: Int64, _ db: GRDB.Database) throws {
        do {
            try db.execute(
                sql: """
                    INSERT INTO _journal_maintenance (id, analyzed_seq) VALUES (1, \(position))
                    ON CONFLICT (id) DO UPDATE SET analyzed_seq = excluded.analyzed_seq
                    """)
        } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
            try db.execute(
                sql: """
                    CREATE TABLE _journal_maintenance (
                      id INTEGER PRIMARY KEY CHECK (id = 1), analyzed_seq INTEGER NOT NULL) STRICT;
                    INSERT INTO _journal_maintenance (id, analyzed_seq) VALUES (1, \(position))
                    """)
        }
    }

    static func lastAnalyzed(_ db: GRDB.Database) throws -> Int64? {
        guard
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = '_journal_maintenance')") == true
        else { return nil }
        return try Int64.fetchOne(db, sql: "SELECT analyzed_seq FROM _journal_maintenance")
    }
}
