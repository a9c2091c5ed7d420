import Foundation
import MergeModel

// Runs random histories and orders of delivery against the model of merging; see `make merge-random`.
//
// SEED   the first seed; each further one is the next (1)
// COUNT  how many histories (1 with a SEED, else 2000)
// SETS   how many sets of batches in every order (1 with a SEED, else 10)
// KNOBS  what histories contain: all, standard, or names out of HistoryKnobs.swift with commas between them (standard)
let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
let seed = environment["SEED"].flatMap { UInt64($0) }
let knobs = HistoryKnobs(named: environment["KNOBS"] ?? "standard")
let count = environment["COUNT"].flatMap { UInt64($0) } ?? (seed == nil ? 2_000 : 1)
let sets = environment["SETS"].flatMap { UInt64($0) } ?? (seed == nil ? 10 : 1)

let reports = [
    await HistoryCampaign.run(seed: seed ?? 1, count: count, knobs: knobs),
    await DeliveryCampaign.run(seed: seed ?? 1, count: sets, knobs: knobs),
]
for report in reports {
    for failure in report.failures { print(failure, terminator: "\n\n") }
    print("merge-random: \(report.summary)")
}
exit(reports.allSatisfy(\.isComplete) ? 0 : 1)
