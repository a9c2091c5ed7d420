import ArgumentParser
import Foundation
import Journal
import Sync

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show whose clock is ahead, and decide about changes that are held back for it.",
        usage: """
            syncd clock <db> [--json]
            syncd clock <db> accept <origin> ...
            syncd clock <db> reset <origin> ...
            """,
        discussion: """
            Changes whose time lies more than 2 minutes ahead of this machine's clock are held back until the clock \
            reaches it. accept takes them now; this machine's own changes then carry times after them. reset takes that \
            back for later changes, and asks the peers again.
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case accept
        case reset
    }

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("accept or reset.", valueName: "action"))
    var action: Action?

    @Argument(help: ArgumentHelp("Whose changes; the first digits are enough.", valueName: "origin"))
    var origins: [String] = []

    @Flag(help: "One JSON object per line.")
    var json = false

    func validate() throws {
        if action != nil, origins.isEmpty {
            throw ValidationError("Which origins? Give the first digits of their ids.")
        }
        for origin in origins {
            guard (4...32).contains(origin.count), origin.allSatisfy(\.isHexDigit) else {
                throw ValidationError("'\(origin)' is not 4 to 32 digits of an origin.")
            }
        }
    }

    func run() async throws {
        guard let action else { return try list() }
        let replica = try Replica.open(at: database.path)
        let result = Result { try decide(action, replica) }
        try replica.close()
        for origin in try result.get() {
            switch action {
            case .accept: Console.line("Changes of \(origin) are taken from now on; the next exchange brings them.")
            case .reset: Console.line("Forgot what was held back and accepted of \(origin).")
            }
        }
    }

    private func decide(_ action: Action, _ replica: Replica) throws -> [OriginID] {
        try replica.settle()
        return try replica.write { db in
            let known = try ClockReport(db, now: ClockCommand.now).origins.map(\.origin)
            let chosen = try origins.map { text in
                let found = known.filter { $0.description.hasPrefix(text.lowercased()) }
                guard let origin = found.first, found.count == 1 else {
                    throw Failure(
                        found.isEmpty ? "nothing of \(text) is held back" : "\(text) stands for several origins",
                        hint: "`syncd clock \(database.path)` lists them with all digits.")
                }
                return origin
            }
            switch action {
            case .accept: try ClockDecision.accept(chosen, now: ClockCommand.now, db)
            case .reset: try ClockDecision.reset(chosen, db)
            }
            return chosen
        }
    }

    private func list() throws {
        let replica = try Replica.openReader(at: database.path)
        let report = try replica.read { try ClockReport($0, now: ClockCommand.now) }
        try replica.closeReader()
        if json {
            for origin in report.origins { Console.line(origin.json.text) }
            return
        }
        if report.isHeldBackByOthers {
            Console.line(
                "This replica's own changes carry times \(ConsoleText.duration(report.ownAheadMilliseconds)) ahead of this "
                    + "machine's clock: peers hold them back.")
        }
        for origin in report.origins { Console.line(origin.text) }
        if report.origins.isEmpty { Console.line("Nothing is held back.") }
    }

    static var now: Stamp { Stamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded())) }
}
