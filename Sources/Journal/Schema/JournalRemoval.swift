import GRDB

/// What ``Replica/remove(from:discarding:options:)`` took out of a file.
public struct JournalRemoval: Sendable {
    /// The number of triggers that were dropped.
    public var triggers = 0
    /// The number of tables that were dropped.
    public var tables = 0
    /// The number of changes that the journal had.
    public var changes: Int64 = 0
    /// The number of rows of the ledger and of rows that tables did not show, which are gone.
    public var discarded: Int64 = 0
    /// The journal mode that the file has now: `delete` or `wal`. It differs from ``formerJournalMode`` when
    /// another program has the file open.
    public var journalMode = ""
    /// The journal mode that the file had before it became a replica: `delete` or `wal`. The mode is recorded
    /// beside the file; without that record, it counts as `delete`.
    public var formerJournalMode = ""
}

extension JournalRemoval {
    /// Removes what a tool has left that dropped the journal's tables.
    static func leftovers(_ db: Database) throws -> JournalRemoval {
        let leftovers = try JournalLeftovers(db)
        guard !leftovers.isEmpty else { throw JournalError.notAReplica }
        var removal = JournalRemoval()
        (removal.triggers, removal.tables) = try leftovers.remove(db)
        return removal
    }

    /// Drops everything of the journal. Call it inside of a write transaction.
    ///
    /// - Throws: As ``Replica/remove(from:discarding:options:)``; the transaction must then be rolled back.
    static func run(_ db: Database, discarding: Bool) throws -> JournalRemoval {
        try JournalUpgrade.run(db)
        var removal = JournalRemoval()
        removal.changes = try Int64.fetchOne(db, sql: "SELECT count(*) FROM _journal") ?? 0
        let conflicts = try Int64.fetchOne(db, sql: "SELECT count(*) FROM _journal_conflicts WHERE state = 'open'") ?? 0
        let held = try Int64.fetchOne(db, sql: "SELECT count(*) FROM _journal_held") ?? 0
        removal.discarded = conflicts + held
        guard discarding || removal.discarded == 0 else {
            throw JournalError(
                .refused,
                "\(conflicts) open conflicts and \(held) held rows are in the journal only, and would be gone",
                hint: "Look at them with `syncd conflicts` and `syncd held`; --force discards them.")
        }
        let triggers = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '\\_journal\\_%' ESCAPE '\\'")
        for name in triggers { try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: name))") }
        removal.triggers = triggers.count
        for name in try textIndexes(db) + TableInspection.tandems(db) {
            try db.execute(sql: "DROP TABLE \(SQLText.quote(identifier: name))")
            removal.tables += 1
        }
        return removal
    }

    /// The full-text indexes that Store made. Store makes them again when it opens the file.
    private static func textIndexes(_ db: Database) throws -> [String] {
        guard try db.tableExists("_journal_text") else { return [] }
        return try String.fetchAll(
            db,
            sql: "SELECT name FROM _journal_text WHERE name IN (SELECT name FROM sqlite_master WHERE type = 'table')")
    }
}
