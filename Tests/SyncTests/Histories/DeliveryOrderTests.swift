import GRDB
import Journal
import Sync
import Synchronization
import TestSupport
import Testing

/// Six batches of six machines, applied to a fresh replica in every order: 720 ways to one state.
///
/// TANDEM_SEED  the seed of the first set; each further one has the next
/// TANDEM_SETS  how many sets (2)
@Suite("Batches in every order")
struct DeliveryOrderTests {
    static let batches = 6

    private struct Outcome: Sendable {
        var orders = 0
        var failures: [String] = []
    }

    @Test("all 720 orders of six random batches give the tables, held rows and ledger of the model")
    func allOrders() async {
        let seed = RandomHistoryTests.setting("TANDEM_SEED", default: 1)
        let sets = RandomHistoryTests.setting("TANDEM_SETS", default: 2)
        let workers = RandomHistoryTests.workers
        let failed = Atomic<Int>(0)
        let outcomes = await inThreads(workers) { worker in
            let clocks = (0...Self.batches).map { _ in TestClock(milliseconds: 0) }
            var outcome = Outcome()
            for seed in stride(from: seed + UInt64(worker), to: seed + sets, by: workers)
            where failed.load(ordering: .relaxed) < 3 {
                do {
                    outcome.orders += try Self.run(seed: seed, clocks: clocks)
                } catch {
                    failed.add(1, ordering: .relaxed)
                    outcome.failures.append("\(error)\nAgain with: make merge-random SEED=\(seed)")
                }
            }
            return outcome
        }
        let orders = outcomes.reduce(0) { $0 + $1.orders }
        print("merge-random: \(orders) orders of \(sets) sets of \(Self.batches) batches")
        for failure in outcomes.flatMap(\.failures) { Issue.record("\(failure)") }
        if failed.load(ordering: .relaxed) == 0 { #expect(orders == Int(sets) * 720) }
    }

    /// - Returns: How many orders were tried.
    private static func run(seed: UInt64, clocks: [TestClock]) throws -> Int {
        let directory = MemoryDirectory()
        let (plan, all) = try sixBatches(seed: seed, clocks: clocks)
        let receiver = try HistoryReplica(
            batches, origin: History.origin(batches), schema: plan.schema, file: "\(directory.path)/receiver.sqlite",
            clock: clocks[batches], offset: 0, recursiveTriggers: true, limits: .standard)
        defer { try? receiver.close() }
        var walk = DeliveryWalk(receiver: receiver, batches: all, plan: plan)
        try walk.run()
        return walk.tried
    }

    /// Plans until one leaves a batch of each machine: a write may change nothing.
    private static func sixBatches(
        seed: UInt64, clocks: [TestClock]
    ) throws -> (plan: HistoryPlan, batches: [ChangeBatch]) {
        var random = SplitMix(seed: seed)
        while true {
            let plan = HistoryPlan(meetingOf: batches, seed: random.next(), knobs: .engine)
            let history = try History(plan, clocks: clocks)
            defer { try? history.close() }
            try history.perform()
            let all = try history.batchesByOrigin()
            if all.count == batches { return (plan, all) }
        }
    }
}

/// The tree of all orders: each way to begin is gone once, and its end is kept for all ways to go on.
private struct DeliveryWalk {
    let receiver: HistoryReplica
    let batches: [ChangeBatch]
    let plan: HistoryPlan
    private(set) var tried = 0
    private var first: (order: [Int], rows: [String])?

    init(receiver: HistoryReplica, batches: [ChangeBatch], plan: HistoryPlan) {
        self.receiver = receiver
        self.batches = batches
        self.plan = plan
    }

    mutating func run() throws { try go(on: [], rest: Array(batches.indices)) }

    /// - Parameter order: What the receiver's file holds.
    private mutating func go(on order: [Int], rest: [Int]) throws {
        if rest.isEmpty { return try compare(order) }
        let here = try DatabaseQueue()
        if rest.count > 1 { try receiver.replica.pool.backup(to: here) }
        for (place, next) in rest.enumerated() {
            if place > 0 { try receiver.reset(to: here) }
            _ = try receiver.inbox.receive(batches[next])
            try go(on: order + [next], rest: rest.filter { $0 != next })
        }
    }

    private mutating func compare(_ order: [Int]) throws {
        tried += 1
        let rows = try receiver.plainRows()
        guard let first else {
            try receiver.settle()
            try receiver.readJournal()
            let model = HistoryContent(ReferenceModel(receiver.writes, schema: receiver.schema))
            let difference = HistoryContent.difference(model, try HistoryContent(receiver))
            guard difference.isEmpty else { throw failure(order, "the model", difference) }
            first = (order, rows)
            return
        }
        guard rows != first.rows else { return }
        let difference =
            first.rows.filter { !rows.contains($0) }.map { "  - \($0)" }
            + rows.filter { !first.rows.contains($0) }.map { "  + \($0)" }
        try receiver.readJournal()
        throw failure(order, "the order \(first.order)", difference)
    }

    private func failure(_ order: [Int], _ what: String, _ difference: [String]) -> History.Failure {
        History.Failure(
            description: """
                the order \(order) differs from \(what) (- there, + here):
                \(difference.joined(separator: "\n"))
                the changes in this order:
                \(receiver.writes.map { "  \($0)" }.joined(separator: "\n"))
                the schema:
                  \(plan.schema.statements.joined(separator: "\n  "))
                """)
    }
}

extension HistoryPlan {
    /// Machines that each write, and now and then hear of one another; for sets of batches.
    init(meetingOf count: Int, seed: UInt64, knobs: HistoryKnobs) {
        var random = SplitMix(seed: seed)
        var knobs = knobs
        knobs.schemaSteps = false
        let schema = HistorySchema(variant: random.next() >> 16, knobs: knobs)
        self.init(
            seed: seed, schema: schema, ranks: Array(0..<count).shuffled(using: &random),
            offsets: (0..<count).map { _ in Int64(random.pick([0, 0, 1, 5])) })
        // At least one change of each, so that there is a batch of each.
        for round in 0..<3 {
            for index in (0..<count).shuffled(using: &random) {
                if round > 0, random.chance(50) { continue }
                if random.chance(40) {
                    let source = (index + 1 + random.below(count - 1)) % count
                    steps.append(.pull(target: index, source: source, size: 100, count: .max, order: .init()))
                }
                let statements = (0...random.below(2)).map { _ in
                    HistoryStatement.random(on: schema.reference, &random)
                }
                steps.append(
                    .write(
                        replica: index, statements, tick: Int64(random.pick([0, 1, 2])), isMarked: true))
            }
        }
    }
}
