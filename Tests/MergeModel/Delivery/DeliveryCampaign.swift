import Journal
import Sync
import TestSupport

/// Six batches of six machines, applied to a fresh replica in every order: 720 ways to one state.
public enum DeliveryCampaign {
    static let batches = 6

    /// - Parameters:
    ///   - seed: Of the first set; each further one has the next.
    ///   - count: How many sets.
    public static func run(seed: UInt64, count: UInt64, knobs: HistoryKnobs) async -> CampaignReport {
        var (orders, failures) = (0, [String]())
        for outcome in await inThreads(
            seeds: seed..<(seed + count),
            { seed, clocks in
                do {
                    return (tried: try run(seed: seed, clocks: clocks, knobs: knobs), failure: String?.none)
                } catch {
                    return (0, "\(error)\nAgain with: make merge-random SEED=\(seed)")
                }
            }, isFailure: { $0.failure != nil })
        {
            orders += outcome.tried
            if let failure = outcome.failure { failures.append(failure) }
        }
        return CampaignReport(
            summary: "\(orders) orders of \(count) sets of \(batches) batches", failures: failures,
            isComplete: orders == Int(count) * 720)
    }

    /// - Returns: How many orders were tried.
    private static func run(seed: UInt64, clocks: [TestClock], knobs: HistoryKnobs) throws -> Int {
        let directory = MemoryDirectory()
        let (plan, all) = try sixBatches(seed: seed, clocks: clocks, knobs: knobs)
        let receiver = try HistoryReplica(
            Self.batches, origin: History.origin(Self.batches), schema: plan.schema,
            file: "\(directory.path)/receiver.sqlite",
            clock: clocks[batches], offset: 0, recursiveTriggers: true, limits: .standard)
        defer { try? receiver.close() }
        var walk = DeliveryWalk(receiver: receiver, batches: all, plan: plan)
        try walk.run()
        return walk.tried
    }

    /// Plans until one leaves a batch of each machine: a write may change nothing.
    private static func sixBatches(
        seed: UInt64, clocks: [TestClock], knobs: HistoryKnobs
    ) throws -> (plan: HistoryPlan, batches: [ChangeBatch]) {
        var random = SplitMix(seed: seed)
        while true {
            let plan = HistoryPlan(meetingOf: batches, seed: random.next(), knobs: knobs)
            let history = try History(plan, clocks: clocks)
            defer { try? history.close() }
            try history.perform()
            let all = try history.batchesByOrigin()
            if all.count == batches { return (plan, all) }
        }
    }
}
