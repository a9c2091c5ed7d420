import GRDB
import Journal
import Synchronization

extension Inbox {
    /// Makes tables show what the merged state says after local changes and migrations. Held rows return if
    /// their parent came back or their UNIQUE value became free, rows that were written in violation of a
    /// constraint are held, and what the journal holds of new tables and columns is backfilled.
    ///
    /// Call it at each contact with the file. It only reads when no row is held, the schema is unchanged and
    /// no table with foreign keys or CHECK constraints was written to.
    ///
    /// - Returns: How many rows are still held; 0 also when there was nothing to do.
    /// - Throws: Errors of the file, after a rollback: ``JournalError`` with `displaced`, `readOnly`, `busy`
    ///   or `corrupt`, and those of SQLite. Tables, held rows and journal are unchanged then. Parts of
    ///   unfinished transactions that were only in memory are lost; peers send them again.
    @discardableResult
    package func bringBackHeldRows() throws -> Int {
        try replica.refreshDerivedState()
        return try session.withLock { box in
            let isDue = try replica.read { db in
                let isHolding = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_held)") ?? false
                guard !isHolding, let session = box.session, try session.isCurrent(in: db) else { return true }
                return try LocalRows(db: db, session: session, registry: ShapeRegistry(db)).isDue(after: box.checkedSeq)
            }
            guard isDue else { return 0 }
            return try box.attempt { box in
                try connection.write { db in try lookAround(&box, db) }
            }
        }
    }

    private func lookAround(_ box: inout SessionBox, _ db: Database) throws -> Int {
        let session = try current(&box, db)
        // The appender materializes the derived state first: a row that is held afterwards must not look like
        // one that REPLACE evicted.
        let appender = try JournalAppender(db)
        let checked = max(box.checkedSeq, try LocalRows.checkedSeq(db))
        let local = LocalRows(db: db, session: session, registry: appender.registry)
        let rows = try RowStore(db, session: session, registry: appender.registry)
        let isDue = try local.isDue(after: checked)
        if isDue { try local.note(after: checked, in: rows) }
        if isDue || !rows.held.isEmpty {
            let contested = PolicyResolver(db, session: session, functions: functions)
            try contested.addHeld(of: rows)
            for row in try rows.showFittingKeys() { contested.add(row) }
            try contested.resolve(into: rows)
            try rows.updateVisibility(all: true)
        }
        box.checkedSeq = appender.position - 1
        // Recorded only from time to time: checking rows again does no harm.
        if box.checkedSeq - (try LocalRows.checkedSeq(db)) >= Inbox.changesPerCheck {
            try LocalRows.setCheckedSeq(box.checkedSeq, db)
        }
        return rows.held.rows.count
    }

    private static let changesPerCheck: Int64 = 4_096
}
