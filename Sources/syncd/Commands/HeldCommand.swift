import ArgumentParser
import Journal
import Sync

struct HeldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held",
        abstract: "Show which received changes their tables do not show, and why.",
        discussion: """
            Held rows take part in merges, are passed on to peers, and return by themselves when the constraints allow them. \
            Changes of a table or column that this file lacks wait in the journal. `syncd clock` shows changes that wait for \
            a clock.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(help: ArgumentHelp("Only of this table.", valueName: "table"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Only for this reason: \(HeldCommand.reasons.joined(separator: ", ")).", valueName: "reason"))
    var reason: String?

    @Flag(help: "One JSON object per line.")
    var json = false

    /// The values of ``HeldEntry/reason``: first those of rows, then those of changes.
    static let reasons = HoldReason.allCases.map(\.rawValue)

    func validate() throws {
        guard let reason, !HeldCommand.reasons.contains(reason) else { return }
        throw ValidationError(
            "'\(reason)' is no reason; the reasons are \(HeldCommand.reasons.joined(separator: ", ")).")
    }

    func run() async throws {
        let replica = try Replica.openReader(at: database.path)
        let table = try table.map { try replica.knownTable($0) }
        var count = HeldCount()
        try replica.read { db in
            try HeldEntries(db).forEach(table: table, reason: reason) { entry in
                count.add(entry)
                Console.line(json ? entry.json.text : entry.text)
            }
        }
        if !json { Console.line(count.text) }
        try replica.closeReader()
    }
}
