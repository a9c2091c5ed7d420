import GRDB

/// The tables that the journal adds to a file. `docs/JOURNAL.md` explains their columns for readers of the
/// file who use SQL.
///
/// Invariants:
/// 1. `_journal.seq` only grows, and the newest row is never deleted, so a position is never used twice.
///    Positions up to `compacted_seq` may have no row (``Horizon``).
/// 2. Each row of `_journal` belongs to the run with the greatest `first_seq` not above its `seq`. The last
///    run is local. The rows of a run were either all captured in this file or all received.
/// 3. Row `seq` of a run has the version `first_version + seq - first_seq`.
/// 4. All local rows above `sealed_seq` belong to the last run.
package enum JournalSchema {
    /// The format of the journal. It rises when an older release would misread a file that this release
    /// wrote.
    static let format: Int64 = 6

    /// The prefix of the name of every table, index, view and trigger of Tandem.
    static let prefix = "_journal"

    /// The tables by name, each with the SQL that creates it and its first rows.
    static let tables: KeyValuePairs = [
        "_journal_replica": """
        CREATE TABLE _journal_replica (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          format INTEGER NOT NULL,
          origin BLOB NOT NULL CHECK (length(origin) = 16),
          cluster TEXT NOT NULL,
          include TEXT,
          exclude TEXT NOT NULL DEFAULT '[]',
          schema_version INTEGER NOT NULL DEFAULT -1,
          sealed_seq INTEGER NOT NULL DEFAULT 0,
          sealed_stamp INTEGER NOT NULL DEFAULT 0,
          fingerprint TEXT,
          instance BLOB,
          checked_seq INTEGER NOT NULL DEFAULT 0,
          checked_keys TEXT,
          triggers INTEGER NOT NULL DEFAULT 0,
          claims TEXT,
          checked_held TEXT,
          published TEXT,
          horizon_stamp INTEGER NOT NULL DEFAULT 0,
          compacted_seq INTEGER NOT NULL DEFAULT 0,
          compacted_rows INTEGER NOT NULL DEFAULT 0,
          foreign_keys TEXT,
          secrets TEXT,
          collations TEXT,
          stale_seq INTEGER,
          leaf TEXT,
          leaf_origins INTEGER
        ) STRICT
        """,
        "_journal": """
        CREATE TABLE _journal (
          seq INTEGER PRIMARY KEY,
          origin, version, tx, shape, op, life, stamp, mask
        )
        """,
        "_journal_tables": """
        CREATE TABLE _journal_tables (
          shape INTEGER PRIMARY KEY,
          tbl INTEGER NOT NULL,
          name TEXT NOT NULL,
          columns TEXT NOT NULL,
          key_count INTEGER NOT NULL CHECK (key_count > 0),
          collations TEXT NOT NULL,
          tracked INTEGER NOT NULL CHECK (tracked IN (0, 1)),
          joined TEXT,
          wire TEXT,
          dropped INTEGER,
          successor INTEGER,
          gone INTEGER
        ) STRICT
        """,
        "_journal_names": """
        CREATE TABLE _journal_names (
          old TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
          new TEXT NOT NULL UNIQUE COLLATE NOCASE
        ) STRICT, WITHOUT ROWID
        """,
        "_journal_origins": """
        CREATE TABLE _journal_origins (
          id INTEGER PRIMARY KEY,
          origin BLOB NOT NULL UNIQUE CHECK (length(origin) = 16),
          version INTEGER NOT NULL DEFAULT 0,
          retired REAL,
          horizon INTEGER NOT NULL DEFAULT 0,
          forgotten REAL
        ) STRICT
        """,
        "_journal_runs": """
        CREATE TABLE _journal_runs (
          first_seq INTEGER PRIMARY KEY,
          origin INTEGER NOT NULL REFERENCES _journal_origins(id),
          first_version INTEGER NOT NULL CHECK (first_version > 0),
          floor INTEGER NOT NULL,
          known BLOB NOT NULL
        ) STRICT
        """,
        "_journal_lives": """
        CREATE TABLE _journal_lives (
          tbl INTEGER NOT NULL,
          key BLOB NOT NULL,
          life INTEGER NOT NULL CHECK (life > 1),
          PRIMARY KEY (tbl, key)
        ) STRICT, WITHOUT ROWID
        """,
        "_journal_suspects": """
        CREATE TABLE _journal_suspects (
          id INTEGER PRIMARY KEY,
          shape
        )
        """,
        "_journal_minted": """
        CREATE TABLE _journal_minted (
          seq INTEGER PRIMARY KEY,
          shape INTEGER NOT NULL
        ) STRICT
        """,
        "_journal_covers": "CREATE TABLE _journal_covers (seq INTEGER PRIMARY KEY) STRICT",
        "_journal_claims": """
        CREATE TABLE _journal_claims (
          seq INTEGER PRIMARY KEY,
          tbl INTEGER NOT NULL,
          key INTEGER NOT NULL,
          moved INTEGER
        ) STRICT
        """,
        "_journal_written": """
        CREATE TABLE _journal_written (
          seq INTEGER NOT NULL,
          col INTEGER NOT NULL,
          value,
          PRIMARY KEY (seq, col)
        ) WITHOUT ROWID
        """,
        "_journal_peers": """
        CREATE TABLE _journal_peers (
          url TEXT PRIMARY KEY,
          origin BLOB CHECK (origin IS NULL OR length(origin) = 16),
          confirmed BLOB NOT NULL DEFAULT x'',
          last_contact REAL,
          last_error TEXT,
          compared REAL,
          mismatch TEXT
        ) STRICT
        """,
        "_journal_conflicts": """
        CREATE TABLE _journal_conflicts (
          id INTEGER PRIMARY KEY,
          tbl INTEGER NOT NULL,
          key BLOB NOT NULL,
          kind TEXT NOT NULL,
          columns TEXT NOT NULL,
          lost_origin INTEGER NOT NULL,
          lost_version INTEGER NOT NULL,
          lost_seq INTEGER NOT NULL,
          kept_seq INTEGER NOT NULL,
          kept_life INTEGER NOT NULL,
          kept_stamp INTEGER NOT NULL,
          kept_origin BLOB NOT NULL,
          time REAL NOT NULL,
          kept_level INTEGER NOT NULL DEFAULT 0,
          lost_stamp INTEGER NOT NULL DEFAULT 0,
          state TEXT NOT NULL DEFAULT 'open',
          closed REAL,
          UNIQUE (lost_origin, lost_version)
        ) STRICT
        """,
        "_journal_marks": """
        CREATE TABLE _journal_marks (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL,
          after_seq INTEGER NOT NULL,
          last_seq INTEGER
        ) STRICT
        """,
        "_journal_migrations": """
        CREATE TABLE _journal_migrations (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE
        ) STRICT
        """,
        "_journal_migrated": """
        CREATE TABLE _journal_migrated (
          seq INTEGER PRIMARY KEY,
          migration INTEGER NOT NULL,
          stamp INTEGER NOT NULL,
          level INTEGER NOT NULL
        ) STRICT
        """,
        "_journal_policies": """
        CREATE TABLE _journal_policies (
          name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
          policy TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        "_journal_references": """
        CREATE TABLE _journal_references (
          tbl TEXT NOT NULL COLLATE NOCASE,
          column TEXT NOT NULL COLLATE NOCASE,
          parent TEXT NOT NULL,
          PRIMARY KEY (tbl, column)
        ) STRICT, WITHOUT ROWID
        """,
        "_journal_ledger": """
        CREATE TABLE _journal_ledger (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          last_id INTEGER NOT NULL DEFAULT 0,
          dropped_by_age INTEGER NOT NULL DEFAULT 0,
          dropped_by_cap INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO _journal_ledger (id) VALUES (1)
        """,
        "_journal_held": """
        CREATE TABLE _journal_held (
          id INTEGER PRIMARY KEY,
          tbl INTEGER NOT NULL,
          key BLOB NOT NULL,
          reason TEXT NOT NULL,
          detail TEXT NOT NULL,
          image BLOB NOT NULL,
          shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
          UNIQUE (tbl, key)
        ) STRICT
        """,
        "_journal_settled": """
        CREATE TABLE _journal_settled (
          id INTEGER PRIMARY KEY,
          tbl INTEGER NOT NULL,
          op INTEGER NOT NULL CHECK (op IN (1, 2, 3)),
          key BLOB,
          moved BLOB
        ) STRICT
        """,
        "_journal_inbox": """
        CREATE TABLE _journal_inbox (
          id INTEGER PRIMARY KEY,
          origin BLOB NOT NULL,
          first_version INTEGER NOT NULL,
          last_version INTEGER NOT NULL,
          batch BLOB NOT NULL
        ) STRICT
        """,
        "_journal_clocks": """
        CREATE TABLE _journal_clocks (
          origin BLOB PRIMARY KEY CHECK (length(origin) = 16),
          first_version INTEGER,
          last_version INTEGER,
          stamp INTEGER,
          cause BLOB,
          since REAL,
          allowed_ms INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID
        """,
    ]

    /// The indexes by name, each with the SQL that creates it on its table.
    static let indexes: KeyValuePairs = [
        "_journal_runs_by_origin":
            "CREATE INDEX _journal_runs_by_origin ON _journal_runs (origin, first_version)",
        "_journal_conflicts_by_key":
            "CREATE INDEX _journal_conflicts_by_key ON _journal_conflicts (tbl, key)",
        "_journal_held_by_reason":
            "CREATE INDEX _journal_held_by_reason ON _journal_held (reason, tbl)",
    ]

    /// Adds columns to `_journal` until it has at least `count` value columns and the mask words that they
    /// need.
    ///
    /// `ALTER TABLE ADD COLUMN` rewrites no row, so a wide table adds no cost for the other tables.
    static func widen(_ db: Database, toColumns count: Int) throws {
        let existing = Set(try columns(of: "_journal", db))
        for index in 0..<count where !existing.contains("v\(index)") {
            try db.execute(sql: "ALTER TABLE _journal ADD COLUMN v\(index)")
        }
        for word in 1..<max(1, maskWords(forColumns: count)) where !existing.contains("mask\(word)") {
            try db.execute(sql: "ALTER TABLE _journal ADD COLUMN mask\(word)")
        }
    }

    /// Adds columns to `_journal_suspects` until it can hold keys of `count` columns.
    static func widenSuspects(_ db: Database, toKeys count: Int) throws {
        let existing = Set(try columns(of: "_journal_suspects", db))
        for index in 0..<count where !existing.contains("k\(index)") {
            try db.execute(sql: "ALTER TABLE _journal_suspects ADD COLUMN k\(index)")
        }
    }

    /// Returns the columns that one of the journal's tables has in the file. GRDB's `columns(in:)` caches
    /// them for each connection, and another connection may have widened the table since.
    static func columns(of table: String, _ db: Database) throws -> [String] {
        try String.fetchAll(
            try db.cachedStatement(sql: "SELECT name FROM pragma_table_info(?, 'main')"), arguments: [table])
    }

    static func maskWords(forColumns count: Int) -> Int {
        (count + ColumnMask.bitsPerWord - 1) / ColumnMask.bitsPerWord
    }

    /// The column of `_journal` with the word of that index of a change's mask: `mask`, `mask1`, `mask2`, …
    package static func maskColumn(_ word: Int) -> String { word == 0 ? "mask" : "mask\(word)" }
}
