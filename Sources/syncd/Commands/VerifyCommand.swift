import ArgumentParser
import Journal
import Logging
import Sync
import Synchronization

struct VerifyCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the content of two replicas, table by table and row by row.",
        discussion: """
            Replicas that do not know the same changes count as different; run `syncd sync` first. Replicas that know the same \
            changes and still differ have rows that their own journal does not explain: a program wrote past capture, or the \
            disk is damaged. --repair keeps what programs wrote: it takes such rows here, and in a peer's file on this machine, \
            as changes. With --from-journal they are rebuilt from the journal instead, here and at the peer.

            It also says what it did not compare: tables and columns that one side lacks, tables that do not replicate, and \
            rows that are held here.

            Exit status: 0 equal, 1 different or failed, 3 equal but not everything was compared, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("A daemon's URL, or the path of another replica's file.", valueName: "peer"))
    var peer: String

    @Flag(help: "Repair the rows that differ, and compare again. No row loses what it holds.")
    var repair = false

    @Flag(help: "With --repair: the journal is right, and the rows that differ from it are damaged.")
    var fromJournal = false

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "One JSON object; with --repair, about the last comparison.")
    var json = false

    func validate() throws {
        guard repair || !fromJournal else { throw ValidationError("--from-journal needs --repair.") }
    }

    func run() async throws {
        let configuration = try connection.peer(peer)
        let replica = try Replica.openOnce(at: database.path)
        let replicator = try Replicator(replica: replica, logger: Logger.standardError(level: .warning))
        var report: VerifyReport
        var mended: RepairReport?
        do {
            report = try await comparing { try await replicator.verify(configuration, onProgress: $0) }
            show(report)
            if repair, report.differs {
                let rule: RepairRule = fromJournal ? .fromJournal : .keepRows
                let outcome = try await comparing { try await replicator.repair(configuration, rule, onProgress: $0) }
                if !json { for line in outcome.lines { Console.line(line) } }
                show(outcome.after)
                report = outcome.after
                mended = outcome
            }
        } catch let error as SyncError {
            throw error.failure(with: configuration)
        }
        try replicator.inbox.close()
        try replica.closeReader()
        conclude(report, mended)
        if report.differs { throw ExitCode(1) }
        if !report.isComplete { throw ExitCode.incomplete }
    }

    private func comparing<T>(
        _ work: (@escaping @Sendable (VerifyProgress) -> Void) async throws -> T
    ) async throws -> T {
        let latest = LatestProgress()
        return try await ProgressLine.during(
            "Comparing with \(peer)", detail: { latest.text },
            work: { try await work { latest.hear($0) } })
    }

    private func show(_ report: VerifyReport) {
        guard !json else { return }
        for line in report.lines { Console.line(line) }
    }

    /// Prints the result in one line.
    private func conclude(_ report: VerifyReport, _ repair: RepairReport?) {
        guard !json else { return Console.line(report.json(repair: repair).text) }
        Console.line(report.conclusion + ".")
        guard report.differs, report.ours != report.theirs else { return }
        let arguments = ConsoleText.printable("\(database.path) \(peer)")
        Console.line("The replicas do not know the same changes; exchange them first: syncd sync \(arguments)")
    }
}

/// The last reported progress of a comparison, for the ``ProgressLine``.
private final class LatestProgress: Sendable {
    private let progress = Mutex<VerifyProgress?>(nil)

    func hear(_ news: VerifyProgress) { progress.withLock { $0 = news } }

    /// `table 3 of 12, person, 1 234 567 rows`
    var text: String {
        guard let progress = progress.withLock({ $0 }) else { return "asking" }
        let rows = ConsoleText.count(progress.rows, "row")
        return "table \(progress.number) of \(progress.tables), \(progress.table), \(rows)"
    }
}
