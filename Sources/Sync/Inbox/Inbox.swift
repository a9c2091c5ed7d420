import GRDB
import Journal
import Logging
import Synchronization

/// What became of a received batch.
public struct ReceiveReport: Sendable, Hashable {
    /// Changes that are in tables and journal now.
    public var applied = 0
    /// Changes that were here already.
    public var duplicates = 0
    /// Changes of a transaction whose end has not come; durable, not visible.
    public var staged = 0
    /// Values that lost, or won against others, without having seen each other.
    public var conflicts = 0
    /// True when changes were left out because their stamps lie too far ahead of the local clock.
    public var isHeldBack = false

    public init() {}

    public static func + (a: ReceiveReport, b: ReceiveReport) -> ReceiveReport {
        var sum = ReceiveReport()
        sum.applied = a.applied + b.applied
        sum.duplicates = a.duplicates + b.duplicates
        sum.staged = a.staged + b.staged
        sum.conflicts = a.conflicts + b.conflicts
        sum.isHeldBack = a.isHeldBack || b.isHeldBack
        return sum
    }
}

/// The way into a replica for the changes of others: batches in, exactly once, whole transactions only.
///
/// Data, journal, ledger and knowledge move in one SQLite transaction: after a crash at any moment either all of a batch's
/// complete transactions are here, or none. One inbox for a file and process; any thread may call it.
public final class Inbox: Sendable {
    let replica: Replica
    let limits: Limits
    let wallClock: @Sendable () -> Stamp
    let logger: Logger?
    /// Watches the name under which this file's changes go out.
    let keeper: IdentityKeeper
    private let connection: MergeConnection
    let session = Mutex(SessionBox())

    /// `ApplySession` holds statements of one connection, which only that connection's queue touches.
    struct SessionBox: @unchecked Sendable {
        var session: ApplySession?
        var pending = PendingParts()
    }

    /// Opens the way in. A file that turns out to be a copy, or restored from a backup, takes a new name here.
    ///
    /// - Parameter wallClock: The time of day, to tell stamps that lie too far ahead.
    public init(
        replica: Replica, limits: Limits = .standard, logger: Logger? = nil, wallClock: @escaping @Sendable () -> Stamp
    ) throws {
        self.replica = replica
        self.limits = limits
        self.wallClock = wallClock
        self.logger = logger ?? replica.options.logger
        keeper = IdentityKeeper(replica: replica)
        connection = try replica.openMergeConnection()
        try settleIdentity()
    }

    /// Applies the complete transactions of `batch` that are new here, and stages the beginning of one that is not complete.
    ///
    /// - Throws: ``SyncError`` with `gap` or `fork` before anything is applied; errors of the file after a rollback. In each
    ///   case nothing of the batch is here then, and the same batch may come again.
    public func receive(_ batch: ChangeBatch) throws -> ReceiveReport {
        let now = wallClock()
        let latest = Stamp(milliseconds: now.milliseconds + limits.clockSkewMilliseconds)
        return try session.withLock { box in
            let admission = try replica.read { db in try decide(batch, pending: box.pending, latest: latest, db) }
            guard !admission.parts.isEmpty else { return report(admission) }
            if let staged = stageInMemory(admission, batch, pending: &box.pending) { return staged }
            do {
                try replica.settle()
                return try connection.write { db in
                    // Looked at again under the write lock: another process may have applied the same changes.
                    let admission = try decide(batch, pending: box.pending, latest: latest, db)
                    guard !admission.parts.isEmpty else { return report(admission) }
                    return try apply(admission, batch, box: &box, time: Double(now.milliseconds) / 1_000, db)
                }
            } catch {
                // Positions may be given out again, and parts may be gone: start from what the file holds.
                box = SessionBox()
                throw error
            }
        }
    }

    /// Shows held rows again that a local change made room for: a parent that came back, a UNIQUE value that was given up.
    ///
    /// Call it at each contact with the file; it reads only, when nothing is held.
    ///
    /// - Returns: How many rows are held still.
    @discardableResult
    public func bringBackHeldRows() throws -> Int {
        let count = try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") ?? 0 }
        guard count > 0 else { return 0 }
        try replica.settle()
        return try session.withLock { box in
            try connection.write { db in
                let rows = try RowStore(db, session: try current(&box, db), registry: ShapeRegistry(db))
                try rows.settle()
                return rows.held.rows.count
            }
        }
    }

    /// What is applied here, this replica's own changes included.
    public func vector() throws -> VersionVector {
        try replica.read { try JournalReader($0).vector() }
    }

    /// What need not be sent any more: what is applied or staged here.
    public func have() throws -> VersionVector {
        let pending = session.withLock { $0.pending }
        return try replica.read { db in pending.raise(try Staging(db: db).raise(JournalReader(db).vector())) }
    }

    public func close() throws {
        session.withLock { $0 = SessionBox() }
        try connection.close()
    }

    // MARK: - Pieces

    private func decide(
        _ batch: ChangeBatch, pending: PendingParts, latest: Stamp, _ db: Database
    ) throws -> Admission {
        let reader = try JournalReader(db)
        return try Admission.decide(
            batch, have: pending.raise(try Staging(db: db).raise(reader.vector())), own: reader.identity.origin,
            latest: latest)
    }

    /// Keeps a batch that ends no transaction in memory.
    ///
    /// - Returns: nil when the batch ends one, or is too large to be kept.
    private func stageInMemory(
        _ admission: Admission, _ batch: ChangeBatch, pending: inout PendingParts
    ) -> ReceiveReport? {
        guard admission.parts.count == 1, let part = admission.parts.first,
            !batch.changes[part.changes].contains(where: \.endsTransaction)
        else { return nil }
        let run = batch.runs[part.run]
        guard
            pending.append(
                batch.part(of: run, changes: part.changes), of: run.origin, limit: limits.pendingBytes)
        else { return nil }
        var report = report(admission)
        report.staged = part.changes.count
        return report
    }

    private func report(_ admission: Admission) -> ReceiveReport {
        var report = ReceiveReport()
        report.duplicates = admission.duplicates
        report.isHeldBack = admission.isHeldBack
        return report
    }

    private func current(_ box: inout SessionBox, _ db: Database) throws -> ApplySession {
        if let session = box.session, try session.isCurrent() { return session }
        let session = try ApplySession(db)
        box.session = session
        return session
    }

    private func apply(
        _ admission: Admission, _ batch: ChangeBatch, box: inout SessionBox, time: Double, _ db: Database
    ) throws -> ReceiveReport {
        let session = try current(&box, db)
        let staging = Staging(db: db)
        let origins = Set(batch.runs.map(\.origin))
        var applier: Applier?
        var report = report(admission)
        for part in admission.parts {
            let run = batch.runs[part.run]
            let end = part.changes.last { batch.changes[$0].endsTransaction }.map { $0 + 1 } ?? part.changes.lowerBound
            let complete = part.changes.lowerBound..<end
            let tail = end..<part.changes.upperBound
            if !complete.isEmpty {
                let current =
                    try applier
                    ?? Applier(db, session: session, hasManyOrigins: origins.count > 1, time: time)
                applier = current
                try staging.take(run.origin, limits: limits) { staged in
                    for run in staged.runs { try current.apply(run, changes: run.changes, of: staged) }
                }
                for staged in box.pending.take(run.origin) {
                    for run in staged.runs { try current.apply(run, changes: run.changes, of: staged) }
                }
                try current.apply(run, changes: complete, of: batch)
            }
            if !tail.isEmpty {
                // What is in memory comes before this part, and the file's parts are read back first.
                for staged in box.pending.take(run.origin) { try staging.put(staged) }
                try staging.put(batch.part(of: run, changes: tail))
                report.staged += tail.count
            }
        }
        try applier?.finish()
        report.applied = applier?.outcome.applied ?? 0
        report.conflicts = applier?.outcome.conflicts ?? 0
        return report
    }
}
