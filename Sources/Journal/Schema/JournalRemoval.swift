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
    /// The journal mode that the file has now: `delete`, or `wal` when another program has it open.
    public var journalMode = ""
}

extension Replica {
    /// Takes the journal out of a file: triggers, tables, indexes, Store's text indexes, and the files beside
    /// it. The program's own tables keep the rows that they show. The file keeps its size until `VACUUM`.
    ///
    /// Nothing else may serve the file. Programs that have it open go on, and their log stays in use.
    ///
    /// - Parameter discarding: True to discard open conflicts and held rows, which are in the journal only.
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `notAReplica`, `unsupportedFormat`, `busy`,
    ///   `readOnly`; `refused` for open conflicts and held rows. The file is then unchanged.
    public static func remove(
        from path: String, discarding: Bool = false, options: Options = Options()
    ) throws -> JournalRemoval {
        do {
            let isReplica = try hasJournal(path, options, mayRollBack: true)
            var configuration = Replica.configuration(options)
            configuration.readonly = false
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            var removal = try queue.writeWithoutTransaction { db in
                let removal = try Replica.transaction(db) { db, _ in
                    try isReplica ? remove(db, discarding) : removeLeftovers(db)
                }
                // Only the last connection to a file can end WAL.
                _ = try? String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                return removal
            }
            removal.journalMode = try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
            try queue.close()
            return removal
        } catch {
            throw JournalError(error, operation: "Removing the journal from \(path)")
        }
    }

    /// Removes what a tool has left that dropped the journal's tables.
    private static func removeLeftovers(_ db: Database) throws -> JournalRemoval {
        let leftovers = try JournalLeftovers(db)
        guard !leftovers.isEmpty else { throw JournalError.notAReplica }
        var removal = JournalRemoval()
        (removal.triggers, removal.tables) = try leftovers.remove(db)
        return removal
    }

    private static func remove(_ db: Database, _ discarding: Bool) throws -> JournalRemoval {
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
