import GRDB
import Journal
import Synchronization

extension Inbox {
    /// Makes tables show what the merged state says after local changes and migrations: held rows return whose parent came back or
    /// whose UNIQUE value was given up, rows that were written past a constraint are set aside, and what the journal holds of tables
    /// and columns that became known is joined.
    ///
    /// Call it at each contact with the file; it reads only, when nothing is held, the schema is as it was and no table with
    /// foreign keys or CHECK constraints was written to.
    ///
    /// - Returns: How many rows are held still; 0 also when there was nothing to do.
    /// - Throws: Errors of the file, after a rollback: ``JournalError`` with `displaced`, `readOnly`, `busy` or `corrupt`, and
    ///   those of SQLite. Tables, held rows and journal are as before then. What was only in memory of transactions whose ends
    ///   have not come is gone; peers send it again.
    @discardableResult
    public func bringBackHeldRows() throws -> Int {
        try replica.refreshDerivedState()
        return try session.withLock { box in
            let isDue = try replica.read { db in
                let isHolding = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_held)") ?? false
                guard !isHolding, let session = box.session, try session.isCurrent(in: db) else { return true }
                return try LocalRows(db: db, session: session, registry: ShapeRegistry(db)).isDue(after: box.checkedSeq)
            }
            guard isDue else { return 0 }
            do {
                return try connection.write { db in try lookAround(&box, db) }
            } catch {
                box = SessionBox()
                throw error
            }
        }
    }

    private func lookAround(_ box: inout SessionBox, _ db: Database) throws -> Int {
        let session = try current(&box, db)
        // Seals first: a row that is set aside must not look like one that REPLACE evicted.
        let appender = try JournalAppender(db)
        let checked = max(box.checkedSeq, try LocalRows.checkedSeq(db))
        let local = LocalRows(db: db, session: session, registry: appender.registry)
        let rows = try RowStore(db, session: session, registry: appender.registry)
        let isDue = try local.isDue(after: checked)
        if isDue { try local.note(after: checked, in: rows) }
        if isDue || !rows.held.isEmpty {
            let contested = PolicyResolver(db, session: session, functions: functions)
            try contested.addHeld(of: rows)
            try rows.showFittingKeys(contested: contested)
            try contested.resolve(into: rows)
            try rows.updateVisibility(all: true)
        }
        box.checkedSeq = appender.position - 1
        // Written down now and then only: looking again does no harm.
        if box.checkedSeq - (try LocalRows.checkedSeq(db)) >= Inbox.changesPerCheck {
            try LocalRows.setCheckedSeq(box.checkedSeq, db)
        }
        return rows.held.rows.count
    }

    private static let changesPerCheck: Int64 = 4_096
}
