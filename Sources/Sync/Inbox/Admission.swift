import Journal

/// What of a received batch is new, as a pure decision: nothing is applied twice, nothing with a gap before it.
struct Admission: Hashable {
    /// A stretch of one run that is new here.
    struct Part: Hashable {
        let run: Int
        /// Positions in ``ChangeBatch/changes``.
        var changes: Range<Int>
        let firstVersion: Int64
    }

    var parts: [Part] = []
    /// Changes that were here already.
    var duplicates = 0
    /// What was left out because of stamps that lie too far ahead of the clock.
    var deferred: [DeferredOrigin] = []

    var isDeferred: Bool { !deferred.isEmpty }

    /// One origin with a wrong clock holds back itself, and what was written in knowledge of its held-back changes; the rest
    /// goes on.
    ///
    /// - Parameters:
    ///   - have: What is applied or staged here.
    ///   - own: This replica's origin; its own changes are never taken from others.
    ///   - latest: The greatest stamp to accept, unless an operator decided otherwise for the origin.
    ///   - clocks: What was held back before, and what operators decided.
    ///   - stamp: The stamp of a version that is applied here; nil for others.
    /// - Throws: `gap` when a run starts after what would come next, `fork` when a peer knows more of this replica's own
    ///   changes than it does itself. Nothing is to be applied then.
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
                // Behind what is held back of the same origin, whose stamps rise.
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
                // Whoever made these up goes on being ignored; nobody else waits for it.
                let hold = DeferredOrigin(
                    origin: run.origin, firstVersion: known + 1 + Int64(wrong - changes.lowerBound),
                    lastVersion: run.lastVersion, stamp: DeferredOrigin.never)
                clocks.set(hold)
                admission.hold(hold)
                let cut = (changes.lowerBound..<wrong).last { batch.changes[$0].endsTransaction }
                changes = changes.lowerBound..<(cut.map { $0 + 1 } ?? changes.lowerBound)
            } else if early < changes.upperBound {
                // Whole transactions only.
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

    /// The first change that no history can have led to: one that is not later than the change before it, or with too great a life.
    ///
    /// A life rises by one with a delete, and with an insert after it, so no change can have a greater one than there are changes
    /// that its writer had seen or made, and one. Without this bound a single fault could make a row that nothing beats any more.
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
