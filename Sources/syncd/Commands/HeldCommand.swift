import ArgumentParser
import Journal
import Sync

struct HeldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held",
        abstract: "Show what was received and is not shown in its table now, and why.",
        discussion: """
            Held rows take part in merges, are passed on, and return by themselves when nothing stands in their way any \
            more. Changes that wait for a clock are shown by `syncd clock`.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(help: ArgumentHelp("Only of this table.", valueName: "table"))
    var table: String?

    @Option(
        help: ArgumentHelp("Only for this reason, as unique, foreign_key or missing_table.", valueName: "reason"))
    var reason: String?

    @Flag(help: "One JSON object per line.")
    var json = false

    func run() async throws {
        let replica = try Replica.openReader(at: database.path)
        let table = try table.map { try replica.knownTable($0) }
        var rows = 0
        var lines = 0
        try replica.read { db in
            try HeldEntries(db).forEach(table: table, reason: reason) { entry in
                lines += 1
                if entry.id != nil { rows += 1 }
                Console.line(json ? entry.json.text : entry.text)
            }
        }
        if !json {
            Console.line(lines == 0 ? "Nothing is held." : ConsoleText.count(rows, "row is", "rows are") + " held.")
        }
        try replica.closeReader()
    }
}
