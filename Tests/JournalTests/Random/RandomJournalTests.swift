import Foundation
import TestSupport
import Testing

/// The journal of random statements on random schemas, replayed, gives the tables.
///
/// TANDEM_SEED       the seed of the first schema; each further schema has the next
/// TANDEM_SCHEMAS    how many schemas (500)
/// TANDEM_STATEMENTS how many statements a schema (101)
@Suite("The journal against the tables")
struct RandomJournalTests {
    private static func setting(_ name: String, default value: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? value
    }

    @Test("random statements on random schemas are journalled exactly")
    func randomStatements() throws {
        let seed = Self.setting("TANDEM_SEED", default: 20_000)
        let schemas = Self.setting("TANDEM_SCHEMAS", default: 500)
        let statements = Int(Self.setting("TANDEM_STATEMENTS", default: 101))
        var counts = RandomRun.Counts()
        var failures = 0
        for schemaSeed in seed..<(seed + schemas) {
            do {
                let run = try RandomRun(seed: schemaSeed)
                try run.run(statements: statements)
                counts += run.counts
            } catch {
                failures += 1
                Issue.record("\(error)\nAgain with: make journal-random SEED=\(schemaSeed) SCHEMAS=1")
                if failures == 5 { break }
            }
        }
        print(
            """
            journal-random: \(counts.schemas) schemas, \(counts.statements) statements (\(counts.succeeded) succeeded, \
            \(counts.rolledBack) rollbacks), \(counts.entries) entries, \(counts.rows) rows compared, \
            \(counts.alterations) ALTERs, \(counts.evictions) checks with evictions pending
            """)
        #expect(failures > 0 || counts.schemas == Int(schemas))
        #expect(failures > 0 || counts.statements >= Int(schemas) * statements)
    }
}
