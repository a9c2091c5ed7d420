import Journal
import Sync
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without buggify points do not change.
    static func hasBuggify(_ streams: Streams) -> Bool {
        var random = streams.stream(.buggify)
        return random.chance(50)
    }

    static func buggify(_ count: Int, _ duration: Int64, _ streams: Streams) -> [Step] {
        var random = streams.stream(.buggify, 1)
        return (0..<random.between(2...12)).map { _ in
            let time = Int64(random.below(Int(duration)))
            let machine = random.below(count)
            let point =
                random.chance(60)
                ? BuggifyPoint.checkpoint(random.pick([.passive, .passive, .restart, .truncate]))
                : .refuseCommit(random.between(1...random.pick([1, 5, 20])))
            return Step(time: time, action: .point(machine: machine, point))
        }
    }

    /// The page size of each machine's file in bytes (https://sqlite.org/pragma.html#pragma_page_size). With
    /// compaction, most machines have one: a file takes content of its own page size only.
    static func pageBytes(_ count: Int, _ kinds: Set<FaultKind>, _ streams: Streams) -> [Int] {
        var random = streams.stream(.buggify, 2)
        let drawn = (0..<count).map { _ in random.pick([512, 1_024, 4_096, 16_384, 65_536]) }
        guard kinds.contains(.buggify) else { return drawn.map { _ in SimulatedMachine.usualPageBytes } }
        guard kinds.contains(.compaction) else { return drawn }
        return drawn.map { random.chance(85) ? drawn[0] : $0 }
    }
}

extension Limits {
    /// Makes comparisons run in many small steps, and writes to the peer table frequent or rare.
    mutating func shrink(_ streams: Streams) {
        var random = streams.stream(.buggify, 3)
        rowsPerDigest = random.pick([1, 3, 1_024])
        digestsPerReply = random.pick([1, 2, 4_096])
        rowBytesPerReply = random.pick([1, 200, 4 << 20])
        peerRecordMilliseconds = random.pick([500, 5_000, 600_000])
    }
}
