import Foundation
import Synchronization
import TestSupport
import Testing

/// Random histories of several machines against the reference model.
///
/// TANDEM_SEED       the seed of the first history; each further one has the next
/// TANDEM_HISTORIES  how many (200)
@Suite("Random histories against the model")
struct RandomHistoryTests {
    static func setting(_ name: String, default value: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? value
    }

    static var workers: Int { max(1, min(4, ProcessInfo.processInfo.activeProcessorCount)) }

    private struct Outcome: Sendable {
        var counts = History.Counts()
        var failures: [String] = []
    }

    @Test("tables, held rows and ledger are those of the model at every exchange, and equal knowledge is equal bytes")
    func histories() async {
        let seed = Self.setting("TANDEM_SEED", default: 1)
        let count = Self.setting("TANDEM_HISTORIES", default: 200)
        let workers = Self.workers
        let failed = Atomic<Int>(0)
        let outcome = await inThreads(workers) { worker in
            let clocks = (0..<7).map { _ in TestClock(milliseconds: 0) }
            var outcome = Outcome()
            for seed in stride(from: seed + UInt64(worker), to: seed + count, by: workers)
            where failed.load(ordering: .relaxed) < 3 {
                let plan = HistoryPlan(seed: seed, knobs: .engine)
                guard let failure = Self.run(plan, clocks: clocks, counts: &outcome.counts) else { continue }
                failed.add(1, ordering: .relaxed)
                let small = Self.shrunk(plan, failure, clocks: clocks)
                outcome.failures.append(
                    """
                    \(small.failure)

                    the story:
                      \(small.plan)

                    Again with: make merge-random SEED=\(seed)
                    """)
            }
            return outcome
        }
        let counts = outcome.reduce(into: History.Counts()) { $0 += $1.counts }
        print(
            """
            merge-random: \(counts.histories) histories, \(counts.steps) steps, \(counts.checks) checks, \
            \(counts.changes) changes merged by the model, \(counts.held) rows held, \(counts.conflicts) conflicts
            """)
        for failure in outcome.flatMap(\.failures) { Issue.record("\(failure)") }
        if failed.load(ordering: .relaxed) == 0 { #expect(counts.histories == Int(count)) }
    }

    /// - Returns: What failed; nil when all held.
    private static func run(_ plan: HistoryPlan, clocks: [TestClock], counts: inout History.Counts) -> String? {
        do {
            let history = try History(plan, clocks: clocks)
            defer { try? history.close() }
            do {
                try history.run()
            } catch {
                return "\(error)"
            }
            counts += history.counts
            return nil
        } catch {
            return "before the first step: \(error)"
        }
    }

    /// Leaves out steps as long as something still fails.
    private static func shrunk(
        _ plan: HistoryPlan, _ failure: String, clocks: [TestClock]
    ) -> (plan: HistoryPlan, failure: String) {
        var best = (plan: plan, failure: failure)
        var unused = History.Counts()
        var size = max(1, plan.steps.count / 2)
        while true {
            var start = 0
            var isSmaller = false
            while start < best.plan.steps.count {
                var smaller = best.plan
                smaller.steps.removeSubrange(start..<min(start + size, smaller.steps.count))
                if let failure = run(smaller, clocks: clocks, counts: &unused) {
                    best = (smaller, failure)
                    isSmaller = true
                } else {
                    start += size
                }
            }
            if size > 1 { size /= 2 } else if !isSmaller { return best }
        }
    }
}

/// Runs `body` on threads of its own, numbered from 0: SQLite blocks, and other tests need the few threads that tasks share.
func inThreads<T: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> T) async -> [T] {
    await withTaskGroup(of: T.self) { group in
        for index in 0..<count {
            group.addTask {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(returning: body(index)) }
                }
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}
