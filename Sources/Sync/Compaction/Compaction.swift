import GRDB
import Journal

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
        if !isDryRun, let plan { try await carryOut(plan, &report, onProgress) }
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
        var compactor = Compactor(plan)
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
