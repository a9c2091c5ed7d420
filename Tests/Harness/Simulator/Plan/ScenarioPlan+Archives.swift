import Sync
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without an archive do not change.
    static func kindsOfArchives(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.archives)
        guard random.chance(30) else { return [] }
        return Set([.archive] + FaultKind.ofStores.filter { _ in random.chance(40) })
    }

    /// Draws who follows the archive, and leaves out direct links: all machines or some, with each other or not.
    ///
    /// - Returns: nil without an archive.
    static func archive(_ follows: inout [[Int]], _ kinds: Set<FaultKind>, _ streams: Streams) -> ArchivePlan? {
        guard kinds.contains(.archive) else { return nil }
        var random = streams.stream(.archives, 1)
        let all = Set(follows.indices)
        // Not by the set's order, which differs from process to process.
        let some = Set(follows.indices.filter { _ in random.chance(60) })
        let (members, isAlone) = random.pick([(all, true), (all, true), (all, false), (some, false)])
        // What is left must still connect all machines.
        if isAlone { follows = follows.map { _ in [] } }
        let mayBeWrong = !kinds.isDisjoint(with: FaultKind.ofClocks)
        let offset = random.pick([0, 0, -60_000, 60_000, 86_400_000])
        return ArchivePlan(
            members: members, clockOffset: mayBeWrong ? Int64(offset) : 0, createsOnce: random.chance(80))
    }

    static func storeFaults(_ kinds: Set<FaultKind>, _ duration: Int64, _ streams: Streams) -> [Step] {
        guard kinds.contains(.archive) else { return [] }
        var random = streams.stream(.archives, 2)
        var steps: [Step] = []
        for kind in FaultKind.ofStores {
            var own = SplitMix(seed: random.next())
            guard kinds.contains(kind) else { continue }
            for _ in 0..<own.between(1...3) {
                let time = Int64(own.below(Int(duration)))
                switch kind {
                case .storeDown:
                    steps.append(Step(time: time, action: .storeDown(for: Int64(own.pick([1_000, 10_000, 60_000])))))
                case .storeRestored:
                    steps.append(Step(time: Int64(own.below(Int(max(1, time)))), action: .backUpStore))
                    steps.append(Step(time: time, action: .restoreStore))
                default: steps.append(Step(time: time, action: .damageStore(seed: own.next())))
                }
            }
        }
        return steps
    }
}

extension Limits {
    /// Makes what happens in archives within hours and days happen within the scenario.
    mutating func archiveSoon(_ streams: Streams, collects: Bool) {
        var random = streams.stream(.archives, 3)
        archive.flushMilliseconds = random.pick([0, 200, 1_000, 5_000])
        archive.pollMilliseconds = random.pick([500, 1_000, 5_000])
        archive.activeMilliseconds = random.pick([2_000, 60_000])
        archive.activeStreams = random.pick([1, 32])
        archive.listMilliseconds = random.pick([1_000, 10_000])
        archive.idleListMilliseconds = random.pick([10_000, 60_000])
        archive.headMilliseconds = random.pick([0, 1_000, 10_000])
        archive.acknowledgementMilliseconds = random.pick([1_000, 10_000])
        archive.bridgeMilliseconds = random.pick([0, 5_000, 60_000])
        archive.readsAtOnce = random.pick([1, 4])
        archive.snapshotPartBytes = random.pick([8 << 10, 64 << 10])
        archive.snapshotMilliseconds = random.pick([20_000, 86_400_000])
        archive.snapshotCheckMilliseconds = random.pick([5_000, 30_000])
        if leaseMilliseconds <= 60_000 {
            // Through an archive, replicas hear of each other later. Were leases shorter than that, each would always
            // lack what another one has compacted.
            leaseMilliseconds = 120_000
            archive.idleListMilliseconds = 10_000
        }
        // On a slow network, all streams take minutes to read. A transaction of which a part comes each time must not be
        // dropped in between.
        unfinishedMilliseconds = 600_000
        archive.collectMilliseconds = random.pick([10_000, 60_000])
        var settings = CollectionSettings()
        settings.keepMilliseconds = random.pick([0, 0, 30_000])
        settings.leaseMilliseconds = leaseMilliseconds
        settings.graceMilliseconds = random.pick([10_000, 30_000])
        if random.chance(60), collects { archive.collection = settings }
    }
}
