import Journal

/// What somebody else says of this replica's own history, and whether that can be the history that is here. Pure.
struct HistoryEvidence: Hashable {
    /// The highest version of this replica that they hold.
    var version: Int64
    /// Versions of it that they hold, with their digests, newest first.
    var samples: [VersionSample]

    enum Verdict: Hashable {
        /// Nothing that they hold is unknown here.
        case consistent
        /// They hold more than there is here.
        case outrun
        /// They hold something else under the same version.
        case contradicted
    }

    struct Judgement: Hashable {
        var verdict: Verdict
        /// Up to this version they hold what is here.
        var shared: Int64
        /// Above this version they hold something else; `Int64.max` when nothing says so.
        var mostKept: Int64
    }

    /// - Parameters:
    ///   - head: The newest version here.
    ///   - digest: The digest of a version here; nil when it is not kept any more.
    func judge(head: Int64, digest: (Int64) throws -> UInt64?) rethrows -> Judgement {
        var judgement = Judgement(verdict: .consistent, shared: 0, mostKept: .max)
        for sample in samples where sample.version <= head {
            guard let own = try digest(sample.version) else { continue }
            // Histories that agree somewhere agree below it.
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
    /// What `hello` says of `own`.
    init(_ hello: Hello, of own: OriginID) {
        self.init(version: hello.vector[own], samples: hello.sampledOrigin == own ? hello.samples : [])
    }

    /// What the changes of `own` in a received batch say.
    init(_ batch: ChangeBatch, of own: OriginID) {
        self.init(version: 0, samples: [])
        for run in batch.runs where run.origin == own {
            version = max(version, run.lastVersion)
            var distance = 0
            while distance < run.changes.count {
                let change = batch.changes[run.changes.upperBound - 1 - distance]
                samples.append(
                    VersionSample(
                        version: run.lastVersion - Int64(distance),
                        digest: ChangeDigest.of(
                            table: batch.shapes[change.shape].table, operation: change.operation, stamp: change.stamp,
                            values: batch.values[change.values])))
                distance = distance * 2 + 1
            }
        }
        samples.sort { $0.version > $1.version }
    }
}
