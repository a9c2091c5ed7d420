import ArgumentParser
import Journal
import Logging
import Sync

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Exchange changes with peers once, both ways, and exit.")

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("A daemon's URL, or the path of another replica's file.", valueName: "peer"))
    var peers: [String]

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let configurations = try peers.map { try connection.peer($0) }
        let replica = try Replica.open(at: database.path)
        let replicator = try Replicator(replica: replica, logger: makeLogger(level: .warning))
        var failed = 0
        for peer in configurations {
            do {
                let report = try await replicator.syncOnce(peer)
                Console.line("\(ConsoleText.printable(peer.name)): \(report.summary).")
                for note in report.notes { Console.line("  \(note)") }
            } catch let error as SyncError {
                // The other peers need not wait for this one to be repaired.
                let failure = error.failure(with: peer)
                Console.error(failure.message, hint: failure.hint)
                failed += 1
            }
        }
        try replicator.inbox.close()
        try replica.close()
        if failed > 0 { throw ExitCode(1) }
    }
}

extension SyncReport {
    /// `pulled 3 changes (412 bytes), pushed 1 change (98 bytes), 1 conflict`
    var summary: String {
        var parts = [
            "pulled \(ConsoleText.count(pulledChanges, "change")) (\(ConsoleText.count(pulledBytes, "byte")))",
            "pushed \(ConsoleText.count(pushedChanges, "change")) (\(ConsoleText.count(pushedBytes, "byte")))",
        ]
        if conflicts > 0 { parts.append(ConsoleText.count(conflicts, "conflict")) }
        return parts.joined(separator: ", ")
    }

    /// What did not go through.
    var notes: [String] {
        var notes: [String] = []
        if !heldBackHere.isEmpty {
            notes.append("Held back here until this clock comes closer: changes of \(SyncReport.names(heldBackHere)).")
        }
        if !heldBackThere.isEmpty {
            notes.append(
                "Held back there until that clock comes closer: changes of \(SyncReport.names(heldBackThere)).")
        }
        if droppedConflicts > 0 {
            notes.append("The ledger dropped \(ConsoleText.count(droppedConflicts, "conflict")) beyond its bounds.")
        }
        return notes
    }

    private static func names(_ vector: VersionVector) -> String {
        vector.entries.map(\.origin.short).joined(separator: ", ")
    }
}
