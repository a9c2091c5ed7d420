import CSQLiteShim
import Foundation
import MergeModel
import Synchronization

// Compares random histories and orders of delivery with the model of merging; see `make merge-random`.
//
// SEED   the first seed; each further seed is the next number (1)
// COUNT  the number of histories (1 with a SEED, else 10 000)
// SETS   the number of sets of six batches, for which every step is taken (1 with a SEED, else 1 000)
// WHOLE  the number of sets, from the first on, for which all 720 orders are walked (4)
// FLEETS the number of fleets that are migrated machine by machine (1 with a SEED, else 1 000)
// ARCHIVES the number of lives of replicas that share an archive (1 with a SEED, else 1 000)
// HUBS the number of lives in which hubs of an archive die (1 with a SEED, else 1 000)
// RETURNS the number of lives in which replicas come back from behind the horizon (1 with a SEED, else 1 000)
// LEAVES the number of lives of replicas that have some tables only (1 with a SEED, else 1 000)
// KNOBS  what histories contain: all, or names of HistoryKnobs.swift separated by commas (all)
let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
func number(_ name: String) -> UInt64? { environment[name].flatMap { UInt64($0) } }
let seed = number("SEED")
let knobs = HistoryKnobs(named: environment["KNOBS"] ?? "all")
let count = number("COUNT") ?? (seed == nil ? 10_000 : 1)
let sets = number("SETS") ?? (seed == nil ? 1_000 : 1)
let archiveCount = number("ARCHIVES") ?? (seed == nil ? 1_000 : 1)
let hubCount = number("HUBS") ?? (seed == nil ? 1_000 : 1)
let returnCount = number("RETURNS") ?? (seed == nil ? 1_000 : 1)
let leafCount = number("LEAVES") ?? (seed == nil ? 1_000 : 1)
let fleetCount = number("FLEETS") ?? (seed == nil ? 1_000 : 1)

/// Prints the progress of a campaign on standard error from time to time.
final class Progress: Sendable {
    private static let interval = Duration.seconds(20)
    private let what: String
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let next: Mutex<ContinuousClock.Instant>

    init(_ what: String) {
        self.what = what
        start = clock.now
        next = Mutex(start + Progress.interval)
    }

    var seconds: Int64 { (clock.now - start).components.seconds }

    func tell(_ done: Int) {
        let isDue = next.withLock { next in
            guard clock.now >= next else { return false }
            next = clock.now + Progress.interval
            return true
        }
        if isDue { FileHandle.standardError.write(Data("\(done) of \(what), \(seconds) s\n".utf8)) }
    }
}

// Threads would spend half of their time in waiting for the lock of these statistics.
_ = tandem_forgo_memory_statistics()

func report(
    _ what: String, _ campaign: (@escaping @Sendable (Int) -> Void) async -> CampaignReport
) async -> Bool {
    let progress = Progress(what)
    let report = await campaign { progress.tell($0) }
    for failure in report.failures { print(failure, terminator: "\n\n") }
    print("merge-random: \(report.summary), \(progress.seconds) s")
    return report.isComplete
}

let histories = await report("\(count) histories") { onProgress in
    await HistoryCampaign.run(seed: seed ?? 1, count: count, knobs: knobs, onProgress: onProgress)
}
let deliveries = await report("\(sets) sets") { onProgress in
    await DeliveryCampaign.run(
        seed: seed ?? 1, count: sets, whole: number("WHOLE") ?? 4, knobs: knobs, onProgress: onProgress)
}
let fleets = await report("\(fleetCount) fleets") { onProgress in
    await FleetCampaign.run(seed: seed ?? 1, count: fleetCount, onProgress: onProgress)
}
let archives = await report("\(archiveCount) archives") { onProgress in
    await ArchiveCampaign.run(seed: seed ?? 1, count: archiveCount, onProgress: onProgress)
}
let hubs = await report("\(hubCount) lives with hubs") { onProgress in
    await HubCampaign.run(seed: seed ?? 1, count: hubCount, onProgress: onProgress)
}
let returns = await report("\(returnCount) lives with returns") { onProgress in
    await ReturnCampaign.run(seed: seed ?? 1, count: returnCount, onProgress: onProgress)
}
let leaves = await report("\(leafCount) lives with leaves") { onProgress in
    await LeafCampaign.run(seed: seed ?? 1, count: leafCount, onProgress: onProgress)
}
exit(histories && deliveries && fleets && archives && hubs && returns && leaves ? 0 : 1)
