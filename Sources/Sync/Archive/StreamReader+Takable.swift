import Journal

// What a replica can get from the archive, as far as the streams were read.

extension StreamReader {
    /// What of ``wholeAfterNewestSnapshot`` somebody can take.
    ///
    /// A change that needs others which are only in older snapshots, or lost, reaches nobody any more, nor does what needs
    /// it. Packs that were read and wait show such changes.
    var takableAfterNewestSnapshot: VersionVector {
        var takable = wholeAfterNewestSnapshot
        var before: VersionVector
        repeat {
            before = takable
            for entry in waiting.values.flatMap(\.entries) where !entry.follows(takable) {
                // A damaged one is reported where it is read.
                for part in (try? entry.runs(limits: limits)) ?? [] where !part.follows(takable) {
                    takable = takable.without(part.frame)
                }
            }
        } while takable != before
        return takable
    }
}

extension VersionVector {
    /// What comes before the changes of a frame.
    fileprivate func without(_ frame: Frame) -> VersionVector {
        guard case .batch(let covers, _, _) = frame.body else { return self }
        var versions = Dictionary(entries.map { ($0.origin, $0.version) }, uniquingKeysWith: max)
        for cover in covers { versions[cover.origin] = min(versions[cover.origin] ?? 0, cover.first - 1) }
        return VersionVector(versions.filter { $0.value > 0 }.map { Entry(origin: $0.key, version: $0.value) })
    }
}
