import GRDB

/// Upgrades the journal of a file that an earlier release wrote to this release's format, in place.
///
/// The earlier release then refuses the file with a clear error (``JournalSchema/format``).
enum JournalUpgrade {
    /// True when the journal has the format of an earlier release. This is checked at each contact with the
    /// file, so it costs one cached statement.
    static func isDue(_ db: Database) throws -> Bool {
        let statement: Statement
        do {
            // In an older file, naming the newest column fails. A lookup in the schema would parse the schema
            // each time.
            statement = try db.cachedStatement(
                sql: """
                    SELECT format != ? OR 3 > (SELECT count(*) FROM sqlite_master
                        WHERE name IN ('_journal_settled', '_journal_covers', '_journal_references')),
                      compacted_rows, stale_seq, leaf_origins, (SELECT gone FROM _journal_tables LIMIT 1)
                    FROM _journal_replica
                    """)
        } catch let error as DatabaseError where error.message?.hasPrefix("no such column") == true {
            return true
        }
        return try Bool.fetchOne(statement, arguments: [JournalSchema.format]) ?? true
    }

    /// Upgrades the journal if that is due. Call it inside of a write transaction.
    static func run(_ db: Database) throws {
        guard try isDue(db) else { return }
        try addColumns(
            [
                "lost_stamp INTEGER NOT NULL DEFAULT 0", "state TEXT NOT NULL DEFAULT 'open'", "closed REAL",
                "kept_level INTEGER NOT NULL DEFAULT 0",
            ],
            to: "_journal_conflicts", db)
        try addColumns(
            ["joined TEXT", "wire TEXT", "dropped INTEGER", "successor INTEGER", "gone INTEGER"], to: "_journal_tables",
            db)
        try addColumns(["shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1))"], to: "_journal_held", db)
        try addColumns(
            [
                "fingerprint TEXT", "instance BLOB", "checked_seq INTEGER NOT NULL DEFAULT 0", "checked_keys TEXT",
                "triggers INTEGER NOT NULL DEFAULT 0", "claims TEXT", "checked_held TEXT", "published TEXT",
                "horizon_stamp INTEGER NOT NULL DEFAULT 0", "compacted_seq INTEGER NOT NULL DEFAULT 0",
                "compacted_rows INTEGER NOT NULL DEFAULT 0",
                "foreign_keys TEXT", "secrets TEXT", "collations TEXT", "stale_seq INTEGER", "leaf TEXT",
                "leaf_origins INTEGER",
            ], to: "_journal_replica", db)
        try addColumns(
            ["retired REAL", "horizon INTEGER NOT NULL DEFAULT 0", "forgotten REAL"], to: "_journal_origins", db)
        try addColumns(["compared REAL", "mismatch TEXT"], to: "_journal_peers", db)
        // Claims are read from the journal, not from these columns.
        for column in ["stamp", "origin"]
        where try db.columns(in: "_journal_held").contains(where: { $0.name == column }) {
            try db.execute(sql: "ALTER TABLE _journal_held DROP COLUMN \(column)")
        }
        let added: Set = [
            "_journal_conflicts_by_key", "_journal_held_by_reason", "_journal_ledger", "_journal_clocks",
            "_journal_policies", "_journal_references", "_journal_names",
            "_journal_settled", "_journal_minted", "_journal_covers", "_journal_claims", "_journal_written",
            "_journal_marks", "_journal_migrations", "_journal_migrated",
        ]
        for (name, sql) in Array(JournalSchema.tables) + JournalSchema.indexes where added.contains(name) {
            let isThere = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", arguments: [name])
            if isThere == false { try db.execute(sql: sql) }
        }
        try addColumns(["moved BLOB"], to: "_journal_settled", db)
        try db.execute(sql: "UPDATE _journal_replica SET format = ?", arguments: [JournalSchema.format])
    }

    private static func addColumns(_ definitions: [String], to table: String, _ db: Database) throws {
        let known = Set(try db.columns(in: table).map(\.name))
        for definition in definitions where !known.contains(String(definition.prefix { $0 != " " })) {
            try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(definition)")
        }
    }
}
