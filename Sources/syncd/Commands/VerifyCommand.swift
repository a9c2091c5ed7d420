import ArgumentParser
import Journal
import Logging
import Sync

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the content of two replicas: exit status 0 when equal, 1 when different.",
        discussion: """
            Replicas that do not know the same changes yet are different; `syncd sync` them first. Those that do, and differ, are \
            damaged: --repair makes rows here what the journal says, and announces to the peer what is right here.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("A daemon's URL, or the path of another replica's file.", valueName: "peer"))
    var peer: String

    @Flag(help: "Mend the rows that differ, on both replicas.")
    var repair = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let configuration = try connection.peer(peer)
        let replica = try Replica.open(at: database.path)
        let replicator = try Replicator(replica: replica, logger: makeLogger(level: .warning))
        let report: VerifyReport
        do {
            report = try await replicator.verify(configuration)
            show(report)
            if repair, !report.isEqual {
                let mended = try await replicator.repair(configuration)
                Console.line(mended.summary)
                show(mended.after)
                try conclude(mended.after, replicator, replica)
                return
            }
        } catch let error as SyncError {
            throw error.failure(with: configuration)
        }
        try conclude(report, replicator, replica)
    }

    /// Closes everything, and says in one line and the exit status what came out.
    private func conclude(_ report: VerifyReport, _ replicator: Replicator, _ replica: Replica) throws {
        try replicator.inbox.close()
        try replica.closeReader()
        let rows = ConsoleText.count(report.tables.reduce(0) { $0 + $1.rows }, "row")
        let tables = ConsoleText.count(report.tables.count, "table")
        guard report.isEqual else {
            Console.line("Different.")
            if report.ours != report.theirs {
                Console.line(
                    "The replicas do not know the same changes; exchange them first: syncd sync \(database.path) \(peer)"
                )
            }
            throw ExitCode(1)
        }
        Console.line("Equal: \(rows) in \(tables).")
    }

    private func show(_ report: VerifyReport) {
        Console.line(ConsoleText.table(report.tables.map { [ConsoleText.printable($0.name), $0.summary] }))
        for table in report.tables {
            for difference in table.differences {
                let key = difference.key.map(\.value.shown).joined(separator: ", ")
                Console.line("  \(ConsoleText.printable(table.name)) [\(key)]: \(difference.kind.summary)")
            }
            let more = table.onlyHere + table.onlyThere + table.differing - table.differences.count
            if more > 0 {
                Console.line("  and \(ConsoleText.number(more)) more rows of \(ConsoleText.printable(table.name))")
            }
        }
    }
}

extension RepairReport {
    var summary: String {
        var parts = [
            ConsoleText.count(rebuilt, "row") + " here made what the journal says",
            ConsoleText.count(announced, "row") + " announced to the peer again",
        ]
        if taken > 0 { parts.append(ConsoleText.count(taken, "row") + " taken from the peer") }
        if held > 0 { parts.append(ConsoleText.count(held, "row") + " left alone because they are held here") }
        return "Repaired: " + parts.joined(separator: ", ") + "."
    }
}

extension VerifyReport.Table {
    var summary: String {
        if let problem { return problem }
        var parts = [ConsoleText.count(rows, "row")]
        if isEqual { parts.append("equal") }
        if differing > 0 { parts.append("\(ConsoleText.number(differing)) different") }
        if onlyHere > 0 { parts.append("\(ConsoleText.number(onlyHere)) only here") }
        if onlyThere > 0 { parts.append("\(ConsoleText.number(onlyThere)) only there") }
        if !unmatchedColumns.isEmpty {
            parts.append("not compared: " + unmatchedColumns.map { ConsoleText.printable($0) }.joined(separator: ", "))
        }
        return parts.joined(separator: ", ")
    }
}

extension VerifyReport.Difference.Kind {
    var summary: String {
        switch self {
        case .onlyHere: "only here"
        case .onlyThere: "only there"
        case .differs(let columns): columns.map { ConsoleText.printable($0) }.joined(separator: ", ") + " differ"
        }
    }
}
