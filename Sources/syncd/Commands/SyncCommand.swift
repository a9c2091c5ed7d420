import ArgumentParser
import Journal
import Logging
import Sync

struct SyncCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Exchange changes with peers once, both ways, and exit.",
        discussion: """
            Prints what was pulled from each peer and pushed to it, and what could not be taken yet. With several peers, it \
            continues after one that fails.

            Exit status: 0 when every exchange succeeded, 1 when one failed, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("A daemon's URL, or the path of another replica's file.", valueName: "peer"))
    var peers: [String]

    @OptionGroup var connection: ConnectionOptions

    @Option(
        help: ArgumentHelp(
            "SQL to run when changes of peers were merged, for example to build an index again that the program keeps by functions of its own.",
            valueName: "sql"))
    var afterMerge: String?

    @Option(
        help: ArgumentHelp(
            "Whether rows that a program wrote past the triggers become changes when a comparison with a peer finds them: automatic or manual.",
            valueName: "mode"))
    var recapture = RecaptureMode.automatic

    @Flag(help: "One JSON object for each peer.")
    var json = false

    func validate() throws {
        guard afterMerge?.isEmpty != true else { throw ValidationError("--after-merge is SQL.") }
    }

    func run() async throws {
        let configurations = try peers.map { try connection.peer($0) }
        let replica = try Replica.openOnce(at: database.path)
        var limits = Limits.standard
        limits.recapturesByItself = recapture == .automatic
        limits.pendingBytes = Limits.pendingBytesOfOneExchange
        let replicator = try Replicator(
            replica: replica, limits: limits, logger: Logger.standardError(level: .warning))
        let merged = try afterMerge.map { _ in try MergedChanges.vector(replica) }
        var failed = 0
        for peer in configurations {
            do {
                show(try await exchange(replica, replicator, peer), peer)
            } catch let error as SyncError {
                // A failing peer must not keep the others from being exchanged with.
                let failure = error.failure(with: peer)
                if json { Console.line(failure.json(peer: peer.name, code: error.code).text) }
                Console.error(failure.message, hint: failure.hint)
                failed += 1
            }
        }
        if let afterMerge, try MergedChanges.vector(replica) != merged {
            try MergedChanges.follow(by: afterMerge, replica)
        }
        try replicator.inbox.close()
        try replica.close()
        if failed > 0 { throw ExitCode(1) }
    }

    private func exchange(
        _ replica: Replica, _ replicator: Replicator, _ peer: PeerConfiguration
    ) async throws -> SyncReport {
        let arrivals = try Arrivals(replica)
        return try await ProgressLine.during(
            "Exchanging with \(peer.name)", detail: { await arrivals.text() },
            work: { try await replicator.syncOnce(peer) })
    }

    private func show(_ report: SyncReport, _ peer: PeerConfiguration) {
        guard !json else { return Console.line(report.json(peer: peer.name).text) }
        Console.line("\(ConsoleText.printable(peer.name)): \(report.summary).")
        for note in report.notes { Console.line("  \(ConsoleText.printable(note))") }
    }
}
