import GRDB

/// Which entries of a journal can go without changing what it says: a decision.
///
/// An entry can go when it is stable and superseded. It is *stable* when every replica that counts has merged
/// it, and everything that such a replica wrote before it had is here: then each change still to come was
/// written by someone who had seen the entry, and is not concurrent to it (decision 0039). It is *superseded*
/// when later stable changes have overwritten every column that it wrote, or have deleted its row. So the
/// entries that stay make the same rows, the same claims to unique values and the same spelling of keys.
///
/// A deletion goes only together with all other entries of its row: one that stays, because it is not stable or
/// something refers to it, would bring the row back. The newest stable entry of each origin stays, as the proof
/// of its history.
///
/// Of a transaction, all entries are stable or none is.
package struct CompactionPlan: Sendable {
    /// The horizon after the plan is carried out.
    package let vector: VersionVector
    /// The greatest stamp of a stable entry.
    package let stamp: Stamp
    /// The positions of the entries that go, ascending.
    package private(set) var removals: [Int64] = []
    /// How many entries are stable, those that go included.
    package let stable: Int
    /// Local entries whose stamps follow from entries that go, with their stamps.
    let frozen: [(position: Int64, stamp: Stamp)]
    /// The last position that carrying out the plan touches.
    let end: Int64
    /// How many rows one transaction writes: some milliseconds of work.
    let rowsPerStep: Int
    /// The state of the file for which the plan was made.
    let basis: Basis

    /// What must be as it was when the plan was made.
    struct Basis: Sendable, Hashable {
        let origin: OriginID
        let schema: Int64

        init(_ db: Database) throws {
            origin = try Identity(db).origin
            schema = try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
        }
    }

    /// Runs a body in one snapshot of the file, another one each time.
    package typealias Reading = (_ body: (Database) throws -> Void) throws -> Void

    /// True when there is nothing to do.
    package var isEmpty: Bool { removals.isEmpty }

    /// Makes the plan.
    ///
    /// It takes time in proportion to the journal, and memory in proportion to the rows that were written
    /// more than once, up to a bound.
    ///
    /// - Parameters:
    ///   - read: Reads the file.
    ///   - target: What is stable; causally closed. It must have been found before.
    ///   - until: Entries with later stamps stay, so that the history since then can be read, and with them what
    ///     belongs to the same transaction.
    ///   - ends: Where transactions end whose writers mark no end.
    ///   - rowsPerStep: How many rows one transaction writes when the plan is carried out, 1 or more.
    ///   - entriesPerSnapshot: The most entries to visit in one snapshot, 1 or more: some milliseconds of work.
    /// - Returns: nil when the file got another identity or another schema meanwhile.
    /// - Throws: ``JournalError/Code/corrupt`` for a damaged journal; errors of SQLite.
    package init?(
        _ read: @escaping Reading, upTo target: VersionVector, until: Stamp, ends: TransactionEnds = .unseen,
        rowsPerStep: Int = 1_000, entriesPerSnapshot: Int = 16_384
    ) throws {
        do {
            try self.init(
                reading: read, upTo: target, until: until, ends: ends, rowsPerStep: max(1, rowsPerStep),
                entriesPerSnapshot: max(1, entriesPerSnapshot))
        } catch is CompactionWalk.Outdated {
            return nil
        }
    }

    private init(
        reading read: @escaping Reading, upTo target: VersionVector, until: Stamp, ends: TransactionEnds,
        rowsPerStep: Int, entriesPerSnapshot: Int
    ) throws {
        var beginning: (basis: Basis, scope: CompactionScope, last: Int64, horizon: VersionVector)?
        try read { db in
            let reader = try JournalReader(db)
            beginning = (
                try Basis(db), try CompactionScope(db, reader), reader.lastSeq, try Horizon(db).vector
            )
        }
        guard let (basis, scope, last, horizon) = beginning else { throw CompactionWalk.Outdated() }
        let walk = CompactionWalk(read, basis: basis, through: last, entriesPerSnapshot: entriesPerSnapshot)
        self.basis = basis
        self.rowsPerStep = rowsPerStep
        end = max(min(scope.end, scope.newest) - 1, 0)
        var survey = CompactionSurvey(
            target: target, until: until, scope: scope, entries: last, ends: ends, horizon: horizon)
        try survey.run(walk)
        vector = survey.vector
        stamp = survey.stamp
        stable = survey.stable
        removals = try CompactionFold(walk, survey: survey, scope: scope).removals().sorted()
        frozen = try FrozenStamps(removing: removals, rowsPerStep: rowsPerStep).entries(walk)
    }
}
