import Journal

/// Which changes of a received batch are new here and may be taken. A pure decision: no change is applied
/// twice, and none while an earlier version of its origin is missing.
struct Admission: Hashable {
    /// Consecutive changes of one run that are new here.
    struct Part: Hashable {
        let run: Int
        /// Positions in ``ChangeBatch/changes``.
        var changes: Range<Int>
        let firstVersion: Int64
    }

    var parts: [Part] = []
    /// Changes that were here already.
    var duplicates = 0
    /// The origins whose changes were left out, because their stamps are too far ahead of the clock or
    /// contradict earlier changes, or because their writers had not seen what is compacted here.
    var deferred: [DeferredOrigin] = []

    var isDeferred: Bool { !deferred.isEmpty }

    /// Decides what to take of `batch`. An origin with a wrong clock is deferred, and so are changes whose
    /// writers had merged deferred ones; everything else is taken.
    ///
    /// - Parameters:
    ///   - have: What is applied or staged here.
    ///   - own: This replica's origin; its own changes are never taken from others.
    ///   - latest: The greatest stamp to accept, unless an operator allowed a greater one for the origin.
    ///   - clocks: What was deferred before, and what operators allowed.
    ///   - horizon: Up to where the journal here is compacted. A change whose writer had not seen all of it is
    ///     not taken.
    ///   - stamp: Returns the stamp of a version that is applied here; nil for other versions.
    /// - Throws: `gap` when a run starts after the version that comes next, `fork` when a peer knows more of
    ///   this replica's own changes than the replica does itself. Nothing may be applied then.
    static func decide(
        _ batch: ChangeBatch, have: VersionVector, own: OriginID, latest: Stamp,
        clocks: DeferredOrigins = DeferredOrigins(), horizon: VersionVector = VersionVector(),
        stamp: (OriginID, Int64) -> Stamp? = { _, _ in nil }
    ) throws(SyncError) -> Admission {
        var decision = Decision(
            batch: batch, own: own, latest: latest, horizon: horizon, have: have, clocks: clocks)
        for (index, run) in batch.runs.enumerated() { try decision.decide(run, at: index, stamp: stamp) }
        return decision.admission
    }
}

/// The decision about the runs of a batch, one after the other.
private struct Decision {
    let batch: ChangeBatch
    let own: OriginID
    /// The greatest stamp to accept from an origin without an allowance.
    let latest: Stamp
    let horizon: VersionVector
    /// What is here, together with what the earlier runs bring.
    var have: VersionVector
    /// What was deferred before, together with what the earlier runs deferred.
    var clocks: DeferredOrigins
    var admission = Admission()
    /// The stamp of the last change that was taken, by origin.
    private var last: [OriginID: Stamp] = [:]

    init(
        batch: ChangeBatch, own: OriginID, latest: Stamp, horizon: VersionVector, have: VersionVector,
        clocks: DeferredOrigins
    ) {
        self.batch = batch
        self.own = own
        self.latest = latest
        self.horizon = horizon
        self.have = have
        self.clocks = clocks
    }

    /// The place of a run in the history of its origin, compared with what is here.
    private enum Place {
        /// All of its changes are here.
        case known
        /// It follows deferred changes of the same origin. Stamps of one origin ascend, so it is deferred
        /// too.
        case afterDeferred(DeferredOrigin)
        /// Its first `skipped` changes are here, and the change after them comes next.
        case next(skipped: Int)
    }

    mutating func decide(
        _ run: Run, at index: Int, stamp: (OriginID, Int64) -> Stamp?
    ) throws(SyncError) {
        switch try place(of: run) {
        case .known:
            admission.duplicates += run.changes.count
        case .afterDeferred(var hold):
            guard run.lastVersion > hold.lastVersion else { return }
            hold.lastVersion = run.lastVersion
            record(hold)
        case .next(let skipped):
            admission.duplicates += skipped
            take(run.changes.dropFirst(skipped), of: run, at: index, stamp: stamp)
        }
    }

    private func place(of run: Run) throws(SyncError) -> Place {
        let known = have[run.origin]
        if run.lastVersion <= known { return .known }
        if run.firstVersion <= known + 1 {
            guard run.origin != own else {
                throw SyncError(
                    .fork, "A peer holds changes of this replica that it never made: up to version \(run.lastVersion)",
                    hint: "The file was restored from a backup or copied; give it a new identity before it syncs again."
                )
            }
            return .next(skipped: Int(known + 1 - run.firstVersion))
        }
        if let hold = clocks[run.origin], run.firstVersion <= hold.lastVersion + 1 { return .afterDeferred(hold) }
        throw SyncError(
            .gap,
            "Changes of \(run.origin.short) start at version \(run.firstVersion), but \(known + 1) comes next",
            hint: "The exchange starts over from what is known here.")
    }

    /// Takes `changes`, which come next of their origin, up to the first one that has to wait. The origin is
    /// deferred from that one on.
    private mutating func take(
        _ changes: Range<Int>, of run: Run, at index: Int, stamp: (OriginID, Int64) -> Stamp?
    ) {
        let firstVersion = have[run.origin] + 1
        if let cause = clocks.cause(in: run.known, have: have) {
            return record(
                DeferredOrigin(
                    origin: run.origin, firstVersion: firstVersion, lastVersion: run.lastVersion, cause: cause))
        }
        guard run.known.covers(horizon, except: run.origin) else {
            return record(
                DeferredOrigin(
                    origin: run.origin, firstVersion: firstVersion, lastVersion: run.lastVersion,
                    stamp: DeferredOrigin.behind))
        }
        var end = changes.upperBound
        let before = last[run.origin] ?? stamp(run.origin, firstVersion - 1) ?? .zero
        if let waiting = firstWaiting(in: changes, after: before, firstVersion: firstVersion, run) {
            record(
                DeferredOrigin(
                    origin: run.origin, firstVersion: firstVersion + Int64(waiting.index - changes.lowerBound),
                    lastVersion: run.lastVersion, stamp: waiting.stamp))
            // Only whole transactions are taken.
            let whole = (changes.lowerBound..<waiting.index).last { batch.changes[$0].endsTransaction }
            end = whole.map { $0 + 1 } ?? changes.lowerBound
        }
        let taken = changes.lowerBound..<end
        guard !taken.isEmpty else { return }
        admission.parts.append(Admission.Part(run: index, changes: taken, firstVersion: firstVersion))
        have.advance(run.origin, to: firstVersion - 1 + Int64(taken.count))
        last[run.origin] = batch.changes[end - 1].stamp
    }

    /// The first change that cannot be taken now, with the stamp to record for it; nil when all can.
    private func firstWaiting(
        in changes: Range<Int>, after before: Stamp, firstVersion: Int64, _ run: Run
    ) -> (index: Int, stamp: Stamp)? {
        let latest = clocks.latest(of: run.origin, latest)
        let early = changes.first { batch.changes[$0].stamp > latest }
        let wrong = contradiction(in: changes, after: before, firstVersion: firstVersion, run)
        if let wrong, wrong < early ?? changes.upperBound {
            // The writer of these changes stays deferred. No other origin waits for it, because no correct
            // replica merges them.
            return (wrong, DeferredOrigin.never)
        }
        return early.map { ($0, batch.changes[$0].stamp) }
    }

    /// The first change that no history can have produced: its stamp is not later than that of the change
    /// before, or its life is too great.
    ///
    /// A life rises by one with a delete, and by one with an insert after it. So it exceeds 1 by at most the
    /// number of changes that its writer had seen or made. Without this bound, a single fault could make a
    /// row that no other change can beat.
    private func contradiction(
        in changes: Range<Int>, after stamp: Stamp, firstVersion: Int64, _ run: Run
    ) -> Int? {
        var stamp = stamp
        var bound = firstVersion
        for entry in run.known.entries {
            let (sum, overflow) = bound.addingReportingOverflow(entry.version)
            bound = overflow ? .max : sum
        }
        for index in changes {
            let change = batch.changes[index]
            guard change.stamp > stamp, change.life - 1 <= bound else { return index }
            stamp = change.stamp
            if bound < .max { bound += 1 }
        }
        return nil
    }

    /// Defers an origin, or more of one that is deferred.
    private mutating func record(_ hold: DeferredOrigin) {
        clocks.set(hold)
        admission.deferred.removeAll { $0.origin == hold.origin }
        admission.deferred.append(hold)
    }
}
