import Journal

/// What a peer holds of this replica's own history, and whether it fits the history here. Pure.
struct HistoryEvidence: Hashable {
    /// The highest version of this replica that the peer holds.
    var version: Int64
    /// Versions of this replica that the peer holds, with their digests, newest first.
    var samples: [VersionSample]

    enum Verdict: Hashable {
        /// The peer holds nothing that is unknown here.
        case consistent
        /// The peer holds later versions than this file.
        case outrun
        /// The peer holds another change under the same version.
        case contradicted
    }

    struct Judgement: Hashable {
        var verdict: Verdict
        /// The peer and this file hold the same changes up to this version.
        var shared: Int64
        /// The peer holds other changes above this version; `Int64.max` when nothing shows that.
        var mostKept: Int64
    }

    /// Compares the evidence with the history here.
    ///
    /// - Parameters:
    ///   - head: The newest version of this replica in the file.
    ///   - digest: Returns the digest of a version here; nil when it is not kept.
    func judge(head: Int64, digest: (Int64) throws -> UInt64?) rethrows -> Judgement {
        var judgement = Judgement(verdict: .consistent, shared: 0, mostKept: .max)
        for sample in samples where sample.version <= head {
            guard let own = try digest(sample.version) else { continue }
            // Histories that agree at one version agree at all versions below it.
            if own == sample.digest {
                judgement.shared = sample.version
                break
            }
            judgement.mostKept = min(judgement.mostKept, sample.version - 1)
        }
        if judgement.mostKept < .max {
            judgement.verdict = .contradicted
        } else if version > head {
            judgement.verdict = .outrun
        }
        return judgement
    }
}

extension HistoryEvidence {
    /// The evidence about `own` in a hello.
    init(_ hello: Hello, of own: OriginID) {
        self.init(version: hello.vector[own], samples: hello.sampledOrigin == own ? hello.samples : [])
    }

    /// The evidence about `own` in a received batch: its changes of `own`, sampled at growing distances.
    init(_ batch: ChangeBatch, of own: OriginID) {
        self.init(version: 0, samples: [])
        for run in batch.runs where run.origin == own {
            version = max(version, run.lastVersion)
            var distance = 0
            while distance < run.changes.count {
                let change = batch.changes[run.changes.upperBound - 1 - distance]
                let table = batch.shapes[change.shape]
                if !table.isHidden {
                    samples.append(
                        VersionSample(
                            version: run.lastVersion - Int64(distance),
                            digest: ChangeDigest.of(
                                table: table.table, operation: change.operation, stamp: change.stamp,
                                values: batch.values[change.values])))
                }
                distance = distance * 2 + 1
            }
        }
        samples.sort { $0.version > $1.version }
    }
}
