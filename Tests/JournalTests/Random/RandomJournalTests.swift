import Foundation
import TestSupport
import Testing

/// A replay of the journal of random statements on random schemas gives the tables.
///
/// TANDEM_SEED       the seed of the first schema; each further schema has the next seed
/// TANDEM_SCHEMAS    the number of schemas (200)
/// TANDEM_STATEMENTS the number of statements for each schema (101)
@Suite("The journal against the tables")
struct RandomJournalTests {
    private static func setting(_ name: String, default value: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? value
    }

    /// The findings of one worker.
    private struct Outcome: Sendable {
        var counts = RandomRun.Counts()
        var failures: [String] = []
    }

    private static func run(seeds: [UInt64], statements: Int) -> Outcome {
        var outcome = Outcome()
        for seed in seeds where outcome.failures.count < 3 {
            do {
                let run = try RandomRun(seed: seed)
                try run.run(statements: statements)
                outcome.counts += run.counts
            } catch {
                let again = "TANDEM_SEED=\(seed) TANDEM_SCHEMAS=1 swift test --filter RandomJournalTests"
                outcome.failures.append("\(error)\nAgain with: \(again)")
            }
        }
        return outcome
    }

    @Test("random statements on random schemas are journalled exactly")
    func randomStatements() async {
        let seed = Self.setting("TANDEM_SEED", default: 20_000)
        let schemas = Self.setting("TANDEM_SCHEMAS", default: 200)
        let statements = Int(Self.setting("TANDEM_STATEMENTS", default: 101))
        let workers = UInt64(max(1, min(4, ProcessInfo.processInfo.activeProcessorCount)))
        var total = Outcome()
        await withTaskGroup(of: Outcome.self) { group in
            for worker in 0..<workers {
                // Threads of their own: SQLite blocks, and tasks of other tests share few threads.
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            let seeds = stride(from: seed + worker, to: seed + schemas, by: Int(workers))
                            continuation.resume(returning: Self.run(seeds: Array(seeds), statements: statements))
                        }
                    }
                }
            }
            for await outcome in group {
                total.counts += outcome.counts
                total.failures += outcome.failures
            }
        }
        let counts = total.counts
        print(
            """
            journal-random: \(counts.schemas) schemas, \(counts.statements) statements (\(counts.succeeded) succeeded, \
            \(counts.rolledBack) rollbacks), \(counts.entries) entries, \(counts.rows) rows compared, \
            \(counts.alterations) ALTERs, \(counts.evictions) checks with evictions pending
            """)
        for failure in total.failures { Issue.record("\(failure)") }
        if total.failures.isEmpty {
            #expect(counts.schemas == Int(schemas))
            #expect(counts.statements >= Int(schemas) * statements)
        }
    }
}
