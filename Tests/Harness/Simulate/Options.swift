import Foundation
import Simulator
import TestSupport

/// The command line of `simulate`.
struct Options {
    var request = Campaign.Request(seed: 1)
    var count: UInt64 = 1
    /// Only scenarios that draw all of these are run and counted.
    var drawn: Set<FaultKind> = []
    var isJSON = false
    /// The trace is printed from this entry on.
    var printsFrom: Int?
    /// Prints only the hash of each scenario.
    var printsHashes = false
    /// Fails when a rare path was never taken, or a kind of fault never happened.
    var wantsMarks = false
    /// The number of scenarios to run for shrinking a failing one; 0 for none.
    var attempts = 300
    /// The number of scenarios that run at once, each in a process of its own.
    var jobs = processorCount
    /// The list to which a failing scenario is added; nil for none.
    var list: String?
    /// The list whose scenarios run, in place of those of the seeds; nil for none.
    var replayed: String?
    /// The list that gets few scenarios which together take every rare path; nil for none.
    var cover: String?
    /// Prints the outcome of one scenario, for the process that started this one.
    var printsOutcome = false

    static let usage = """
        simulate [SEED [COUNT]] [--profile NAME] [--mute KIND,…] [--draws KIND,…] [--keep STEPS] [--verbose]
            [--until ENTRY] [--json] [--hashes] [--marks] [--attempts N] [--jobs N] [--record FILE] [--replay FILE]
            [--cover FILE] [--outcome]

          SEED, COUNT     the first seed and the number of scenarios (1 and 1)
          --profile NAME  \(Profile.allCases.map(\.rawValue).joined(separator: ", "))
          --mute KINDS    kinds of faults that do not happen
          --draws KINDS   only scenarios with all of these kinds: the next COUNT of them
          --keep STEPS    the steps of the plan to perform, as 0-4,7
          --verbose       print the trace; with --until, only the last 200 entries before that one
          --until ENTRY   stop printing after this entry of the trace
          --json          the summary as one JSON object
          --hashes        a line with the trace's hash for each scenario
          --marks         fail when a rare path was never taken, or a kind of fault never happened
          --attempts N    scenarios to run for shrinking a failing one (300)
          --jobs N        scenarios at once, each in a process of its own (one for each processor)
          --record FILE   add a failing scenario to this list after shrinking
          --replay FILE   run the scenarios of this list, in place of those of SEED and COUNT
          --cover FILE    write to this list few of the scenarios, which together take the rare paths of all
          --outcome       the outcome of the scenario of SEED, as one JSON object
        """

    /// nil for arguments that make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        var numbers: [UInt64] = []
        var isVerbose = false
        var until: Int?
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--hashes": printsHashes = true
            case "--marks": wantsMarks = true
            case "--outcome": printsOutcome = true
            case "--verbose": isVerbose = true
            case "--profile":
                guard let profile = rest.popFirst().flatMap({ Profile(rawValue: $0) }) else { return nil }
                request.profile = profile
            case "--mute":
                guard let kinds = Options.kinds(rest.popFirst()) else { return nil }
                request.mute.formUnion(kinds)
            case "--draws":
                guard let kinds = Options.kinds(rest.popFirst()) else { return nil }
                drawn.formUnion(kinds)
            case "--keep":
                guard let steps = rest.popFirst().flatMap({ StepList.numbers($0) }) else { return nil }
                request.keep = steps
            case "--until":
                guard let entry = rest.popFirst().flatMap({ Int($0) }) else { return nil }
                until = entry
            case "--attempts":
                guard let number = rest.popFirst().flatMap({ Int($0) }) else { return nil }
                attempts = number
            case "--record":
                guard let path = rest.popFirst() else { return nil }
                list = path
            case "--replay":
                guard let path = rest.popFirst() else { return nil }
                replayed = path
            case "--cover":
                guard let path = rest.popFirst() else { return nil }
                cover = path
            case "--jobs":
                guard let number = rest.popFirst().flatMap({ Int($0) }), number > 0 else { return nil }
                jobs = number
            default:
                guard let number = UInt64(word), numbers.count < 2 else { return nil }
                numbers.append(number)
            }
        }
        if let seed = numbers.first { request.seed = seed }
        if numbers.count > 1 { count = numbers[1] }
        if isVerbose { printsFrom = until.map { max(1, $0 - 200) } ?? 1 }
        self.until = until
    }

    private(set) var until: Int?

    /// - Returns: nil for a list with a word that names no kind, or without a word.
    private static func kinds(_ list: String?) -> [FaultKind]? {
        let names = list?.split(separator: ",") ?? []
        let kinds = names.compactMap { FaultKind(rawValue: String($0)) }
        return kinds.isEmpty || kinds.count < names.count ? nil : kinds
    }

    /// The scenarios to run, in order.
    ///
    /// - Throws: ``ListFailure`` for a list with a line that makes no sense; an error of the system for a list that
    ///   cannot be read.
    func requests() throws -> [Campaign.Request] {
        guard let replayed else {
            var requests: [Campaign.Request] = []
            var next = request
            // Some profiles never draw some kinds.
            for _ in 0..<max(count, 10_000) where requests.count < count {
                if next.draws(drawn) { requests.append(next) }
                next.seed += 1
            }
            return requests
        }
        return try String(contentsOfFile: replayed, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .map { line in
                guard let options = Options(line.split(separator: " ").map(String.init)), options.count == 1 else {
                    throw ListFailure(line: String(line))
                }
                return options.request
            }
    }

    /// A line of a list that is not the arguments of one scenario.
    struct ListFailure: Error, CustomStringConvertible {
        let line: String
        var description: String { "these are not the arguments of one scenario: \(line)" }
    }
}
