import GRDB
import Journal
import Synchronization

extension Inbox {
    /// Decides what can go of the journal.
    ///
    /// - Parameters:
    ///   - keep: How much history stays at least, in milliseconds.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Returns: What to do, and what is known so far; no plan when the file got another identity or schema
    ///   meanwhile.
    /// - Throws: Errors of the file.
    package func planCompaction(keep: Int64, lease: Int64) throws -> (plan: CompactionPlan?, report: CompactionReport) {
        try prepareCompaction()
        let until = Stamp(milliseconds: max(0, wallClock().milliseconds - max(0, keep)))
        var (report, ends) = try replica.read { db in
            (
                CompactionReport(
                    horizon: try acknowledgements.stableHorizon(db, lease: lease),
                    entries: try JournalReader.lastSeq(db) - Horizon(db).removed),
                try transactionEnds(db)
            )
        }
        let plan = try CompactionPlan(
            { [replica] in try replica.read($0) }, upTo: report.horizon.vector, until: until, ends: ends,
            rowsPerStep: limits.compactionRowsPerStep)
        report.stable = plan?.stable ?? 0
        report.removable = plan?.removals.count ?? 0
        report.isCutShort = plan == nil
        return (plan, report)
    }

    /// Where transactions end in a snapshot whose writers mark no end.
    package func transactionEnds(_ db: Database) throws -> TransactionEnds {
        TransactionEnds(
            seen: ends.positions(upTo: try FrameSource.Position(db)), changes: limits.changesPerUnseenTransaction,
            bytes: limits.bytesPerUnseenTransaction)
    }

    /// Copies the file into itself without its free pages, which go back to the disk. Nothing else can write
    /// meanwhile, and the disk needs room for the copy.
    ///
    /// - Throws: Errors of the file, which is then as before.
    package func vacuum() throws {
        try replica.withConnections { connections in
            try connections.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        }
    }

    /// Checks what local programs wrote, and records that: compaction leaves alone what is not checked.
    ///
    /// - Throws: Errors of the file, after a rollback.
    package func prepareCompaction() throws {
        try bringBackHeldRows()
        try session.withLock { box in
            guard box.checkedSeq > box.recordedSeq else { return }
            try box.attempt { box in
                let checked = box.checkedSeq
                try connection.write { db in
                    try DerivedState.materialize(db)
                    try LocalRows.setCheckedSeq(checked, db)
                }
                box.recordedSeq = checked
            }
        }
    }
}
