import GRDB

/// How long the conflict ledger keeps entries. Both bounds apply to entries of every state.
public struct ConflictRetention: Sendable, Hashable {
    /// The days that an entry is kept after this replica recorded it, 1 or more.
    public var days: Int
    /// The entries that are kept of one row, 1 or more. Beyond this number, entries whose losing changes were
    /// written first are dropped.
    public var entriesPerKey: Int

    /// Creates the two bounds. Values less than 1 count as 1.
    public init(days: Int = 90, entriesPerKey: Int = 100) {
        self.days = days
        self.entriesPerKey = entriesPerKey
    }

    /// The numbers of dropped entries.
    public struct Dropped: Sendable, Hashable {
        /// Entries dropped because they were too old.
        public var byAge = 0
        /// Entries dropped because their row had too many.
        public var byCap = 0

        /// No dropped entries.
        public init() {}

        /// The sum of both.
        public var total: Int { byAge + byCap }
    }
}

extension ConflictLedger {
    /// Dismisses entries. Their values stay in the journal, and they can still be restored.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``).
    ///   - time: The current time, in seconds since 1970.
    /// - Returns: The dismissed entries.
    /// - Throws: ``JournalError/Code/unknownConflict``; the transaction must then be rolled back.
    @discardableResult
    package func dismiss(_ ids: [Int64], time: Double) throws -> [ConflictEntry] {
        try ids.map { try close(known($0), .dismissed, time: time) }
    }

    /// Dismisses all entries that match a filter.
    ///
    /// - Returns: The number of dismissed entries.
    /// - Throws: ``JournalError/Code/corrupt`` when an entry cannot be read; errors of SQLite. The
    ///   transaction must then be rolled back.
    @discardableResult
    package func dismiss(matching filter: ConflictFilter, time: Double) throws -> Int {
        var ids: [Int64] = []
        try forEach(filter) { entry in
            ids.append(entry.id)
            return true
        }
        for id in ids {
            try db.execute(
                sql: "UPDATE _journal_conflicts SET state = 'dismissed', closed = ? WHERE id = ?",
                arguments: [time, id])
        }
        return ids.count
    }

    // MARK: - Retention

    /// Returns the greatest id that any entry ever had.
    ///
    /// - Throws: Errors of SQLite.
    package static func lastID(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT \(lastIDExpression)")) ?? 0
    }

    /// ``lastID(_:)`` as an expression of SQL.
    static let lastIDExpression = """
        coalesce((SELECT max(last_id, coalesce((SELECT max(id) FROM _journal_conflicts), 0)) FROM _journal_ledger), 0)
        """

    /// Lets no later entry have a number up to ``lastID(_:)``, also when entries are deleted now.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func reserveIDs(_ db: Database) throws {
        try db.execute(sql: "UPDATE _journal_ledger SET last_id = ?", arguments: [lastID(db)])
    }

    /// Returns how many entries have a greater number than `id`.
    ///
    /// - Throws: Errors of SQLite.
    package static func count(after id: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM _journal_conflicts WHERE id > ?"), arguments: [id]) ?? 0
    }

    /// Returns how many entries each bound has ever dropped from this file.
    ///
    /// - Throws: Errors of SQLite.
    package static func dropped(_ db: Database) throws -> ConflictRetention.Dropped {
        var dropped = ConflictRetention.Dropped()
        guard try db.tableExists("_journal_ledger"),
            let row = try Row.fetchOne(db, sql: "SELECT dropped_by_age, dropped_by_cap FROM _journal_ledger")
        else { return dropped }
        dropped.byAge = row["dropped_by_age"]
        dropped.byCap = row["dropped_by_cap"]
        return dropped
    }

    /// True when ``retain(_:time:newSince:_:)`` would drop entries because of their age.
    ///
    /// - Throws: Errors of SQLite.
    package static func isAgeDue(_ retention: ConflictRetention, time: Double, _ db: Database) throws -> Bool {
        // Ids rise with time. When the machine's clock was set back, the oldest id may not have the earliest
        // time; then entries are dropped somewhat later.
        let oldest = try Double.fetchOne(db, sql: "SELECT time FROM _journal_conflicts ORDER BY id LIMIT 1")
        return oldest.map { $0 < horizon(retention, time) } ?? false
    }

    /// Drops entries that are too old. Of each row with a conflict whose id is greater than `newSince`, it
    /// also drops the entries beyond ``ConflictRetention/entriesPerKey``.
    ///
    /// Each row keeps the entries whose losing changes are the latest. So every replica keeps the same
    /// entries, in whatever order they arrived, and an entry dropped by this bound does not return.
    ///
    /// - Parameters:
    ///   - retention: The bounds.
    ///   - time: The current time, in seconds since 1970.
    ///   - newSince: Only rows that have an entry with a greater id are checked for too many entries.
    /// - Returns: What this call dropped. The file's totals (``dropped(_:)``) include it.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    @discardableResult
    package static func retain(
        _ retention: ConflictRetention, time: Double, newSince: Int64 = .max, _ db: Database
    ) throws -> ConflictRetention.Dropped {
        var dropped = ConflictRetention.Dropped()
        let last = try lastID(db)
        if try isAgeDue(retention, time: time, db) {
            try db.execute(
                sql: "DELETE FROM _journal_conflicts WHERE time < ?", arguments: [horizon(retention, time)])
            dropped.byAge = db.changesCount
        }
        let mostEntries = max(1, retention.entriesPerKey)
        // Most rows have few entries.
        let keys = try Row.fetchAll(
            db,
            sql: """
                SELECT tbl, key FROM (SELECT DISTINCT tbl, key FROM _journal_conflicts WHERE id > ?) AS new
                WHERE EXISTS (
                  SELECT 1 FROM _journal_conflicts AS c WHERE c.tbl = new.tbl AND c.key = new.key LIMIT 1 OFFSET ?)
                """, arguments: [newSince, mostEntries])
        for row in keys {
            try db.cachedStatement(
                sql: """
                    DELETE FROM _journal_conflicts WHERE id IN (
                      SELECT c.id FROM _journal_conflicts AS c JOIN _journal_origins AS o ON o.id = c.lost_origin
                      WHERE c.tbl = ? AND c.key = ? ORDER BY c.lost_stamp DESC, o.origin DESC
                      LIMIT -1 OFFSET ?)
                    """
            ).execute(arguments: [row["tbl"] as Int64, row["key"] as DatabaseValue, mostEntries])
            dropped.byCap += db.changesCount
        }
        if dropped.total > 0 {
            try db.execute(
                sql: """
                    UPDATE _journal_ledger SET last_id = ?, dropped_by_age = dropped_by_age + ?,
                      dropped_by_cap = dropped_by_cap + ?
                    """, arguments: [last, dropped.byAge, dropped.byCap])
        }
        return dropped
    }

    private static func horizon(_ retention: ConflictRetention, _ time: Double) -> Double {
        time - Double(max(1, retention.days)) * 86_400
    }
}
