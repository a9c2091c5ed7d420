import GRDB

/// Makes the file of a leaf of a copy: a replica that has some tables only.
///
/// The tables of the scope stay, with their indexes and with all that the journal says of them. Of other tables nothing
/// stays but how many changes there were and when: each keeps its place in the journal as a hidden change, so that
/// the file covers the same versions. Views, triggers of programs and virtual tables go, because they may name or
/// hold anything. The file gets the mark of a leaf (``LeafMark``).
package enum LeafContent {
    /// Changes the file at `path`, which nobody has open, and writes it anew, so that no free page holds what
    /// was removed.
    ///
    /// - Throws: ``JournalError``: `refused` when SQLite cannot remove something without the program that made it;
    ///   errors of SQLite. The file must not be handed out then.
    package static func keep(
        only scope: TableScope, in path: String, unlock: (@Sendable (Database) throws -> Void)? = nil,
        files: any FileSystem = SystemFiles()
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: CopyConnection.configuration(unlock: unlock))
        defer { try? queue.close() }
        let scrubbed = path + "-scrubbed"
        DatabaseCopy.remove(scrubbed, files)
        do {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = OFF")
                try db.inTransaction {
                    try DerivedState.materialize(db)
                    try LeafJournal(scope, db).strip()
                    try LeafSchema(scope, db).strip()
                    return .commit
                }
                try DatabaseCopy.create(scrubbed, like: path, files)
                try db.execute(sql: "VACUUM INTO ?", arguments: [scrubbed])
            }
        } catch {
            DatabaseCopy.remove(scrubbed, files)
            guard let error = error as? DatabaseError,
                ApplicationDefined.missing(error) != nil || error.message?.hasPrefix("no such module") == true
            else { throw error }
            // The message of SQLite may name what the receiver must not know.
            throw JournalError(
                .refused, "Some content cannot be left out of a copy without the program that made it",
                hint: "Load the program's library with --extension.")
        }
        try queue.close()
        do {
            try files.rename(scrubbed, to: path)
        } catch let error as FileError {
            throw JournalError(.readOnly, "\(path) cannot be replaced: error \(error.code)")
        }
    }
}

/// The journal's tables of a copy that becomes a leaf.
private struct LeafJournal {
    private let scope: TableScope
    private let covers: (String) -> Bool
    private let registry: ShapeRegistry
    private let db: Database

    init(_ scope: TableScope, _ db: Database) throws {
        registry = try ShapeRegistry(db)
        covers = scope.test(registry.names)
        self.scope = scope
        self.db = db
    }

    /// What is kept in each table: all rows, those of a condition, or none. Tables that are not here go.
    private static let kept: [String: String] = [
        "_journal_replica": "1", "_journal": "1", "_journal_origins": "1", "_journal_runs": "1",
        "_journal_clocks": "1", "_journal_ledger": "1",
        "_journal_tables": "shape IN temp.leaf_shapes", "_journal_suspects": "shape IN temp.leaf_shapes",
        "_journal_minted": "shape IN temp.leaf_shapes",
        "_journal_lives": "tbl IN temp.leaf_tables", "_journal_claims": "tbl IN temp.leaf_tables",
        "_journal_conflicts": "tbl IN temp.leaf_tables", "_journal_held": "tbl IN temp.leaf_tables",
        "_journal_settled": "tbl IN temp.leaf_tables",
        "_journal_covers": Self.ofEntry, "_journal_written": Self.ofEntry, "_journal_migrated": Self.ofEntry,
        "_journal_migrations": "id IN (SELECT migration FROM _journal_migrated)",
        "_journal_names": "0", "_journal_policies": "0", "_journal_references": "0",
        "_journal_peers": "0", "_journal_marks": "0", "_journal_inbox": "0",
    ]

    /// What others name comes last.
    private static let last = "_journal_migrations"
    private static let ofEntry = "seq IN (SELECT seq FROM _journal WHERE shape IN temp.leaf_shapes)"

    func strip() throws {
        let kept = registry.entries.values.filter { covers($0.wireName) }
        try db.execute(sql: "CREATE TEMP TABLE leaf_shapes (id INTEGER PRIMARY KEY)")
        try db.execute(sql: "CREATE TEMP TABLE leaf_tables (id INTEGER PRIMARY KEY)")
        for entry in kept {
            try db.execute(sql: "INSERT INTO temp.leaf_shapes VALUES (?)", arguments: [entry.id])
            try db.execute(sql: "INSERT OR IGNORE INTO temp.leaf_tables VALUES (?)", arguments: [entry.table])
        }
        let notes = try Notes(db, covers)
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '_journal*' ORDER BY name")
        for table in tables.filter({ $0 != Self.last }) + tables.filter({ $0 == Self.last }) {
            guard let condition = LeafJournal.kept[table] else {
                try db.execute(sql: "DROP TABLE \(SQLText.quote(identifier: table))")
                continue
            }
            try db.execute(sql: "DELETE FROM \(table) WHERE NOT (\(condition))")
        }
        try notes.write(db)
        try hideEntries()
        try describe()
        try db.execute(sql: "DROP TABLE temp.leaf_shapes; DROP TABLE temp.leaf_tables")
    }

    /// Puts hidden changes in the places of those of other tables.
    private func hideEntries() throws {
        var registry = registry
        let hidden = try registry.register(.hidden, in: db)
        try registry.show([], of: hidden.id, in: db)
        let columns = try JournalSchema.columns(of: "_journal", db).filter {
            $0.hasPrefix("mask") || $0.hasPrefix("v") && Int($0.dropFirst()) != nil
        }
        let values = columns.map { "\($0) = \($0 == "v0" ? "seq" : "NULL")" }.joined(separator: ", ")
        try db.execute(
            sql: """
                UPDATE _journal SET shape = ?, op = \(Operation.delete.rawValue), life = 2, \(values)
                WHERE shape NOT IN temp.leaf_shapes
                """, arguments: [hidden.id])
    }

    /// Brings the row of the replica to what the file has now.
    private func describe() throws {
        let secrets = try SecretColumns(db).all.filter { covers($0.table) }
        let names = registry.entries.values.filter { $0.isTracked && covers($0.wireName) }.map(\.shape.table)
        let tables = TableScope(names) ?? scope
        try db.execute(
            sql: """
                UPDATE _journal_replica SET include = ?, exclude = '[]', checked_keys = NULL, checked_held = NULL,
                  secrets = ?
                """,
            arguments: [
                NameList.encode(tables.tables),
                secrets.isEmpty ? nil : NameList.encode(secrets.flatMap { [$0.table, $0.column] }),
            ])
        if try MintedClaims.State(db) != nil { try MintedClaims.State.renew(db) }
        let last = try Int64.fetchOne(db, sql: "SELECT max(id) FROM _journal_origins") ?? 0
        try LeafMark(tables, knownOrigins: last).write(db)
    }

    /// The operator's notes about tables, which compare names as the journal does.
    private struct Notes {
        private let names: [(old: String, new: String)]
        private let policies: [(name: String, policy: String)]
        private let references: [DeclaredReference]

        init(_ db: Database, _ covers: (String) -> Bool) throws {
            names = try Row.fetchAll(db, sql: "SELECT old, new FROM _journal_names")
                .map { (old: $0["old"], new: $0["new"]) }.filter { covers($0.new) }
            policies = try Row.fetchAll(db, sql: "SELECT name, policy FROM _journal_policies")
                .map { (name: $0["name"], policy: $0["policy"]) }.filter { covers($0.name) }
            references = try DeclaredReference.all(db).filter { covers($0.table) && covers($0.parent) }
        }

        func write(_ db: Database) throws {
            for name in names {
                try db.execute(
                    sql: "INSERT INTO _journal_names (old, new) VALUES (?, ?)", arguments: [name.old, name.new])
            }
            for policy in policies {
                try db.execute(
                    sql: "INSERT INTO _journal_policies (name, policy) VALUES (?, ?)",
                    arguments: [policy.name, policy.policy])
            }
            for reference in references { try reference.declare(db) }
        }
    }
}

/// The schema of a copy that becomes a leaf.
private struct LeafSchema {
    private let covers: (String) -> Bool
    private let db: Database

    init(_ scope: TableScope, _ db: Database) throws {
        covers = scope.test(try TableNames(db))
        self.db = db
    }

    func strip() throws {
        try drop("VIEW", "SELECT name FROM sqlite_schema WHERE type = 'view'")
        for row in try Row.fetchAll(db, sql: "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'") {
            let (name, table): (String, String) = (row["name"], row["tbl_name"])
            // Capture has its own triggers, which name nothing but their table.
            guard !name.hasPrefix(JournalSchema.prefix) || !covers(table) else { continue }
            try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: name))")
        }
        // Their shadow tables go with them.
        try drop("TABLE", "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")
        try drop(
            "TABLE",
            """
            SELECT name FROM sqlite_schema
            WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_journal*'
            """
        ) { !covers($0) }
    }

    private func drop(_ kind: String, _ names: String, where goes: (String) -> Bool = { _ in true }) throws {
        for name in try String.fetchAll(db, sql: names) where goes(name) {
            try db.execute(sql: "DROP \(kind) \(SQLText.quote(identifier: name))")
        }
    }
}
