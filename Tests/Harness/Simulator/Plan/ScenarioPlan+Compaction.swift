import Sync
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without compaction do not change.
    static func kindsOfCompaction(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.compaction)
        guard random.chance(35) else { return [] }
        return random.chance(30) ? [.compaction, .forget] : [.compaction]
    }

    static func forgettings(_ count: Int, _ duration: Int64, _ streams: Streams) -> [Step] {
        var random = streams.stream(.compaction, 1)
        return (0..<random.between(1...2)).map { _ in
            let time = Int64(random.below(Int(duration)))
            let machine = random.below(count)
            let other = (machine + random.between(1...(count - 1))) % count
            return Step(time: time, action: .forget(machine: machine, other: other))
        }
    }
}

extension Limits {
    /// Makes compaction part of a scenario: it comes soon, in small steps, and a replica that is cut off may lose its
    /// lease. Acknowledgements come soon, too.
    mutating func compactSoon(_ streams: Streams) {
        var random = streams.stream(.compaction, 2)
        compactionMilliseconds = random.pick([1_000, 5_000, 20_000])
        historyMilliseconds = random.pick([0, 0, 0, 5_000, 30_000])
        leaseMilliseconds = random.pick([leaseMilliseconds, leaseMilliseconds, 60_000, 15_000])
        acknowledgementMilliseconds = random.pick([500, 5_000])
        // Of a replica that has got its last changes, the others hear by the next hello.
        aliveMilliseconds = 20_000
        compactionRowsPerStep = random.pick([1, 3, 1_000])
        compactionPauseMilliseconds = random.pick([0, 10, 1_000])
        compactionPassMilliseconds = 120_000
        returnRetryMilliseconds = 5_000
        returnTurnMilliseconds = 120_000
        snapshotPartBytes = random.pick([8 << 10, 64 << 10])
    }
}
