import Journal
import Sync
import TestSupport

/// Six batches of six machines, applied to a fresh replica in every order: 720 ways to one state.
///
/// Of all sets every step between two subsets is taken (``DeliveryTree/everyStep(of:_:)``), which stands for all orders; of a
/// few sets all 720 orders are walked as well.
public enum DeliveryCampaign {
    static let batches = 6

    private struct Outcome: Sendable {
        var steps = 0
        var orders = 0
        var repeats = 0
        var failure: String?
    }

    /// - Parameters:
    ///   - seed: Of the first set; each further one has the next.
    ///   - count: How many sets.
    ///   - whole: Of how many of them, the first ones, every order is walked from its beginning to its end.
    public static func run(
        seed: UInt64, count: UInt64, whole: UInt64, knobs: HistoryKnobs,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        let outcomes = await inThreads(
            seeds: seed..<(seed + count),
            { current, clocks in
                do {
                    return try run(seed: current, clocks: clocks, isWhole: current < seed + whole, knobs: knobs)
                } catch {
                    return Outcome(failure: "\(error)\nAgain with: make merge-random SEED=\(current) COUNT=0")
                }
            }, isFailure: { $0.failure != nil }, onProgress: onProgress)
        let complete = outcomes.filter { $0.failure == nil }
        return CampaignReport(
            summary: """
                \(complete.count) sets of \(batches) batches, \(complete.reduce(0) { $0 + $1.steps }) deliveries, \
                \(complete.reduce(0) { $0 + $1.orders }) orders to their end, \
                \(complete.reduce(0) { $0 + $1.repeats }) repeated deliveries
                """,
            failures: outcomes.compactMap(\.failure), isComplete: complete.count == Int(count))
    }

    private static func run(
        seed: UInt64, clocks: [TestClock], isWhole: Bool, knobs: HistoryKnobs
    ) throws -> Outcome {
        let directory = MemoryDirectory()
        defer { directory.remove() }
        let (plan, all) = try sixBatches(seed: seed, clocks: clocks, knobs: knobs)
        let receiver = try HistoryReplica(
            Self.batches, origin: History.origin(Self.batches), schema: plan.schema,
            file: "\(directory.path)/receiver.sqlite",
            clock: clocks[batches], offset: 0, recursiveTriggers: true, limits: .standard)
        defer { try? receiver.close() }
        var random = SplitMix(seed: seed &+ 1)
        var trees = [DeliveryTree.everyStep(of: batches, &random)]
        if isWhole { trees.append(.everyOrder(of: batches)) }
        var outcome = Outcome()
        for tree in trees {
            var walk = try DeliveryWalk(receiver: receiver, batches: all, plan: plan, tree: tree, random: random)
            try walk.run()
            outcome.steps += walk.steps
            outcome.orders += walk.orders
            outcome.repeats += walk.repeats
        }
        return outcome
    }

    /// Histories until one leaves a batch of each machine: there are schemas that take hardly any row.
    private static func sixBatches(
        seed: UInt64, clocks: [TestClock], knobs: HistoryKnobs
    ) throws -> (plan: HistoryPlan, batches: [ChangeBatch]) {
        var random = SplitMix(seed: seed)
        while true {
            let plan = HistoryPlan(meetingOf: batches, seed: random.next(), knobs: knobs)
            let history = try History(plan, clocks: clocks)
            defer { try? history.close() }
            try history.writeEverywhere(&random)
            try history.perform()
            let all = try history.batchesByOrigin()
            if all.count == batches { return (plan, all) }
        }
    }
}
