import GRDB

/// What a replica's file has for itself, and a copy of another replica has to take over: the rows of tables
/// that do not replicate, and the operator's settings.
package struct LocalContent {
    /// The replica's file, which is read.
    package let path: String

    package init(of path: String) { self.path = path }

    /// Brings the local content into the copy at `target`.
    ///
    /// - Throws: Errors of SQLite. The copy must not be used then.
    package func bring(to target: String, unlock: (@Sendable (Database) throws -> Void)? = nil) throws {
        let queue = try DatabaseQueue(path: target, configuration: CopyConnection.configuration(unlock: unlock))
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS here", arguments: [path])
            // Not immediate: that would lock the attached file too.
            try db.inTransaction(.deferred) {
                for table in try LocalContent.tables(db) { try copy(table, db) }
                try raiseSequences(db)
                try db.execute(
                    sql: """
                        UPDATE main._journal_replica SET secrets = (SELECT secrets FROM here._journal_replica)
                        """)
                return .commit
            }
            try db.execute(sql: "DETACH here")
        }
        try queue.close()
    }

    /// The tables that do not replicate, with the tables in which excluded virtual tables keep their rows. The
    /// index of a full text that replicates comes with the copy.
    private static func tables(_ db: Database) throws -> [String] {
        let tracked = Set(
            try ShapeRegistry(db).entries.values.filter(\.isTracked).map { SQLText.foldedName($0.shape.table) })
        let excluded = Set(
            try TableInspection.untrackable(db, policy: TrackingPolicy(db)).filter { $0.cause == .excluded }.map(
                \.table))
        let rows = try Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
        let virtual = rows.filter { $0["type"] == "virtual" }.map { $0["name"] as String }.filter(excluded.contains)
        return rows.compactMap { row -> String? in
            let name: String = row["name"]
            switch row["type"] as String {
            case "table":
                return name.hasPrefix("sqlite_") || name.hasPrefix(JournalSchema.prefix)
                    || tracked.contains(SQLText.foldedName(name)) ? nil : name
            case "shadow": return virtual.contains { name.hasPrefix("\($0)_") } ? name : nil
            default: return nil
            }
        }
    }

    private func copy(_ table: String, _ db: Database) throws {
        let name = SQLText.quote(identifier: table)
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", arguments: [table])
        guard !columns.isEmpty else { return }
        let hasRowid =
            try Bool.fetchOne(
                db, sql: "SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [table])
            ?? false
        var list = columns.map { SQLText.quote(identifier: $0) }
        // The rows keep their numbers, unless a column hides them.
        if hasRowid, !columns.contains(where: { SQLText.foldedName($0) == "rowid" }) { list.insert("rowid", at: 0) }
        let names = list.joined(separator: ", ")
        try db.execute(sql: "DELETE FROM main.\(name)")
        try db.execute(sql: "INSERT INTO main.\(name) (\(names)) SELECT \(names) FROM here.\(name)")
    }

    /// A number that a program here has used does not come again.
    private func raiseSequences(_ db: Database) throws {
        let isThere = "SELECT EXISTS (SELECT 1 FROM here.sqlite_schema WHERE name = 'sqlite_sequence')"
        guard try Bool.fetchOne(db, sql: isThere) ?? false else { return }
        try db.execute(
            sql: """
                UPDATE main.sqlite_sequence SET seq = max(seq, (SELECT s.seq FROM here.sqlite_sequence AS s WHERE s.name = sqlite_sequence.name))
                WHERE name IN (SELECT name FROM here.sqlite_sequence);
                INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM here.sqlite_sequence
                WHERE name NOT IN (SELECT name FROM main.sqlite_sequence)
                """)
    }
}
