import Foundation
import MergeModel

// Runs random histories and orders of delivery against the model of merging; see `make merge-random`.
//
// SEED   the first seed; each further one is the next (1)
// COUNT  how many histories (1 with a SEED, else 10 000)
// SETS   how many sets of six batches, of which every step is taken (1 with a SEED, else 1 000)
// WHOLE  of how many sets, the first ones, all 720 orders are walked (4)
// KNOBS  what histories contain: all, or names out of HistoryKnobs.swift with commas between them (all)
let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
func number(_ name: String) -> UInt64? { environment[name].flatMap { UInt64($0) } }
let seed = number("SEED")
let knobs = HistoryKnobs(named: environment["KNOBS"] ?? "all")
let count = number("COUNT") ?? (seed == nil ? 10_000 : 1)
let sets = number("SETS") ?? (seed == nil ? 1_000 : 1)

func report(_ campaign: () async -> CampaignReport) async -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let report = await campaign()
    for failure in report.failures { print(failure, terminator: "\n\n") }
    print("merge-random: \(report.summary), \((clock.now - start).components.seconds) s")
    return report.isComplete
}

let histories = await report { await HistoryCampaign.run(seed: seed ?? 1, count: count, knobs: knobs) }
let deliveries = await report {
    await DeliveryCampaign.run(seed: seed ?? 1, count: sets, whole: number("WHOLE") ?? 4, knobs: knobs)
}
exit(histories && deliveries ? 0 : 1)
