import GRDB

/// `_journal_migrated`: which updates a migration wrote, and after which write each counts (``MigrationRank``).
final class MigratedEntries {
    private let selection: RawStatement
    private let range: ClosedRange<Int64>
    private var names: [Int64: String] = [:]
    private let db: Database

    /// - Returns: nil when no entry is a migration's.
    /// - Throws: Errors of SQLite.
    init?(_ db: Database) throws {
        do {
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT (SELECT min(seq) FROM _journal_migrated), (SELECT max(seq) FROM _journal_migrated)"))
            guard let row, let first = row[0] as Int64?, let last = row[1] as Int64? else { return nil }
            range = first...last
        } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
            // The file of an earlier release.
            return nil
        }
        self.db = db
        selection = try RawStatement(db, "SELECT migration, stamp, level FROM _journal_migrated WHERE seq = ?")
    }

    /// What the entry at a position has of a migration; nil for a user's.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error, or ``JournalError/Code/corrupt``.
    func rank(at seq: Int64) throws -> MigrationRank? {
        guard range.contains(seq) else { return nil }
        try selection.bind(seq, at: 1)
        defer { selection.reset() }
        guard try selection.step() else { return nil }
        return MigrationRank(
            name: try name(selection.int64(0)), stamp: Stamp(rawValue: selection.int64(1)), level: selection.int64(2))
    }

    private func name(_ id: Int64) throws -> String {
        if let known = names[id] { return known }
        let name = try String.fetchOne(
            db.cachedStatement(sql: "SELECT name FROM _journal_migrations WHERE id = ?"), arguments: [id])
        guard let name else { throw JournalError(.corrupt, "An entry of the journal belongs to an unknown migration") }
        names[id] = name
        return name
    }

    // MARK: - Writing

    /// Notes what the entry at a position has of a migration.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func note(_ rank: MigrationRank, at seq: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO _journal_migrations (name) VALUES (?)")
            .execute(arguments: [rank.name])
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO _journal_migrated (seq, migration, stamp, level)
                SELECT ?, id, ?, ? FROM _journal_migrations WHERE name = ?
                """
        ).execute(arguments: [seq, rank.stamp.rawValue, rank.level, rank.name])
    }
}
