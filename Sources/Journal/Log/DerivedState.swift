import GRDB

/// Materializes what the fold derives from the local tail, that is, from the local entries above
/// `sealed_seq`: lives, evicted rows, and the positions where later folds may start. It also drops held state
/// of rows that local writers have since rewritten (``HeldOverwrites``), and ranks what migrations have marked
/// (``MigrationMarks``).
///
/// It runs inside of a write transaction. Readers get the same answers before and after it, because the fold
/// is a function of the journal; except that each row found evicted gets its delete.
package enum DerivedState {
    /// What makes the derived state stale.
    enum Staleness {
        /// Rows may have been evicted without an entry, or a migration has marked its entries, which only a whole
        /// ``materialize(_:)`` settles.
        case suspects
        /// The local tail is so long that readers would start too far back.
        case tail
    }

    /// - Returns: nil when the derived state is recent enough for readers.
    static func staleness(_ db: Database) throws -> Staleness? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT (SELECT max(seq) FROM _journal) - sealed_seq AS tail,
                      EXISTS (SELECT 1 FROM _journal_suspects) AS suspects FROM _journal_replica
                    """))
        let tail: Int64 = row?["tail"] ?? 0
        if try row?["suspects"] ?? false || MigrationMarks.areDue(db) { return .suspects }
        return tail >= JournalLimits.tailPerSeal ? .tail : nil
    }

    /// Brings everything that is derived from local changes up to date with the journal; does nothing when it
    /// is up to date.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal is damaged; errors of SQLite. The transaction
    ///   must then be rolled back.
    package static func materialize(_ db: Database) throws {
        try foldTail(db)
        let hasSuspects = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM _journal_suspects)"))
        if hasSuspects == true {
            try EvictedRows.journal(db)
            try foldTail(db)
        }
        try MigrationMarks.settle(db)
    }

    private static func foldTail(_ db: Database) throws {
        let held = try HeldOverwrites(db)
        try SealedTail(db, notingOverwrites: held)?.write(db)
        try held?.finish { try SealedTail(db, notingOverwrites: nil)?.write(db) }
    }
}
