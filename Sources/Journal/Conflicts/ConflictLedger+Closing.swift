import GRDB

/// How long the ledger keeps entries. Both bounds hold for entries of every state.
public struct ConflictRetention: Sendable, Hashable {
    /// Days since an entry was noticed here; 1 or more.
    public var days: Int
    /// Entries of one row; of more, those whose changes were written first are dropped. 1 or more.
    public var entriesPerKey: Int

    /// Bounds in days and in entries of one row; less than 1 counts as 1.
    public init(days: Int = 90, entriesPerKey: Int = 100) {
        self.days = days
        self.entriesPerKey = entriesPerKey
    }

    /// What was dropped.
    public struct Dropped: Sendable, Hashable {
        /// Entries that were too old.
        public var byAge = 0
        /// Entries of rows that had too many.
        public var byCap = 0

        /// Nothing.
        public init() {}

        /// Both together.
        public var total: Int { byAge + byCap }
    }
}

extension ConflictLedger {
    /// Marks entries as looked at; their values stay in the journal, and a restore is still possible.
    ///
    /// - Parameter time: Now, in seconds since 1970.
    /// - Returns: The entries as they are now.
    /// - Throws: ``JournalError`` with `unknownConflict`; the transaction must then be rolled back.
    @discardableResult
    public func dismiss(_ ids: [Int64], time: Double) throws -> [ConflictEntry] {
        try ids.map { try close(known($0), .dismissed, time: time) }
    }

    /// Dismisses all that match.
    ///
    /// - Returns: How many.
    /// - Throws: ``JournalError/Code/corrupt`` when an entry cannot be read; errors of SQLite. The transaction must
    ///   then be rolled back.
    @discardableResult
    public func dismiss(matching filter: ConflictFilter, time: Double) throws -> Int {
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

    /// The newest id that was ever given.
    ///
    /// - Throws: Errors of SQLite.
    public static func lastID(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT max(last_id, coalesce((SELECT max(id) FROM _journal_conflicts), 0)) FROM _journal_ledger
                """) ?? 0
    }

    /// How many entries were ever dropped, by each bound.
    ///
    /// - Throws: Errors of SQLite.
    public static func dropped(_ db: Database) throws -> ConflictRetention.Dropped {
        var dropped = ConflictRetention.Dropped()
        guard try db.tableExists("_journal_ledger"),
            let row = try Row.fetchOne(db, sql: "SELECT dropped_by_age, dropped_by_cap FROM _journal_ledger")
        else { return dropped }
        dropped.byAge = row["dropped_by_age"]
        dropped.byCap = row["dropped_by_cap"]
        return dropped
    }

    /// True when ``retain(_:time:newSince:_:)`` would drop entries for their age.
    ///
    /// - Throws: Errors of SQLite.
    public static func isAgeDue(_ retention: ConflictRetention, time: Double, _ db: Database) throws -> Bool {
        // Ids rise with time; the clock that gave the times may have stepped, then entries are dropped somewhat later.
        let oldest = try Double.fetchOne(db, sql: "SELECT time FROM _journal_conflicts ORDER BY id LIMIT 1")
        return oldest.map { $0 < horizon(retention, time) } ?? false
    }

    /// Drops what is too old, and of each row that got a conflict with an id greater than `newSince`, what is beyond the cap.
    ///
    /// Of one row the entries with the latest losers stay. So the cap keeps the same entries on every replica, in whatever
    /// order they came, and an entry that it dropped is too early to come back.
    ///
    /// - Parameter time: Now, in seconds since 1970.
    /// - Returns: What was dropped now; it is counted in the file too.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    @discardableResult
    public static func retain(
        _ retention: ConflictRetention, time: Double, newSince: Int64 = .max, _ db: Database
    ) throws -> ConflictRetention.Dropped {
        var dropped = ConflictRetention.Dropped()
        let last = try lastID(db)
        if try isAgeDue(retention, time: time, db) {
            try db.execute(
                sql: "DELETE FROM _journal_conflicts WHERE time < ?", arguments: [horizon(retention, time)])
            dropped.byAge = db.changesCount
        }
        let keys = try Row.fetchAll(
            db, sql: "SELECT DISTINCT tbl, key FROM _journal_conflicts WHERE id > ?", arguments: [newSince])
        for row in keys {
            try db.execute(
                sql: """
                    DELETE FROM _journal_conflicts WHERE id IN (
                      SELECT c.id FROM _journal_conflicts AS c JOIN _journal_origins AS o ON o.id = c.lost_origin
                      WHERE c.tbl = ? AND c.key = ? ORDER BY c.lost_stamp DESC, o.origin DESC
                      LIMIT -1 OFFSET ?)
                    """,
                arguments: [row["tbl"] as Int64, row["key"] as DatabaseValue, max(1, retention.entriesPerKey)])
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
