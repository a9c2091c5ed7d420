import GRDB
import Journal
import Synchronization

/// What a compaction did, or would do.
package struct CompactionReport: Sendable, Hashable {
    /// What is stable, and who holds it back.
    package var horizon: StableHorizon
    /// Entries of the journal before.
    package var entries: Int64
    /// How many of them are stable and old enough.
    package var stable: Int
    /// How many of these are superseded and were, or would be, removed.
    package var removable: Int
    /// How many were removed.
    package var removed = 0
    /// True when the file changed so that the rest of the work was dropped; the next compaction does it.
    package var isCutShort = false
    /// Free pages of the file afterwards, in bytes.
    package var freeBytes: Int64 = 0
    /// Bytes that were given back to the disk.
    package var returnedBytes: Int64 = 0
    /// True when the file can give free pages back by itself: `PRAGMA auto_vacuum = INCREMENTAL`.
    package var givesBack = false
}

extension Inbox {
    /// What other replicas are known to have merged.
    ///
    /// - Parameter lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Throws: Errors of the file.
    package func stableHorizon(lease: Int64? = nil) throws -> StableHorizon {
        try replica.read { try acknowledgements.stableHorizon($0, lease: lease ?? limits.leaseMilliseconds) }
    }

    /// Takes what the sender of a hello has merged, and what it heard of others.
    ///
    /// - Throws: As ``AcknowledgementBook/take(_:from:)``.
    func hear(_ hello: Hello) throws { try acknowledgements.take(hello.acknowledgements, from: hello.origin) }

    /// Decides what can go of the journal.
    ///
    /// - Parameters:
    ///   - keep: How much history stays at least, in milliseconds.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Throws: Errors of the file.
    package func planCompaction(keep: Int64, lease: Int64) throws -> (plan: CompactionPlan, report: CompactionReport) {
        try prepareCompaction()
        let until = Stamp(milliseconds: max(0, wallClock().milliseconds - max(0, keep)))
        return try replica.read { db in
            let horizon = try acknowledgements.stableHorizon(db, lease: lease)
            let plan = try CompactionPlan(db, upTo: horizon.vector, until: until)
            let entries = try JournalReader.lastSeq(db) - Horizon(db).removed
            return (
                plan,
                CompactionReport(
                    horizon: horizon, entries: entries, stable: plan.stable, removable: plan.removals.count)
            )
        }
    }

    /// Copies the file into itself without its free pages, which go back to the disk. Nothing else can write
    /// meanwhile, and the disk needs room for the copy.
    ///
    /// - Throws: Errors of the file, which is then as before.
    package func copyFile() throws {
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

/// Compacts the journal of one replica, in short transactions with pauses, so that programs that write the
/// file hardly notice.
struct Compaction: Sendable {
    let inbox: Inbox
    let clock: any SyncClock

    /// - Parameters:
    ///   - keep: How much history stays at least, in milliseconds.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds.
    ///   - isDryRun: True only decides.
    ///   - onProgress: Called after each transaction with how many entries are gone, and how many will be.
    /// - Throws: Errors of the file. The work up to there stays; the journal says the same as before.
    func run(
        keep: Int64, lease: Int64, isDryRun: Bool = false,
        onProgress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> CompactionReport {
        var (plan, report) = try await blocking { [inbox] in try inbox.planCompaction(keep: keep, lease: lease) }
        if !isDryRun { try await carryOut(plan, &report, onProgress) }
        let replica = inbox.replica
        let free = try await blocking { try replica.read { try FreePages($0) } }
        report.givesBack = free.givesBack
        if !isDryRun, free.givesBack { report.returnedBytes = try await giveBack(free) }
        report.freeBytes = try await blocking { try replica.read { try FreePages($0).bytes } }
        return report
    }

    private func carryOut(
        _ plan: CompactionPlan, _ report: inout CompactionReport, _ onProgress: @Sendable (Int, Int) -> Void
    ) async throws {
        var compactor = Compactor(plan, rowsPerStep: inbox.limits.compactionRowsPerStep)
        while !compactor.progress.isComplete {
            let step = compactor
            let next: Compactor? = try await blocking { [inbox] in
                try inbox.replica.write { db in
                    var step = step
                    return try step.step(db) ? step : nil
                }
            }
            guard let next else {
                report.isCutShort = true
                return
            }
            compactor = next
            report.removed = compactor.progress.removed
            onProgress(compactor.progress.removed, compactor.progress.planned)
            try await pause()
        }
    }

    /// Gives free pages back to the disk, some at a time.
    private func giveBack(_ free: FreePages) async throws -> Int64 {
        let replica = inbox.replica
        var left = free.count
        while left > 0 {
            left = try await blocking { [left] in
                try replica.withConnections { connections in
                    try connections.writeWithoutTransaction { db in
                        try db.execute(sql: "PRAGMA incremental_vacuum(\(FreePages.perStep))")
                        return try min(left - 1, FreePages(db).count)
                    }
                }
            }
            try await pause()
        }
        return try await blocking { try replica.read { (free.count - (try FreePages($0).count)) * free.size } }
    }

    private func pause() async throws {
        let pause = inbox.limits.compactionPauseMilliseconds
        if pause > 0 { try await clock.sleep(milliseconds: pause) }
    }
}

/// The pages of a file that hold nothing.
private struct FreePages {
    /// Some milliseconds of work.
    static let perStep = 256

    let count: Int64
    /// Bytes of a page.
    let size: Int64
    let givesBack: Bool

    init(_ db: Database) throws {
        count = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        size = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        givesBack = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
    }

    var bytes: Int64 { count * size }
}
