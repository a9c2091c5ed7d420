import Sync
import TestSupport

/// The hubs of a scenario's first archive.
struct HubPlan: Sendable {
    let count: Int
    /// The hub of each machine that has one. The other machines reach the store themselves.
    var hubs: [Int: Int]
    /// True when each hub follows the other one.
    let followEachOther: Bool
    /// The machine that always reaches the store itself.
    let direct: Int
}

extension ScenarioPlan {
    /// Uses a stream of its own, so that scenarios without hubs do not change.
    static func kindsOfHubs(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.hubs)
        guard random.chance(40) else { return [] }
        return Set([.hub] + [.hubCrash, .hubMove].filter { _ in random.chance(60) })
    }

    /// Draws who reaches the archive by which hub. At least one machine reaches the store itself: nobody else writes
    /// snapshots.
    ///
    /// - Returns: nil without hubs.
    static func hubs(_ archive: ArchivePlan?, _ kinds: Set<FaultKind>, _ streams: Streams) -> HubPlan? {
        guard kinds.contains(.hub), let members = archive?.members.sorted(), members.count > 1 else { return nil }
        var random = streams.stream(.hubs, 1)
        let count = random.pick([1, 2, 2])
        let own = random.pick(members)
        let (share, followEachOther) = (random.pick([50, 100]), random.chance(60))
        var hubs: [Int: Int] = [:]
        for member in members {
            let (isDrawn, hub) = (random.chance(share), random.below(count))
            if member != own, isDrawn { hubs[member] = hub }
        }
        return hubs.isEmpty ? nil : HubPlan(count: count, hubs: hubs, followEachOther: followEachOther, direct: own)
    }

    static func hubCrashes(_ plan: HubPlan?, _ duration: Int64, _ streams: Streams) -> [Step] {
        guard let plan else { return [] }
        var random = streams.stream(.hubs, 2)
        return (0..<random.between(1...4)).map { _ in
            let time = Int64(random.below(Int(duration)))
            return Step(
                time: time,
                action: .crashHub(random.below(plan.count), downFor: Int64(random.pick([100, 2_000, 10_000, 40_000]))))
        }
    }
}

extension Limits {
    mutating func hurryHubs(_ streams: Streams) {
        var random = streams.stream(.hubs, 3)
        hub.flushMilliseconds = random.pick([0, 0, 250])
        hub.takeOverMilliseconds = random.pick([500, 3_000])
        // With 0, each frame is read from the store again.
        hub.cacheBytes = random.pick([0, 2_000, 256 << 20])
        hub.packBytes = random.pick([1, 500, 8 << 20])
    }
}
