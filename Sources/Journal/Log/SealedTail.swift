import GRDB

/// The fold of the local entries above `sealed_seq`, to be written by a short transaction.
///
/// Folding takes as long as there are entries, so ``Replica/refreshDerivedState()`` folds in a snapshot and
/// takes the write lock only to write the result. The result holds as long as `sealed_seq` and the origin
/// stay.
struct SealedTail: Sendable {
    private let origin: OriginID
    private let before: Int64
    private let run: JournalRun
    /// The position of the last folded entry, and its stamp.
    private var last: (seq: Int64, stamp: Stamp)
    /// The lives of entries that are not 1.
    private var entryLives: [(seq: Int64, life: Int64)] = []
    /// The lives of the keys that the entries changed.
    private var keyLives: [TableKey: Int64] = [:]
    /// Positions where later folds may start, and the stamps before them.
    private var checkpoints: [(seq: Int64, floor: Stamp)] = []

    /// Folds the tail in the snapshot of `db`. Reads only, unless `held` is given.
    ///
    /// - Parameters:
    ///   - held: Drops the held state of rows that the entries overwrite; nil when nothing is held.
    ///   - limit: The most entries to fold.
    /// - Returns: nil when there is no tail.
    /// - Throws: ``JournalError/Code/corrupt`` when the journal is damaged; errors of SQLite.
    init?(_ db: Database, notingOverwrites held: HeldOverwrites?, atMost limit: Int64 = .max) throws {
        let hasTail = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT (SELECT max(seq) FROM _journal) > sealed_seq FROM _journal_replica"))
        guard hasTail == true else { return nil }
        let reader = try JournalReader(db)
        let sealed = reader.identity.sealedSeq
        guard reader.lastSeq > sealed, let run = try reader.runs.last() else { return nil }
        guard run.origin == reader.identity.origin, run.firstSeq <= sealed + 1 else {
            throw JournalError(.corrupt, "Local changes are outside of the journal's last run")
        }
        origin = reader.identity.origin
        before = sealed
        self.run = run
        last = (seq: sealed, stamp: reader.identity.sealedStamp)
        let cursor = try reader.cursor(over: run, from: sealed + 1, reading: .keys)
        var checkpoint = run.firstSeq
        var count: Int64 = 0
        while count < limit, try cursor.next() {
            count += 1
            try held?.note(cursor)
            if cursor.life != 1 { entryLives.append((cursor.seq, cursor.life)) }
            if cursor.seq - checkpoint >= JournalLimits.changesPerSeal {
                checkpoint = cursor.seq
                checkpoints.append((cursor.seq, last.stamp))
            }
            last = (cursor.seq, cursor.stamp)
        }
        keyLives = cursor.changedLives
    }

    /// Writes the result.
    ///
    /// - Returns: False, with nothing written, when another connection has sealed the tail meanwhile, or gave
    ///   the file a new identity.
    /// - Throws: Errors of SQLite. The transaction must then be rolled back.
    @discardableResult
    func write(_ db: Database) throws -> Bool {
        let identity = try Identity(db)
        guard identity.sealedSeq == before, identity.origin == origin else { return false }
        let setLife = try RawStatement(db, "UPDATE _journal SET life = ? WHERE seq = ?")
        for (seq, life) in entryLives {
            try setLife.bind(life, at: 1)
            try setLife.bind(seq, at: 2)
            try setLife.run()
        }
        try Lives.write(keyLives, db)
        for (seq, floor) in checkpoints {
            try db.execute(
                sql: """
                    INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known)
                    SELECT ?, origin, ?, ?, known FROM _journal_runs WHERE first_seq = ?
                    """, arguments: [seq, run.version(at: seq), floor.rawValue, run.firstSeq])
        }
        // Capture has to know which entries are from before the schema changed.
        let schema = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
        try db.execute(
            sql: """
                UPDATE _journal_replica SET sealed_seq = ?, sealed_stamp = ?,
                  stale_seq = CASE WHEN schema_version IS ? THEN stale_seq ELSE coalesce(stale_seq, ?) END
                """,
            arguments: [last.seq, last.stamp.rawValue, schema, before])
        return true
    }
}
