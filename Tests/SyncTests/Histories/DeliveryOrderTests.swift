import GRDB
import Journal
import Sync
import Synchronization
import TestSupport
import Testing

/// Six batches of six machines, applied to a fresh replica in every order: 720 ways to one state.
///
/// TANDEM_SEED  the seed of the first set; each further one has the next
/// TANDEM_SETS  how many sets (20)
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
        let sets = RandomHistoryTests.setting("TANDEM_SETS", default: 20)
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
        let fresh = try DatabaseQueue()
        try receiver.replica.pool.backup(to: fresh)
        var first: (order: [Int], content: HistoryContent)?
        var tried = 0
        for order in permutations(Array(all.indices)) {
            try receiver.reset(to: fresh)
            for index in order { _ = try receiver.inbox.receive(all[index]) }
            try receiver.settle()
            let content = try HistoryContent(receiver)
            tried += 1
            guard let first else {
                try receiver.readJournal()
                let model = HistoryContent(ReferenceModel(receiver.writes, schema: receiver.schema))
                try compare(model, content, "the model", order, receiver, plan)
                first = (order, content)
                continue
            }
            try compare(first.content, content, "the order \(first.order)", order, receiver, plan)
        }
        return tried
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

    private static func compare(
        _ expected: HistoryContent, _ found: HistoryContent, _ what: String, _ order: [Int],
        _ receiver: HistoryReplica, _ plan: HistoryPlan
    ) throws {
        let difference = HistoryContent.difference(expected, found)
        guard !difference.isEmpty else { return }
        try receiver.readJournal()
        throw History.Failure(
            description: """
                the order \(order) differs from \(what) (- there, + here):
                \(difference.joined(separator: "\n"))
                the changes in this order:
                \(receiver.writes.map { "  \($0)" }.joined(separator: "\n"))
                the schema:
                  \(plan.schema.statements.joined(separator: "\n  "))
                """)
    }

    /// Every order of `items`, in lexicographic order of their places.
    static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let head = rest.remove(at: index)
            return permutations(rest).map { [head] + $0 }
        }
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
