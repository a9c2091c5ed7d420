import TestSupport

/// Compares random histories of several machines with the model.
package enum HistoryCampaign {
    private struct Outcome: Sendable {
        var counts = History.Counts()
        var failure: String?
    }

    /// - Parameters:
    ///   - seed: The seed of the first history; each further history has the next seed.
    ///   - count: The number of histories.
    ///   - onProgress: Gets the number of histories that are done, on any thread.
    package static func run(
        seed: UInt64, count: UInt64, knobs: HistoryKnobs, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        let outcomes = await inThreads(
            seeds: seed..<(seed + count),
            { seed, clocks in
                var outcome = Outcome()
                let plan = HistoryPlan(seed: seed, knobs: knobs)
                let small: (plan: HistoryPlan, failure: String)
                do {
                    guard let failure = try run(plan, clocks: clocks, counts: &outcome.counts) else { return outcome }
                    small = shrunk(plan, failure, clocks: clocks)
                } catch {
                    small = (plan, "before the first step: \(error)")
                }
                outcome.failure = """
                    \(small.failure)

                    the story:
                      \(small.plan)

                    Again with: make merge-random SEED=\(seed)
                    """
                return outcome
            }, isFailure: { $0.failure != nil }, onProgress: onProgress)
        let counts = outcomes.reduce(into: History.Counts()) { $0 += $1.counts }
        return CampaignReport(
            summary: """
                \(counts.histories) histories, \(counts.steps) steps, \(counts.checks) checks, \
                \(counts.changes) changes merged by the model, \(counts.held) rows held, \(counts.conflicts) conflicts, \
                \(counts.removed) entries compacted, \(counts.recaptured) changes past capture found
                """, failures: outcomes.compactMap(\.failure), isComplete: counts.histories == Int(count))
    }

    /// - Returns: The failure; nil when all checks passed.
    /// - Throws: When the files cannot be made.
    private static func run(
        _ plan: HistoryPlan, clocks: [TestClock], counts: inout History.Counts
    ) throws -> String? {
        let history = try History(plan, clocks: clocks)
        defer { try? history.close() }
        do {
            try history.run()
        } catch {
            return "\(error)"
        }
        counts += history.counts
        return nil
    }

    /// Removes steps as long as the plan still fails.
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
                if let failure = try? run(smaller, clocks: clocks, counts: &unused) {
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
