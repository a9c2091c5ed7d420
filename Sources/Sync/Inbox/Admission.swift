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
    /// contradict earlier changes.
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
    ///   - stamp: Returns the stamp of a version that is applied here; nil for other versions.
    /// - Throws: `gap` when a run starts after the version that comes next, `fork` when a peer knows more of
    ///   this replica's own changes than the replica does itself. Nothing may be applied then.
    static func decide(
        _ batch: ChangeBatch, have: VersionVector, own: OriginID, latest: Stamp,
        clocks: DeferredOrigins = DeferredOrigins(),
        stamp: (OriginID, Int64) -> Stamp? = { _, _ in nil }
    ) throws(SyncError) -> Admission {
        var admission = Admission()
        var last: [OriginID: Stamp] = [:]
        var have = have
        var clocks = clocks
        for (index, run) in batch.runs.enumerated() {
            let known = have[run.origin]
            guard run.lastVersion > known else {
                admission.duplicates += run.changes.count
                continue
            }
            if run.origin == own, run.firstVersion <= known + 1 {
                throw SyncError(
                    .fork, "a peer holds changes of this replica that it never made: up to version \(run.lastVersion)",
                    hint: "The file was restored from a backup or copied; give it a new identity before it syncs again."
                )
            }
            if run.firstVersion > known + 1, var hold = clocks[run.origin], run.firstVersion <= hold.lastVersion + 1 {
                // The run follows deferred changes of the same origin. Stamps of one origin ascend, so it is
                // deferred too.
                if run.lastVersion > hold.lastVersion {
                    hold.lastVersion = run.lastVersion
                    clocks.set(hold)
                    admission.hold(hold)
                }
                continue
            }
            guard run.firstVersion <= known + 1 else {
                throw SyncError(
                    .gap,
                    "changes of \(run.origin.short) start at version \(run.firstVersion), but \(known + 1) comes next",
                    hint: "The exchange starts over from what is known here.")
            }
            let skipped = Int(known + 1 - run.firstVersion)
            admission.duplicates += skipped
            var changes = (run.changes.lowerBound + skipped)..<run.changes.upperBound
            if let cause = clocks.cause(in: run.known, have: have) {
                let hold = DeferredOrigin(
                    origin: run.origin, firstVersion: known + 1, lastVersion: run.lastVersion, cause: cause)
                clocks.set(hold)
                admission.hold(hold)
                continue
            }
            let latest = clocks.latest(of: run.origin, latest)
            let before = last[run.origin] ?? stamp(run.origin, known) ?? .zero
            let wrong = contradiction(in: changes, after: before, firstVersion: known + 1, run, batch)
            let early = changes.first { batch.changes[$0].stamp > latest } ?? changes.upperBound
            if let wrong, wrong < early {
                // The writer of these changes stays deferred. No other origin waits for it, because no
                // correct replica merges them.
                let hold = DeferredOrigin(
                    origin: run.origin, firstVersion: known + 1 + Int64(wrong - changes.lowerBound),
                    lastVersion: run.lastVersion, stamp: DeferredOrigin.never)
                clocks.set(hold)
                admission.hold(hold)
                let cut = (changes.lowerBound..<wrong).last { batch.changes[$0].endsTransaction }
                changes = changes.lowerBound..<(cut.map { $0 + 1 } ?? changes.lowerBound)
            } else if early < changes.upperBound {
                // Only whole transactions are taken.
                let end = changes.lowerBound..<early
                let cut = end.last { batch.changes[$0].endsTransaction }.map { $0 + 1 } ?? changes.lowerBound
                let hold = DeferredOrigin(
                    origin: run.origin, firstVersion: known + 1 + Int64(early - changes.lowerBound),
                    lastVersion: run.lastVersion, stamp: batch.changes[early].stamp)
                clocks.set(hold)
                admission.hold(hold)
                changes = changes.lowerBound..<cut
            }
            if !changes.isEmpty {
                admission.parts.append(Part(run: index, changes: changes, firstVersion: known + 1))
                have.advance(run.origin, to: known + Int64(changes.count))
                last[run.origin] = batch.changes[changes.upperBound - 1].stamp
            }
        }
        return admission
    }

    /// The first change that no history can have produced: its stamp is not later than that of the change
    /// before, or its life is too great.
    ///
    /// A life rises by one with a delete, and by one with an insert after it. So it exceeds 1 by at most the
    /// number of changes that its writer had seen or made. Without this bound, a single fault could make a
    /// row that no other change can beat.
    private static func contradiction(
        in changes: Range<Int>, after stamp: Stamp, firstVersion: Int64, _ run: Run, _ batch: ChangeBatch
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

    private mutating func hold(_ hold: DeferredOrigin) {
        deferred.removeAll { $0.origin == hold.origin }
        deferred.append(hold)
    }
}
