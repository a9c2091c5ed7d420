import GRDB
import Journal
import Logging
import Synchronization

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
    let functions: ConflictFunctions
    let connection: MergeConnection
    let session = Mutex(SessionBox())

    /// `ApplySession` holds statements of one connection, which only that connection's queue touches.
    struct SessionBox: @unchecked Sendable {
        var session: ApplySession?
        var pending = PendingParts()
        /// What was staged or pending at the last look for beginnings that nobody finishes.
        var waiting: [OriginID: Waiting] = [:]
        /// Local changes up to this position were looked at; see ``LocalRows``.
        var checkedSeq: Int64 = 0
    }

    /// A beginning of a transaction that ended with `version` at every look since a time, in milliseconds since 1970.
    struct Waiting: Sendable {
        var version: Int64
        var since: Int64
    }

    /// Opens the way in. What the file shows is durable from here on, and a file that turns out to be a copy, or restored from a backup,
    /// takes a new name.
    ///
    /// - Parameters:
    ///   - replica: A file that may be written. It stays open when the inbox is closed.
    ///   - limits: What is taken and kept at most; those of peers should be the same.
    ///   - functions: For tables whose conflicts a function decides (``MergePolicy/custom(_:)``).
    ///   - logger: For what is held back, dropped or renamed; nil for that of the replica's options.
    ///   - wallClock: The time of day, to tell stamps that lie too far ahead.
    /// - Throws: ``JournalError``: `readOnly` for a replica in memory or for reading only, and when the log or the record beside
    ///   the file cannot be synced or written; `displaced`. ``SyncError`` with `fork` when the file changes its name too often
    ///   to be believed. Errors of SQLite. There is no inbox then; a new name that the file has taken stays.
    public init(
        replica: Replica, limits: Limits = .standard, functions: ConflictFunctions = ConflictFunctions(),
        logger: Logger? = nil, wallClock: @escaping @Sendable () -> Stamp
    ) throws {
        self.replica = replica
        self.functions = functions
        self.limits = limits
        self.wallClock = wallClock
        self.logger = logger ?? replica.options.logger
        keeper = IdentityKeeper(replica: replica)
        connection = try replica.openMergeConnection()
        try Inbox.syncLog(of: replica)
        try ensureOwnIdentity()
    }

    /// Applies the complete transactions of `batch` that are new here, and stages the beginning of one that is not complete.
    ///
    /// - Throws: ``SyncError`` with `gap` or `fork` before anything is applied; errors of the file after a rollback. In each
    ///   case nothing of the batch is here then, and the same batch may come again.
    public func receive(_ batch: ChangeBatch) throws -> ReceiveReport {
        let now = wallClock()
        let latest = latestStamp(now)
        return try session.withLock { box in
            let admission = try replica.read { db in try decide(batch, pending: box.pending, latest: latest, db) }
            guard !admission.parts.isEmpty || admission.isDeferred else { return report(admission) }
            if let staged = stageInMemory(admission, batch, pending: &box.pending) { return staged }
            do {
                try replica.refreshDerivedState()
                return try connection.write { db in
                    // Looked at again under the write lock: another process may have applied the same changes.
                    let admission = try decide(batch, pending: box.pending, latest: latest, db)
                    let time = Double(now.milliseconds) / 1_000
                    try holdBack(admission, now: now, time: time, db)
                    guard !admission.parts.isEmpty else { return report(admission) }
                    return try apply(admission, batch, box: &box, time: time, db)
                }
            } catch {
                // Positions may be given out again, and parts may be gone: start from what the file holds.
                box = SessionBox()
                throw error
            }
        }
    }

    /// What is applied here, this replica's own changes included.
    ///
    /// - Throws: ``JournalError`` with `corrupt` when the journal cannot be read; errors of the file.
    public func vector() throws -> VersionVector {
        try replica.read { try JournalReader($0).vector() }
    }

    /// Writes down what is in memory of transactions whose ends have not come: before a peer is told that it is here. What comes into
    /// memory afterwards is not part of ``durable()``.
    func makePendingDurable() throws {
        try session.withLock { box in
            guard !box.pending.isEmpty else { return }
            do {
                try connection.write { db in
                    let staging = Staging(db: db)
                    for origin in box.pending.origins {
                        for part in box.pending.take(origin) { try staging.put(part) }
                    }
                }
            } catch {
                box = SessionBox()
                throw error
            }
        }
    }

    /// What is applied or staged in the file: what a peer may be told that it need not keep for this replica.
    func durable() throws -> VersionVector {
        try replica.read { db in try Staging(db: db).raise(JournalReader(db).vector()) }
    }

    /// What need not be sent any more: what is applied or staged here, and what is in memory (``makePendingDurable()``).
    ///
    /// - Throws: ``JournalError`` with `corrupt` when the journal cannot be read; errors of the file.
    public func have() throws -> VersionVector {
        let pending = session.withLock { $0.pending }
        return try replica.read { db in pending.raise(try Staging(db: db).raise(JournalReader(db).vector())) }
    }

    /// What a peer that has `theirs` need not send now: ``have()``, and what is held back for its stamps.
    func covered(from theirs: VersionVector) throws -> VersionVector {
        var have = try have()
        have.merge(try deferred(from: theirs))
        return have
    }

    /// What was seen, is not here, and need not be sent again now by a peer that has `theirs`; see ``DeferredOrigins/deferred(latest:from:)``.
    func deferred(from theirs: VersionVector? = nil) throws -> VersionVector {
        let latest = latestStamp(wallClock())
        return try replica.read { try DeferredOrigins($0).deferred(latest: latest, from: theirs) }
    }

    /// Drops entries of the ledger that are older than the limit; reads only, when there are none.
    ///
    /// - Returns: How many were dropped.
    /// - Throws: Errors of the file, after a rollback: ``JournalError`` with `displaced`, `readOnly` or `busy`, and those of
    ///   SQLite. No entry is dropped then.
    @discardableResult
    public func dropOldConflicts() throws -> Int {
        let time = Double(wallClock().milliseconds) / 1_000
        let retention = limits.conflictRetention
        guard try replica.read({ try ConflictLedger.isAgeDue(retention, time: time, $0) }) else { return 0 }
        try replica.refreshDerivedState()
        return try connection.write { try dropConflicts(newSince: .max, time: time, $0) }
    }

    private func dropConflicts(newSince: Int64, time: Double, _ db: Database) throws -> Int {
        let dropped = try ConflictLedger.retain(limits.conflictRetention, time: time, newSince: newSince, db)
        if dropped.total > 0 {
            logger?.notice(
                "the ledger dropped \(dropped.byAge) conflicts for their age and \(dropped.byCap) beyond the most of one row"
            )
        }
        return dropped.total
    }

    /// Closes the way in; the replica stays open. What was only in memory of transactions whose ends have not come is dropped, and
    /// peers send it again. Every use from then on that writes throws; closing again does nothing.
    ///
    /// - Throws: `DatabaseError` when SQLite cannot close the connection.
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
            latest: latest, clocks: DeferredOrigins(db),
            stamp: { origin, version in
                try? reader.position(of: origin, version: version).flatMap { try reader.entry(at: $0)?.stamp }
            })
    }

    private func latestStamp(_ now: Stamp) -> Stamp {
        Stamp(milliseconds: now.milliseconds + limits.clockSkewMilliseconds)
    }

    /// Notes what is held back, and says so once for each origin.
    private func holdBack(_ admission: Admission, now: Stamp, time: Double, _ db: Database) throws {
        guard admission.isDeferred else { return }
        let before = try DeferredOrigins(db)
        for hold in admission.deferred where before[hold.origin] != hold {
            guard before[hold.origin] != nil || before.count < limits.originsPerVector else { continue }
            try DeferredOrigins.record(hold, time: time, db)
            guard before[hold.origin] == nil else { continue }
            let reason =
                hold.isContradictory
                ? "they contradict the changes before them"
                : hold.stamp.map {
                    "their stamps lie \(($0.milliseconds - now.milliseconds) / 1_000) s ahead of this clock"
                }
                    ?? "their writer had seen changes that are held back"
            logger?.warning(
                "changes of \(hold.origin) from version \(hold.firstVersion) on are held back: \(reason)")
        }
    }

    /// Keeps a batch that ends no transaction in memory.
    ///
    /// - Returns: nil when the batch ends one, or is too large to be kept.
    private func stageInMemory(
        _ admission: Admission, _ batch: ChangeBatch, pending: inout PendingParts
    ) -> ReceiveReport? {
        guard !admission.isDeferred, admission.parts.count == 1, let part = admission.parts.first,
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
        report.isDeferred = admission.isDeferred
        return report
    }

    func current(_ box: inout SessionBox, _ db: Database) throws -> ApplySession {
        // Local programs may have written held rows anew: what is held is read after that.
        try DerivedState.materialize(db)
        if let session = box.session, try session.isCurrent(in: db) { return session }
        let session = try ApplySession(db)
        try Backfill(db: db, session: session, functions: functions).run()
        try NewForeignKeys(db: db, session: session, registry: ShapeRegistry(db)).run()
        box.session = session
        return session
    }

    private func apply(
        _ admission: Admission, _ batch: ChangeBatch, box: inout SessionBox, time: Double, _ db: Database
    ) throws -> ReceiveReport {
        let session = try current(&box, db)
        let lastConflict = try ConflictLedger.lastID(db)
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
                    ?? Applier(
                        db, session: session, hasManyOrigins: origins.count > 1, functions: functions, limits: limits,
                        time: time)
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
        return try report + finish(applier, lastConflict: lastConflict, time: time, db)
    }

    /// Closes what was applied, and counts it.
    ///
    /// - Parameter lastConflict: The ledger's newest entry before.
    func finish(
        _ applier: Applier?, lastConflict: Int64, time: Double, _ db: Database
    ) throws -> ReceiveReport {
        var report = ReceiveReport()
        try applier?.finish()
        report.applied = applier?.outcome.applied ?? 0
        report.conflicts = applier?.outcome.conflicts ?? 0
        if report.conflicts > 0 {
            report.droppedConflicts = try dropConflicts(newSince: lastConflict, time: time, db)
        }
        if try !DeferredOrigins(db).isEmpty {
            try DeferredOrigins(db).forget(coveredBy: JournalReader(db).vector(), db)
        }
        return report
    }
}
