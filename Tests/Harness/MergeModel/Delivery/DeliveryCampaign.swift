import Journal
import Sync
import TestSupport

/// Applies six batches of six machines to a fresh replica in every order: 720 orders must lead to one state.
///
/// For every set of batches, every step between two subsets is taken (``DeliveryTree/everyStep(of:_:)``),
/// which stands for all orders. For a few sets all 720 orders are walked as well.
package enum DeliveryCampaign {
    static let batches = 6

    private struct Outcome: Sendable {
        var steps = 0
        var orders = 0
        var repeats = 0
        var failure: String?
    }

    /// - Parameters:
    ///   - seed: The seed of the first set; each further set has the next seed.
    ///   - count: The number of sets.
    ///   - whole: The number of sets, from the first one on, for which every order is walked from its
    ///     beginning to its end.
    package static func run(
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
        let directory = TemporaryDirectory(inMemory: true)
        defer { withExtendedLifetime(directory) {} }
        let (plan, all) = try sixBatches(seed: seed, clocks: clocks, knobs: knobs)
        let receiver = try HistoryReplica(
            Self.batches, origin: History.origin(Self.batches), schema: plan.schema,
            file: directory.file("receiver.sqlite"), clock: clocks[batches], offset: 0, recursiveTriggers: true,
            limits: .standard)
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

    /// Tries histories until one leaves a batch of each machine. Some schemas take hardly any row.
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
