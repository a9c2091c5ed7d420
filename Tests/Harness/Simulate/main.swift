import Foundation
import Simulator

guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data((Options.usage + "\n").utf8))
    exit(64)
}
let requests: [Campaign.Request]
do {
    requests = try options.requests()
} catch {
    FileHandle.standardError.write(Data("simulate: \(error)\n".utf8))
    exit(64)
}

var total = Counts()
var cover = Cover()
var failures: [UInt64] = []
var hash: UInt64 = 0
let start = ContinuousClock.now
var lastWord = start

func seconds() -> Double {
    let parts = (ContinuousClock.now - start).components
    return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
}

/// Writes a line at once, also into a pipe.
func say(_ line: String, to output: FileHandle = .standardOutput) { output.write(Data((line + "\n").utf8)) }

func record(_ finding: Campaign.Finding) {
    guard let list = options.list else { return }
    do {
        try finding.record(in: list)
        say("It is now in \(list), whose scenarios CI runs again.", to: .standardError)
    } catch {
        say("It could not be added to \(list): \(error.localizedDescription)", to: .standardError)
    }
}

/// - Returns: False when there were enough failures.
@MainActor func take(_ request: Campaign.Request, _ outcome: Campaign.Outcome) -> Bool {
    total += outcome.counts
    cover.note(request, outcome.counts)
    hash = (hash ^ outcome.hash) &* 0x100_0000_01B3
    if options.printsHashes { say("\(request.seed) \(String(outcome.hash, radix: 16)) \(outcome.length)") }
    if let failure = outcome.failure {
        failures.append(request.seed)
        let finding = Campaign.finding(request, failure, attempts: options.attempts)
        say(finding.text, to: options.isJSON ? .standardError : .standardOutput)
        record(finding)
    }
    if ContinuousClock.now - lastWord > .seconds(10) {
        lastWord = .now
        say(
            "\(total.lives) of \(requests.count) scenarios, \(failures.count) failed, \(total.events) events, \(Int(seconds())) s",
            to: .standardError)
    }
    return failures.count < 10
}

if options.printsOutcome {
    say(try Campaign.live(options.request).line)
    exit(0)
}
if options.jobs > 1, requests.count > 1, options.printsFrom == nil, let program = Bundle.main.executablePath {
    let lives = Campaign.lives(by: program, requests, jobs: options.jobs)
    for await (request, outcome) in lives where !take(request, outcome) { break }
} else {
    let prints = options.printsFrom.map { $0...(options.until ?? .max) }
    for request in requests where !take(request, Campaign.live(request, prints: prints)) { break }
}

if options.isJSON {
    say(total.json(seconds: seconds(), hash: hash, failures: failures))
} else if !options.printsHashes {
    say(total.text)
    say("trace \(String(hash, radix: 16)), \(failures.count) failed, \((seconds() * 10).rounded() / 10) s")
}
if let list = options.cover {
    let head = """
        # Few scenarios that together take every rare path and see every kind of fault. Each line above one says for what
        # it was chosen. When one is not taken any more: make simulate COUNT=150 OPTIONS="--cover \(list)"

        """
    try Data((head + cover.choices.map(\.lines).joined()).utf8).write(to: URL(fileURLWithPath: list))
}
let never = total.missing.map(\.rawValue) + total.missingFaults.map(\.rawValue)
if options.wantsMarks, !never.isEmpty {
    say("never taken: \(never.joined(separator: ", "))", to: .standardError)
    exit(1)
}
exit(failures.isEmpty ? 0 : 1)
