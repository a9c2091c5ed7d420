import GRDB
import Journal
import Synchronization

extension Inbox {
    /// Makes tables show what the merged state says after local changes and migrations. Held rows return if
    /// their parent came back or their UNIQUE value became free, rows that were written in violation of a
    /// constraint are held, and what the journal holds of new tables and columns is backfilled.
    ///
    /// Call it at each contact with the file. It only reads, and takes no write lock, unless a row has to be
    /// held, may return, or the schema has changed.
    ///
    /// - Returns: How many rows are still held; 0 also when there was nothing to do.
    /// - Throws: Errors of the file, after a rollback: ``JournalError`` with `displaced`, `readOnly`, `busy`
    ///   or `corrupt`, and those of SQLite. Tables, held rows and journal are unchanged then. Parts of
    ///   unfinished transactions that were only in memory are lost; peers send them again.
    @discardableResult
    package func bringBackHeldRows() throws -> Int {
        try replica.refreshDerivedState()
        return try look(snapshots: .max).held
    }

    /// A part of ``bringBackHeldRows()``: looks at local changes in one snapshot.
    ///
    /// - Returns: False when there are more changes to look at.
    /// - Throws: As that.
    func lookOnce() throws -> Bool {
        try replica.refreshDerivedState()
        return try look(snapshots: 1).isComplete && !replica.hasLongTail()
    }

    private func look(snapshots: Int) throws -> (held: Int, isComplete: Bool) {
        try session.withLock { box in
            switch try progress(&box, snapshots: snapshots) {
            case .mustWrite:
                let held = try box.attempt { box in
                    try connection.write { db in try lookAround(&box, db) }
                }
                return (held, true)
            case .isThrough(let isComplete):
                // Another process, or the next one, goes on from there.
                if box.checkedSeq - box.recordedSeq >= Inbox.changesPerRecord {
                    try connection.write { [seq = box.checkedSeq] in try LocalRows.setCheckedSeq(seq, $0) }
                    box.recordedSeq = box.checkedSeq
                }
                return (0, isComplete)
            }
        }
    }

    /// What is known of the local changes.
    private enum Progress {
        /// Tables or held rows have to change, or may have to.
        case mustWrite
        /// The changes that were looked at break nothing.
        case isThrough(isComplete: Bool)
    }

    /// Checks the local changes since the last look in snapshots, and remembers how far that went.
    private func progress(_ box: inout SessionBox, snapshots: Int) throws -> Progress {
        guard let session = box.session else { return .mustWrite }
        for _ in 0..<snapshots {
            let checked = box.checkedSeq
            let step = try replica.read { db -> Look in
                guard try session.isCurrent(in: db), try !session.mustEvaluateHeldRows(db) else { return .write }
                let last = try JournalReader.lastSeq(db)
                guard last > checked else { return .done(through: last) }
                let range = (checked + 1)...min(last, checked + Inbox.changesPerLook)
                let local = try LocalRows(db: db, session: session, registry: ShapeRegistry(db))
                if try !local.tablesFreeingHeldRows(in: range).isEmpty { return .write }
                if try local.isDue(in: range) { return .check(range) }
                return range.upperBound == last ? .done(through: last) : .skip(range)
            }
            switch step {
            case .write: return .mustWrite
            case .done(let last):
                box.checkedSeq = last
                return .isThrough(isComplete: true)
            case .skip(let range): box.checkedSeq = range.upperBound
            case .check(let range):
                let isViolated = try connection.read { db in
                    // The session's statements are this connection's, and its snapshot may be a later one.
                    guard try session.isCurrent(in: db) else { return true }
                    return try LocalRows(db: db, session: session, registry: ShapeRegistry(db)).hasViolation(in: range)
                }
                if isViolated { return .mustWrite }
                box.checkedSeq = range.upperBound
            }
        }
        return .isThrough(isComplete: false)
    }

    /// What a snapshot tells of the changes since the last look.
    private enum Look {
        case write
        case check(ClosedRange<Int64>)
        case skip(ClosedRange<Int64>)
        case done(through: Int64)
    }

    /// The most local changes that are checked in one snapshot. One that stays open keeps the log from
    /// starting again.
    private static let changesPerLook: Int64 = 8_192

    private func lookAround(_ box: inout SessionBox, _ db: Database) throws -> Int {
        let isFirst = box.session == nil
        let session = try current(&box, db)
        // The appender materializes the derived state first: a row that is held afterwards must not look like
        // one that REPLACE evicted.
        let appender = try JournalAppender(db)
        let checked = max(box.checkedSeq, try LocalRows.checkedSeq(db))
        let local = LocalRows(db: db, session: session, registry: appender.registry)
        let rows = try RowStore(db, session: session, registry: appender.registry)
        let last = appender.position - 1
        var freeing: Set<Int64> = []
        if last > checked {
            let range = (checked + 1)...last
            freeing = try local.tablesFreeingHeldRows(in: range)
            if try local.isDue(in: range) { try local.note(in: range, rows: rows) { try rows.holdIfRefused($0) } }
        }
        let isWholly = try session.mustEvaluateHeldRows(db)
        let contested = PolicyResolver(db, session: session, functions: functions)
        try contested.addHeld(of: rows)
        if isWholly { for row in try rows.showFittingKeys() { contested.add(row) } }
        try contested.resolve(into: rows)
        rows.touchedGroups.formUnion(rows.groups(of: freeing))
        try rows.updateVisibility(all: isWholly)
        box.checkedSeq = last
        // Recorded only from time to time: checking rows again does no harm. But many processes may come for
        // one exchange each, and all of them would evaluate the held rows again.
        box.recordedSeq = try LocalRows.checkedSeq(db)
        if last - box.recordedSeq >= Inbox.changesPerCheck || isFirst && !freeing.isEmpty {
            try LocalRows.setCheckedSeq(last, db)
            box.recordedSeq = last
        }
        return try HeldRows.count(db)
    }

    /// The changes after which that is written along with something else, and by itself.
    private static let changesPerCheck: Int64 = 4_096
    private static let changesPerRecord: Int64 = 16_384
}
