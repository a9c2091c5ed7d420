import GRDB
import Journal
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

extension Database {
    /// Renews the statistics with which SQLite's planner chooses indexes
    /// (https://sqlite.org/lang_analyze.html), from a sample of each index. This happens automatically after
    /// ``Options/analyzeInterval`` journalled changes.
    ///
    /// - Throws: ``StoreError``: `writeInsideRead`, `readOnly`, `busy`, `closed`. The statistics are
    ///   unchanged then.
    public func analyze() throws {
        try write { context in
            try StatementOwner.store.runs { try Maintenance.analyze(context.db) }
            try context.schemaChanged()
            // The transaction journals nothing itself, so this is the position from which it started.
            let position = try JournalReader.lastSeq(context.db)
            try Maintenance.note(position, context.db)
            analyzedPosition.store(position, ordering: .relaxed)
        }
    }

    /// The journal position at which the statistics were last renewed; nil when they never were.
    ///
    /// - Throws: ``StoreError/Code/closed``, or another ``StoreError`` when the file cannot be read.
    public func lastAnalyzed() throws -> Int64? {
        try access { try Maintenance.lastAnalyzed($0.db) }
    }

    /// Rebuilds the file without the space of deleted rows (https://sqlite.org/lang_vacuum.html). It blocks
    /// writers while it runs, and needs as much free disk space as the file has content.
    ///
    /// - Throws: ``StoreError``: `busy` inside an access to this database, or while other connections use the
    ///   file; `full`; `readOnly`; `closed`. No row is lost then.
    public func vacuum() throws {
        try outside("vacuuming") {
            try checkWritable()
            try replica.withConnections { try $0.writeWithoutTransaction { try $0.execute(sql: "VACUUM") } }
            _ = try replica.checkpoint(.truncate)
            // VACUUM changes the schema version.
            try replica.refreshDerivedState()
        }
    }

    /// Moves the write-ahead log into the database file, under the lock that all Tandem processes share. This
    /// happens automatically. Call it before the file is copied by other means, or when the log has grown.
    ///
    /// - Parameter mode: `.passive` does not wait; `.restart` and `.truncate` wait for readers and writers,
    ///   at most for ``Options/busyTimeout``.
    /// - Returns: nil while another process checkpoints, when the lock file cannot be created, and for a
    ///   database in memory.
    /// - Throws: ``StoreError``: `busy` inside an access to this database; `readOnly`; `closed`; `journal`
    ///   when the file is not at its path any more. The log is intact then.
    @discardableResult
    public func checkpoint(_ mode: Checkpoint.Mode = .passive) throws -> Checkpoint? {
        try outside("moving the log") {
            try checkWritable()
            return try replica.checkpoint(mode)
        }
    }

    /// The problems that SQLite finds in the file, at most 100
    /// (https://sqlite.org/pragma.html#pragma_integrity_check); empty for an intact file. Reads the whole
    /// file.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when the file is too damaged to be checked;
    ///   ``StoreError/Code/closed``.
    public func integrityProblems() throws -> [String] {
        try values(String.self, "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    /// Makes everything committed so far survive a loss of power.
    ///
    /// With ``Options/durability`` `.normal` a commit does not wait for the disk. One `flush` after many
    /// commits makes all of them durable, including those of other connections (group commit).
    ///
    /// ```swift
    /// for order in orders { try order.save { $0.isPaid = true } }   // no wait
    /// try db.flush()                                                // one
    /// ```
    ///
    /// - Throws: ``StoreError``: `sqlite` when the system cannot write the log, `readOnly`, `closed`. The
    ///   commits stay in the file and visible to everyone, but it is unknown whether they would survive a
    ///   loss of power.
    public func flush() throws {
        do { try flushLog() } catch { throw failed(error, operation: "flushing") }
    }

    private func flushLog() throws {
        try checkOpen()
        try checkWritable()
        // A commit writes only the log. Closing a descriptor of the database file itself would drop SQLite's
        // locks (https://sqlite.org/howtocorrupt.html, section 2.2); there are no locks on the log.
        let files = replica.options.files
        do {
            // The log may be so new that its directory entry was not synced either.
            _ = try files.withFile(files.resolved(path) + "-wal", .reading) { log in
                try log.sync()
                try log.syncName()
            }
        } catch let error as FileError {
            throw StoreError(
                .sqlite, "The log could not be \(error.operation): \(String(cString: strerror(error.code)))",
                hint: "Check the disk and the permissions; a loss of power may lose commits since the last flush.")
        }
    }

    /// Runs `body`, which is not allowed inside an access to this database.
    func outside<Result>(_ operation: String, _ body: () throws -> Result) throws -> Result {
        if isClosed { throw failed(StoreError.closed, operation: operation) }
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(
                .busy, "The call would wait for the access in which it is made", hint: "Call it after the access ends.",
                operation: operation)
        }
        do { return try body() } catch { throw options.failed(error, operation: operation) }
    }

    /// Renews the statistics after a commit when enough has changed since the last renewal.
    func analyzeWhenDue(upTo position: Int64) {
        guard let interval = options.analyzeInterval else { return }
        let last = analyzedPosition.load(ordering: .relaxed)
        guard position - last >= max(1, interval) else { return }
        // The position is updated first, so that the commit of the renewal does not start another one.
        guard analyzedPosition.compareExchange(expected: last, desired: position, ordering: .relaxed).exchanged else {
            return
        }
        // A failed renewal must not fail the commit before it; the failure handler has received the error.
        try? analyze()
    }
}

/// The table `_journal_maintenance`, whose one row holds the position at which the statistics were renewed.
enum Maintenance {
    /// The number of entries of each index that ANALYZE samples.
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
