import Foundation
import StorageCampaign

// Machines on simulated disks lose power at many moments; see `make power-loss`. With the word `points`, each
// operation of one script on the disk has each fault once; see `make power-loss POINTS=1`.
//
// IMAGES  the number of disks to check after a loss of power (50 000)
// SEED    the first scenario; each further seed is the next number (1)
// --json  the counts as one line of JSON on standard output, and nothing else there
let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
let images = environment["IMAGES"].flatMap { Int($0) } ?? 50_000
let seed = environment["SEED"].flatMap { UInt64($0) } ?? 1
let isJSON = CommandLine.arguments.contains("--json")

func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

if CommandLine.arguments.contains("points") {
    let points = await CrashPoints.run { mode, report in
        say("disk-points: \(mode.rawValue): \(report.tried[mode] ?? 0) of \(report.points[mode] ?? 0)")
    }
    for failure in points.failures { say("disk-points: \(failure)") }
    print(
        """
        disk-points: \(points.totalTried) of \(points.total) points, \(points.withErrors) of them with an error for the \
        program, \(points.failures.count) failures
        """)
    exit(points.failures.isEmpty && points.totalTried == points.total ? 0 : 1)
}

var lastProgress = 0.0
let report = await PowerLossCampaign.run(seed: seed, images: images) { report in
    guard report.seconds - lastProgress >= 10 else { return }
    lastProgress = report.seconds
    say("power-loss: \(report.images) of \(images) images, \(Int(report.imagesPerSecond)) each second")
}
for failure in report.failures { say("power-loss: \(failure)") }
if isJSON {
    struct Output: Encodable {
        var seed: UInt64
        var images, moments, continued, lives, transactions, exchanges, faults, compacted, returns, clones: Int
        var imagesByLoss: [String: Int]
        var seconds, imagesPerSecond: Double
        var failures: [String]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let output = Output(
        seed: seed, images: report.images, moments: report.moments, continued: report.continued, lives: report.lives,
        transactions: report.transactions, exchanges: report.exchanges, faults: report.faults,
        compacted: report.compacted, returns: report.returns, clones: report.clones,
        imagesByLoss: report.imagesByLoss, seconds: report.seconds, imagesPerSecond: report.imagesPerSecond,
        failures: report.failures)
    if let line = try? encoder.encode(output) { FileHandle.standardOutput.write(line + Data("\n".utf8)) }
} else {
    print(
        """
        power-loss: \(report.images) images at \(report.moments) moments of \(report.lives) scenarios, \
        \(report.continued) of them worked on, \(report.transactions) transactions, \(report.exchanges) exchanges, \
        \(report.faults) faults, \(report.compacted) entries compacted, \(report.returns) returns, \(report.clones) clones, \
        \(Int(report.imagesPerSecond)) images each second, \(report.failures.count) failures
        """)
}
exit(report.failures.isEmpty && report.images >= images ? 0 : 1)
