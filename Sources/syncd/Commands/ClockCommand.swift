import ArgumentParser
import Foundation
import Journal
import Sync

struct ClockCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show whose clock is ahead, and decide about changes that are held back because of it.",
        usage: """
            syncd clock <db> [--json]
            syncd clock <db> accept <origin> ... [--json]
            syncd clock <db> reset <origin> ... [--json]
            syncd clock <db> repair [--json]
            """,
        discussion: """
            Changes whose time lies more than 2 minutes ahead of this machine's clock are held back until the clock \
            reaches it. accept takes them now; this machine's own changes then carry times after them. reset undoes accept \
            for later changes, and asks the peers again. repair gives those of this replica's own changes that lie ahead the \
            present time; first set the machine's clock right, and stop the daemon.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case accept
        case reset
        case repair
    }

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("accept, reset or repair.", valueName: "action"))
    var action: Action?

    @Argument(help: ArgumentHelp("Whose changes; the first digits are enough, 4 at least.", valueName: "origin"))
    var origins: [String] = []

    @Flag(help: "One JSON object per line; repair prints one.")
    var json = false

    func validate() throws {
        if action == .repair, !origins.isEmpty { throw ValidationError("repair is about this replica only.") }
        if action == .accept || action == .reset, origins.isEmpty {
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
        guard action != .repair else { return try repair() }
        let replica = try Replica.open(at: database.path)
        let result = Result { try decide(action, replica) }
        try replica.close()
        for line in try result.get() { Console.line(json ? line.json.text : line.text) }
    }

    private func decide(_ action: Action, _ replica: Replica) throws -> [ClockDecisionLine] {
        try replica.refreshDerivedState()
        return try replica.write { db in
            let known = try ClockReport(db, now: ClockCommand.now).origins.map(\.origin)
            let chosen = try origins.map { text in
                let found = known.filter { $0.description.hasPrefix(text.lowercased()) }
                guard let origin = found.first, found.count == 1 else {
                    throw Failure(
                        found.isEmpty ? "Nothing of \(text) is held back" : "\(text) stands for several origins",
                        hint: "`syncd clock \(database.path)` lists them with all digits.")
                }
                return origin
            }
            if action == .accept {
                try ClockDecision.accept(chosen, now: ClockCommand.now, db)
            } else {
                try ClockDecision.reset(chosen, db)
            }
            let after = try ClockReport(db, now: ClockCommand.now).origins
            return chosen.map { origin in
                let allowed = after.first { $0.origin == origin }?.allowedMilliseconds ?? 0
                return ClockDecisionLine(origin: origin, action: action, allowedMilliseconds: allowed)
            }
        }
    }

    private func repair() throws {
        let replica = try Replica.open(at: database.path)
        // A daemon remembers changes by (origin, version), and the repair changes both.
        let lock = try FileLock(database: database.path, for: .maintenance)
        let result = Result { () throws -> ClockRepairLine in
            try replica.refreshDerivedState()
            let outcome = try replica.write { db in
                try ClockDecision.repair(now: ClockCommand.now, peers: PeerRecords.all(in: replica, db), db)
            }
            return ClockRepairLine(origin: try replica.identity().origin, outcome: outcome)
        }
        try replica.close()
        withExtendedLifetime(lock) {}
        let line = try result.get()
        Console.line(json ? line.json.text : line.text)
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
