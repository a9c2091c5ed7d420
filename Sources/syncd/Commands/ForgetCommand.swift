import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

struct ForgetCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Say that a replica will not come back, so that compaction no longer waits for it.",
        discussion: """
            `syncd status` lists the replicas that compaction waits for. Each replica decides by itself: run the command \
            where compaction has to go on. A replica that is heard of again counts again; when something that it lacks is \
            gone by then, it has to be cloned anew.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("The replica; the first digits are enough, 4 at least.", valueName: "origin"))
    var origin: String

    @Flag(help: "Also forget a replica that was seen within the last day.")
    var force = false

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard (4...32).contains(origin.count), origin.allSatisfy(\.isHexDigit) else {
            throw ValidationError("'\(origin)' is not 4 to 32 digits of an origin.")
        }
    }

    func run() async throws {
        let replica = try Replica.openOnce(at: database.path)
        try replica.refreshDerivedState()
        let replicator = try Replicator(replica: replica, logger: Logger.standardError(level: .warning))
        let result = Result { try forget(replica, replicator) }
        try replicator.inbox.close()
        try replica.close()
        let forgotten = try result.get()
        guard !json else {
            Console.line(JSONValue.object(["forgotten": .string(forgotten.description)]).text)
            return
        }
        Console.line("\(forgotten) is forgotten: compaction here no longer waits for it.")
    }

    private func forget(_ replica: Replica, _ replicator: Replicator) throws -> OriginID {
        let horizon = try replicator.inbox.stableHorizon()
        let own = try replica.identity().origin
        let known = horizon.members.map(\.origin) + [own]
        let found = known.filter { $0.description.hasPrefix(origin.lowercased()) }
        guard let chosen = found.first, found.count == 1 else {
            throw Failure(
                found.isEmpty ? "No replica \(origin) is known here" : "\(origin) stands for several replicas",
                hint: "`syncd status \(database.path)` lists them with all digits.")
        }
        try replica.write { db in
            try Forgetting.forget(
                chosen, horizon, now: ClockCommand.now.milliseconds, isForced: force, db)
        }
        return chosen
    }
}
