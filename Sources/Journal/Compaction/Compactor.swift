import GRDB

/// Carries out a ``CompactionPlan`` in short transactions.
///
/// Each step leaves a journal that says the same as before. So the work may end after any step, by a failure
/// or a kill, and a later plan goes on from there:
///
/// 1. the horizon rises, before the first entry goes;
/// 2. stamps that could not be derived later are stored;
/// 3. entries go;
/// 4. runs without entries become one.
package struct Compactor: Sendable {
    /// What a step did.
    package struct Progress: Sendable, Hashable {
        /// Entries that are gone.
        package var removed = 0
        /// Entries that the plan removes.
        package var planned: Int
        /// True when nothing is left to do.
        package var isComplete = false
    }

    private enum Phase: Hashable { case horizon, stamps, entries, runs, done }

    private let plan: CompactionPlan
    private var phase = Phase.horizon
    /// How many elements of the phase's list are done.
    private var position = 0
    private var emptyRuns: [Int64]?
    package private(set) var progress: Progress

    /// - Parameter plan: What to do; made of the same file.
    package init(_ plan: CompactionPlan) {
        self.plan = plan
        progress = Progress(planned: plan.removals.count)
        if plan.isEmpty { phase = .done }
        progress.isComplete = plan.isEmpty
    }

    /// Does the next piece of work. Call it inside of a write transaction, until ``Progress/isComplete``.
    ///
    /// - Returns: False when the file has another identity or another schema than the plan was made for;
    ///   nothing is written then, and the rest of the plan must be dropped.
    /// - Throws: Errors of SQLite. The transaction must then be rolled back, and this value dropped.
    package mutating func step(_ db: Database) throws -> Bool {
        guard try CompactionPlan.Basis(db) == plan.basis else { return false }
        switch phase {
        case .horizon:
            try Horizon.raise(to: plan.vector, stamp: plan.stamp, position: plan.end, db)
            phase = .stamps
        case .stamps:
            let chunk = plan.frozen.dropFirst(position).prefix(plan.rowsPerStep)
            let store = try RawStatement(db, "UPDATE _journal SET stamp = ? WHERE seq = ? AND origin IS NULL")
            for (seq, stamp) in chunk {
                try store.bind(stamp.rawValue, at: 1)
                try store.bind(seq, at: 2)
                try store.run()
            }
            advance(chunk.count, of: plan.frozen.count, to: .entries)
        case .entries:
            let chunk = plan.removals.dropFirst(position).prefix(plan.rowsPerStep)
            try remove(chunk, db)
            progress.removed += chunk.count
            advance(chunk.count, of: plan.removals.count, to: .runs)
        case .runs:
            let runs = try emptyRuns ?? EmptyRuns.find(upTo: plan.end, db)
            emptyRuns = runs
            let chunk = runs.dropFirst(position).prefix(plan.rowsPerStep)
            try EmptyRuns.remove(chunk, db)
            advance(chunk.count, of: runs.count, to: .done)
        case .done: break
        }
        progress.isComplete = phase == .done
        return true
    }

    private mutating func advance(_ count: Int, of total: Int, to next: Phase) {
        position += count
        guard position >= total else { return }
        position = 0
        phase = next
    }

    private func remove(_ positions: ArraySlice<Int64>, _ db: Database) throws {
        guard let first = positions.first, let last = positions.last else { return }
        var statements = [try RawStatement(db, "DELETE FROM _journal WHERE seq = ?")]
        // The marks of entries that go. Most files have none.
        for table in ["_journal_minted", "_journal_covers", "_journal_written", "_journal_migrated"]
        where try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE seq BETWEEN ? AND ?)", arguments: [first, last])
            == true
        {
            statements.append(try RawStatement(db, "DELETE FROM \(table) WHERE seq = ?"))
        }
        var removed = 0
        for (index, statement) in statements.enumerated() {
            for seq in positions {
                try statement.bind(seq, at: 1)
                try statement.run()
                // Another process may have compacted the file since the plan was made.
                if index == 0 { removed += db.changesCount }
            }
        }
        try db.execute(
            sql: "UPDATE _journal_replica SET compacted_rows = compacted_rows + ?", arguments: [removed])
    }
}
