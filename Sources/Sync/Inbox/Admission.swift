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
    /// True when changes were left out because their stamps lie too far ahead of the clock.
    var isHeldBack = false

    /// - Parameters:
    ///   - have: What is applied or staged here.
    ///   - own: This replica's origin; its own changes are never taken from others.
    ///   - latest: The greatest stamp to accept.
    /// - Throws: `gap` when a run starts after what would come next, `fork` when a peer knows more of this replica's own
    ///   changes than it does itself. Nothing is to be applied then.
    static func decide(
        _ batch: ChangeBatch, have: VersionVector, own: OriginID, latest: Stamp
    ) throws(SyncError) -> Admission {
        var admission = Admission()
        var have = have
        for (index, run) in batch.runs.enumerated() {
            let known = have[run.origin]
            guard run.lastVersion > known else {
                admission.duplicates += run.changes.count
                continue
            }
            guard run.firstVersion <= known + 1 else {
                throw SyncError(
                    .gap,
                    "changes of \(run.origin.short) start at version \(run.firstVersion), but \(known + 1) comes next",
                    hint: "The exchange starts over from what is known here.")
            }
            if run.origin == own {
                throw SyncError(
                    .fork, "a peer holds changes of this replica that it never made: up to version \(run.lastVersion)",
                    hint: "The file was restored from a backup or copied; give it a new identity before it syncs again."
                )
            }
            let skipped = Int(known + 1 - run.firstVersion)
            admission.duplicates += skipped
            var changes = (run.changes.lowerBound + skipped)..<run.changes.upperBound
            if let early = changes.first(where: { batch.changes[$0].stamp > latest }) {
                admission.isHeldBack = true
                // Whole transactions only; the rest is asked for again when the clock has come closer.
                let end = changes.lowerBound..<early
                let cut = end.last { batch.changes[$0].endsTransaction }.map { $0 + 1 } ?? changes.lowerBound
                changes = changes.lowerBound..<cut
            }
            if !changes.isEmpty {
                admission.parts.append(Part(run: index, changes: changes, firstVersion: known + 1))
                have.advance(run.origin, to: known + Int64(changes.count))
            }
            // What follows may build on what was held back.
            if admission.isHeldBack { break }
        }
        return admission
    }
}
