import GRDB

/// The positions and numbers that a file has used. Readers follow a file by them, so none may come again in it.
package struct UsedPositions: Sendable, Hashable {
    /// The last position of the journal.
    package let seq: Int64
    /// The number of the last entry of the conflict ledger.
    package let conflict: Int64
    /// The number of the last visibility notice.
    package let notice: Int64

    /// - Throws: Errors of SQLite.
    package init(_ db: Database) throws {
        seq = try JournalReader.lastSeq(db)
        conflict = try ConflictLedger.lastID(db)
        notice = try VisibilityNotice.lastID(db)
    }
}

/// Moves the journal of a copy behind everything that another file has used, before the copy's content takes
/// the place of that file's.
///
/// Programs that follow that file then find new positions, with older ones missing, as after a compaction that
/// they did not see: they look at everything again.
package enum PositionShift {
    /// True when the whole journal of a copy lies behind what another file has used.
    ///
    /// - Throws: Errors of SQLite.
    package static func lies(beyond used: UsedPositions, _ db: Database) throws -> Bool {
        let first = try Int64.fetchOne(db, sql: "SELECT min(seq) FROM _journal") ?? .max
        return try first > used.seq && ConflictLedger.lastID(db) >= used.conflict
            && VisibilityNotice.lastID(db) > used.notice + 1
    }

    /// Call it inside of a write transaction of the copy, and roll that back after a throw.
    ///
    /// - Parameters:
    ///   - used: What the other file has used.
    ///   - room: How much more that file may use before its content is replaced.
    /// - Throws: ``JournalError/Code/corrupt``; errors of SQLite.
    package static func run(beyond used: UsedPositions, room: Int64, _ db: Database) throws {
        try DerivedState.materialize(db)
        let own = try UsedPositions(db)
        // Not less than what is here, so that no row meets another one on its way.
        let seq = max(used.seq + room, own.seq)
        let conflict = max(used.conflict + room, own.conflict)
        try db.execute(
            sql: """
                UPDATE _journal SET seq = seq + :seq;
                UPDATE _journal_runs SET first_seq = first_seq + :seq;
                UPDATE _journal_minted SET seq = seq + :seq;
                UPDATE _journal_covers SET seq = seq + :seq;
                UPDATE _journal_claims SET seq = seq + :seq;
                UPDATE _journal_written SET seq = seq + :seq;
                UPDATE _journal_migrated SET seq = seq + :seq;
                UPDATE _journal_tables SET dropped = dropped + :seq, gone = gone + :seq;
                UPDATE _journal_conflicts
                    SET id = id + :conflict, lost_seq = lost_seq + :seq, kept_seq = kept_seq + :seq;
                UPDATE _journal_ledger SET last_id = max(last_id, :last) + :conflict;
                UPDATE _journal_replica SET sealed_seq = sealed_seq + :seq, checked_seq = checked_seq + :seq,
                    compacted_seq = compacted_seq + :seq, compacted_rows = compacted_rows + :seq
                """,
            arguments: ["seq": seq, "conflict": conflict, "last": own.conflict])
        // A gap in the numbers tells that any row may have changed.
        let table = try Int64.fetchOne(db, sql: "SELECT max(tbl) FROM _journal_tables") ?? 0
        try db.execute(
            sql: """
                DELETE FROM _journal_settled;
                INSERT INTO _journal_settled (id, tbl, op) VALUES (?, ?, ?)
                """,
            arguments: [max(used.notice + room, own.notice) + 2, table, Operation.update.rawValue])
    }
}
