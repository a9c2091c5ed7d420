import GRDB
import Journal
import Logging
import Synchronization

/// Takes in the changes of other replicas: whole transactions only, each exactly once.
///
/// Rows, journal, conflict ledger and vector change in one SQLite transaction. After a crash, either all
/// complete transactions of a batch are here or none. There is one inbox for a file and process; any thread
/// may call it.
package final class Inbox: Sendable {
    let replica: Replica
    /// The limits of what is received and kept.
    package let limits: Limits
    let wallClock: @Sendable () -> Stamp
    let logger: Logger?
    /// Checks that this file alone publishes changes under its origin.
    let keeper: IdentityKeeper
    /// Where snapshots have ended.
    let ends = SeenEnds()
    /// What this process found too large for every peer.
    let unsendable = UnsendableChanges()
    let functions: ConflictFunctions
    /// What is recorded of peers.
    package let peers: PeerRecords
    /// What other replicas have merged.
    package let acknowledgements: AcknowledgementBook
    let connection: MergeConnection
    let session = Mutex(SessionBox())

    /// The state of the merge connection between transactions.
    ///
    /// Unchecked: `ApplySession` holds statements of one connection, and only that connection's queue uses
    /// them.
    struct SessionBox: @unchecked Sendable {
        var session: ApplySession?
        /// The index of concurrent changes. It is made and dropped with ``session``.
        var concurrent = ConcurrentChanges()
        /// What minted keys mean. It is made when it is first needed, and dropped with ``session``.
        var meanings: KeyMeanings?
        var pending = PendingParts()
        /// What was staged or pending at the last sweep, to find beginnings that stopped growing.
        var waiting: [OriginID: Waiting] = [:]
        /// Local changes up to this position were checked; see ``LocalRows``.
        var checkedSeq: Int64 = 0
        /// What the file says of ``checkedSeq``.
        var recordedSeq: Int64 = 0

        /// Runs `body`, and starts again from what the file holds when it fails: the transaction is rolled
        /// back, so positions may be assigned again, and parts that `body` has taken are lost.
        mutating func attempt<T>(_ body: (inout SessionBox) throws -> T) rethrows -> T {
            do {
                return try body(&self)
            } catch {
                self = SessionBox()
                throw error
            }
        }
    }

    /// The beginning of a transaction whose last version has been `version` since a time, in milliseconds
    /// since 1970.
    struct Waiting: Sendable {
        var version: Int64
        var since: Int64
    }

    /// Opens the inbox. Everything that the file shows is durable afterwards. A file that turns out to be a
    /// copy, or restored from a backup, takes a new identity.
    ///
    /// - Parameters:
    ///   - replica: A file that may be written to. It stays open when the inbox is closed.
    ///   - limits: The limits of what is received and kept; peers should use the same.
    ///   - functions: The functions of tables with the policy ``MergePolicy/custom(_:)``.
    ///   - logger: For deferred origins, dropped entries and new identities; nil for the logger of the
    ///     replica's options.
    ///   - wallClock: Returns the time of day, to find stamps that lie too far ahead.
    /// - Throws: ``JournalError``: `readOnly` for a replica in memory or for reading only, and when the log
    ///   or the publication record cannot be synced or written; `displaced`. ``SyncError`` with `fork` when
    ///   the file has taken too many new identities. Errors of SQLite. No inbox is opened then; a new
    ///   identity that the file has taken stays.
    package init(
        replica: Replica, limits: Limits = .standard, functions: ConflictFunctions = ConflictFunctions(),
        logger: Logger? = nil, wallClock: @escaping @Sendable () -> Stamp
    ) throws {
        self.replica = replica
        self.functions = functions
        self.limits = limits
        self.wallClock = wallClock
        self.logger = logger ?? replica.options.logger
        keeper = IdentityKeeper(replica: replica)
        peers = PeerRecords(replica: replica, limits: limits, wallClock: wallClock)
        acknowledgements = AcknowledgementBook(replica: replica, limits: limits, wallClock: wallClock)
        connection = try replica.openMergeConnection()
        try replica.syncLog()
        try ensureOwnIdentity()
        try ends.load(EndsFile(of: replica), of: replica)
    }

    /// Applies the complete transactions of `batch` that are new here, and stages the beginning of an
    /// incomplete one.
    ///
    /// - Throws: ``SyncError`` with `gap` or `fork` before anything is applied; errors of the file after a
    ///   rollback. In each case nothing of the batch is here, and the same batch may come again.
    package func receive(_ batch: ChangeBatch) throws -> ReceiveReport {
        let now = wallClock()
        let latest = latestStamp(now)
        return try session.withLock { box in
            let (batch, admission) = try replica.read { db in
                let batch = try LeafScope.received(batch, db)
                return (batch, try decide(batch, pending: box.pending, latest: latest, db))
            }
            guard !admission.parts.isEmpty || admission.isDeferred else { return report(admission) }
            if let staged = stageInMemory(admission, batch, pending: &box.pending) { return staged }
            return try box.attempt { box in
                try replica.refreshDerivedState()
                return try connection.write { db in
                    // Decided again under the write lock: another process may have applied the same changes.
                    let admission = try decide(batch, pending: box.pending, latest: latest, db)
                    let time = Double(now.milliseconds) / 1_000
                    try holdBack(admission, now: now, time: time, db)
                    guard !admission.parts.isEmpty else { return report(admission) }
                    return try apply(admission, batch, box: &box, time: time, db)
                }
            }
        }
    }

    /// The versions that are applied here, this replica's own changes included.
    ///
    /// - Throws: ``JournalError`` with `corrupt` when the journal cannot be read; errors of the file.
    package func vector() throws -> VersionVector {
        try replica.read { try KnownVersions($0).vector }
    }

    /// Writes pending parts of transactions from memory to the file, before a peer is told that they are
    /// here. Parts that come into memory afterwards are not part of ``durable()``.
    func makePendingDurable() throws {
        try session.withLock { box in
            guard !box.pending.isEmpty else { return }
            try box.attempt { box in
                try connection.write { db in
                    let staging = Staging(db: db)
                    for origin in box.pending.origins {
                        for part in box.pending.take(origin) { try staging.put(part) }
                    }
                }
            }
        }
    }

    /// What is applied or staged in the file. A peer may be told that it need not keep these changes for this
    /// replica.
    func durable() throws -> VersionVector {
        try replica.read { db in try Staging(db: db).raise(KnownVersions(db).vector) }
    }

    /// What need not be sent again: what is applied or staged here, and what is in memory
    /// (``makePendingDurable()``).
    ///
    /// - Throws: ``JournalError`` with `corrupt` when the journal cannot be read; errors of the file.
    package func have() throws -> VersionVector {
        let pending = session.withLock { $0.pending }
        return try replica.read { db in pending.raise(try Staging(db: db).raise(KnownVersions(db).vector)) }
    }

    /// What a peer that has `theirs` need not send now: ``have()`` and what is deferred.
    func covered(from theirs: VersionVector) throws -> VersionVector {
        var have = try have()
        have.merge(try deferred(from: theirs))
        return have
    }

    /// What was seen and deferred, and need not be sent again now by a peer that has `theirs`; see
    /// ``DeferredOrigins/deferred(latest:from:)``.
    func deferred(from theirs: VersionVector? = nil) throws -> VersionVector {
        let latest = latestStamp(wallClock())
        return try replica.read { try DeferredOrigins($0).deferred(latest: latest, from: theirs) }
    }

    /// True when the newest snapshot of an archive has changes that are refused here for ever, because their writers had
    /// not seen what is compacted here. Everybody comes back by that snapshot; see ``Return``. Where it lacks something
    /// that is compacted here, that is written again on top of it.
    package func needsContent(ofSnapshot vector: VersionVector) throws -> Bool {
        try replica.read { try RefusedChanges($0)?.isPart(of: vector) ?? false }
    }

    /// The time until deferred changes may be asked for again, in milliseconds; nil when none are deferred,
    /// or only an operator can decide on them.
    func nextDue() throws -> Int64? {
        let latest = latestStamp(wallClock())
        return try replica.read { try DeferredOrigins($0).nextDue(latest: latest) }
    }

    /// Drops entries of the conflict ledger that are older than the limit. It only reads when there are none.
    ///
    /// - Returns: How many were dropped.
    /// - Throws: Errors of the file, after a rollback: ``JournalError`` with `displaced`, `readOnly` or
    ///   `busy`, and those of SQLite. No entry is dropped then.
    @discardableResult
    package func dropOldConflicts() throws -> Int {
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
                "the conflict ledger dropped \(dropped.byAge) entries for their age and \(dropped.byCap) beyond the limit of a row"
            )
        }
        return dropped.total
    }

    /// Closes the inbox; the replica stays open. Parts of unfinished transactions that were only in memory
    /// are dropped, and peers send them again. Every later use that writes throws; closing again does
    /// nothing.
    ///
    /// - Throws: `DatabaseError` when SQLite cannot close the connection.
    package func close() throws {
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
            latest: latest, clocks: DeferredOrigins(db), horizon: Horizon(db).vector,
            stamp: { try? reader.stamp(of: $0, version: $1) })
    }

    /// The greatest stamp that is merged at a time.
    func latestStamp(_ now: Stamp) -> Stamp {
        Stamp(milliseconds: now.milliseconds + limits.clockSkewMilliseconds)
    }

    /// Records the deferred origins, and logs each of them once.
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
                : hold.isBehindHorizon
                    ? "their writer had not seen changes that are compacted here, because it was away for longer than its lease"
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
        // Local programs may have rewritten held rows. This drops what was held of them, before it is read.
        try DerivedState.materialize(db)
        if let session = box.session, try session.isCurrent(in: db) { return session }
        let session = try ApplySession(db)
        try Rekeying.refresh(db, session: session, functions: functions, time: Double(wallClock().milliseconds) / 1_000)
        try Backfill(db: db, session: session, functions: functions).run()
        try NewForeignKeys(db: db, session: session, registry: ShapeRegistry(db)).run()
        box.session = session
        box.concurrent = ConcurrentChanges()
        box.meanings = nil
        return session
    }

    /// What minted keys mean, read from the file when it is first needed.
    func meanings(_ box: inout SessionBox, _ session: ApplySession, _ db: Database) throws -> KeyMeanings {
        let meanings = try box.meanings ?? KeyMeanings(db, domains: session.domains)
        box.meanings = meanings
        return meanings
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
                        db, session: session, concurrent: box.concurrent, meanings: meanings(&box, session, db),
                        hasManyOrigins: origins.count > 1, functions: functions, limits: limits, time: time)
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
                // The parts in memory precede this one, so they go to the file first. Parts in the file are
                // read before those in memory.
                for staged in box.pending.take(run.origin) { try staging.put(staged) }
                try staging.put(batch.part(of: run, changes: tail))
                report.staged += tail.count
            }
        }
        return try report + finish(applier, lastConflict: lastConflict, time: time, db)
    }

    /// Completes what was applied, and counts it.
    ///
    /// - Parameter lastConflict: The newest entry of the conflict ledger before.
    func finish(
        _ applier: Applier?, lastConflict: Int64, time: Double, _ db: Database
    ) throws -> ReceiveReport {
        var report = ReceiveReport()
        try applier?.finish()
        report.applied = applier?.outcome.applied ?? 0
        // A change that loses to several others has one entry.
        report.conflicts = try ConflictLedger.count(after: lastConflict, db)
        if applier?.outcome.hasConflicts == true {
            report.droppedConflicts = try dropConflicts(newSince: lastConflict, time: time, db)
        }
        if report.applied > 0 { try peers.writeAlong(db) }
        if try !DeferredOrigins(db).isEmpty {
            try DeferredOrigins(db).forget(coveredBy: KnownVersions(db).vector, db)
        }
        return report
    }
}
