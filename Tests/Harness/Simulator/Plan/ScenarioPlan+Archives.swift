import Sync
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without an archive do not change.
    static func kindsOfArchives(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.archives)
        guard random.chance(30) else { return [] }
        return Set([.archive] + FaultKind.ofStores.filter { _ in random.chance(40) })
    }

    /// Uses a stream of its own, as hubs do.
    static func kindsOfSecondArchives(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.secondArchive)
        return random.chance(30) ? [.secondArchive] : []
    }

    /// Draws who follows the archives, and leaves out direct links: all machines or some, with each other or not.
    ///
    /// - Returns: Nothing without an archive.
    static func archives(_ follows: inout [[Int]], _ kinds: Set<FaultKind>, _ streams: Streams) -> [ArchivePlan] {
        guard kinds.contains(.archive) else { return [] }
        var random = streams.stream(.archives, 1)
        let all = Set(follows.indices)
        // Not by the set's order, which differs from process to process.
        let some = Set(follows.indices.filter { _ in random.chance(60) })
        let (members, isAlone) = random.pick([(all, true), (all, true), (all, false), (some, false)])
        // What is left must still connect all machines.
        if isAlone { follows = follows.map { _ in [] } }
        let mayBeWrong = !kinds.isDisjoint(with: FaultKind.ofClocks)
        let offset = random.pick([0, 0, -60_000, 60_000, 86_400_000])
        let first = ArchivePlan(
            members: members, clockOffset: mayBeWrong ? Int64(offset) : 0, createsOnce: random.chance(80))
        return kinds.contains(.secondArchive) ? both(first, isAlone: isAlone, mayBeWrong: mayBeWrong, streams) : [first]
    }

    /// Draws who follows which of two archives.
    ///
    /// - Parameter isAlone: True when nothing else connects the machines: then some follow both archives.
    private static func both(
        _ first: ArchivePlan, isAlone: Bool, mayBeWrong: Bool, _ streams: Streams
    ) -> [ArchivePlan] {
        var random = streams.stream(.secondArchive, 1)
        var (first, second) = (first, first)
        let members = first.members.sorted()
        if !members.isEmpty, random.chance(70) {
            // Who connects the two, and where the others are.
            let bridge = random.pick(members)
            for member in members where member != bridge {
                switch random.below(5) {
                case 0, 1: first.members.remove(member)
                case 2, 3: second.members.remove(member)
                default: break
                }
            }
        }
        second.clockOffset = mayBeWrong ? Int64(random.pick([0, 0, -60_000, 60_000])) : 0
        second.createsOnce = random.chance(80)
        return [first, second]
    }

    static func storeFaults(
        ofSecond isSecond: Bool = false, _ kinds: Set<FaultKind>, _ duration: Int64, _ streams: Streams
    ) -> [Step] {
        guard kinds.contains(.archive) else { return [] }
        var random = isSecond ? streams.stream(.secondArchive, 2) : streams.stream(.archives, 2)
        var steps: [Step] = []
        func add(_ fault: StoreFault, at time: Int64) {
            steps.append(Step(time: time, action: .store(isSecond ? 1 : 0, fault)))
        }
        for kind in FaultKind.ofStores {
            var own = SplitMix(seed: random.next())
            guard kinds.contains(kind) else { continue }
            for _ in 0..<own.between(1...3) {
                let time = Int64(own.below(Int(duration)))
                switch kind {
                case .storeDown:
                    add(.down(for: Int64(own.pick([1_000, 10_000, 60_000]))), at: time)
                case .storeRestored:
                    add(.backUp, at: Int64(own.below(Int(max(1, time)))))
                    add(.restore, at: time)
                default: add(.damage(seed: own.next()), at: time)
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
