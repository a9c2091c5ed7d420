import GRDB

/// Materializes what the fold derives from the local tail, that is, from the local entries above
/// `sealed_seq`: lives, evicted rows, and the positions where later folds may start. It also drops held state
/// of rows that local writers have since rewritten (``HeldOverwrites``).
///
/// It runs inside of a write transaction. Readers get the same answers before and after it, because the fold
/// is a function of the journal; except that each row found evicted gets its delete.
package enum DerivedState {
    /// True when the local tail is so long that readers would start too far back, and when rows may have been
    /// evicted without an entry.
    static func isStale(_ db: Database) throws -> Bool {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT (SELECT max(seq) FROM _journal) - sealed_seq AS tail,
                      EXISTS (SELECT 1 FROM _journal_suspects) AS suspects FROM _journal_replica
                    """))
        let tail: Int64 = row?["tail"] ?? 0
        let suspects: Bool = row?["suspects"] ?? false
        return suspects || tail >= JournalLimits.changesPerSeal
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
    }

    private static func foldTail(_ db: Database) throws {
        let hasTail = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT (SELECT max(seq) FROM _journal) > sealed_seq FROM _journal_replica"))
        guard hasTail == true else { return }
        let reader = try JournalReader(db)
        let last = reader.lastSeq
        let sealed = reader.identity.sealedSeq
        guard last > sealed, let run = try reader.runs.last() else { return }
        guard run.origin == reader.identity.origin, run.firstSeq <= sealed + 1 else {
            throw JournalError(.corrupt, "Local changes are outside of the journal's last run")
        }
        let cursor = try reader.cursor(over: run, from: sealed + 1, reading: .keys)
        let setLife = try RawStatement(db, "UPDATE _journal SET life = ? WHERE seq = ?")
        var checkpoint = run.firstSeq
        var lives: [(seq: Int64, life: Int64)] = []
        var checkpoints: [(seq: Int64, floor: Stamp)] = []
        var stamp = reader.identity.sealedStamp
        let held = try HeldOverwrites(db)
        while try cursor.next() {
            try held?.note(cursor)
            if cursor.life != 1 { lives.append((cursor.seq, cursor.life)) }
            if cursor.seq - checkpoint >= JournalLimits.changesPerSeal {
                checkpoint = cursor.seq
                checkpoints.append((cursor.seq, stamp))
            }
            stamp = cursor.stamp
        }
        for (seq, life) in lives {
            try setLife.bind(life, at: 1)
            try setLife.bind(seq, at: 2)
            try setLife.run()
        }
        try Lives.write(cursor.changedLives, db)
        for (seq, floor) in checkpoints {
            try db.execute(
                sql: """
                    INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known)
                    SELECT ?, origin, ?, ?, known FROM _journal_runs WHERE first_seq = ?
                    """, arguments: [seq, run.version(at: seq), floor.rawValue, run.firstSeq])
        }
        try db.execute(
            sql: "UPDATE _journal_replica SET sealed_seq = ?, sealed_stamp = ?", arguments: [last, stamp.rawValue])
    }
}
