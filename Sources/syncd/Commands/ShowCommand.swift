import ArgumentParser
import Foundation
import Journal
import Sync

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a row as it is, or as it was at a time.",
        discussion: """
            Each column has the time at which its value was written, and the machine that wrote it. A time counts by the clocks \
            of the writers, so a change that reached this file later counts as well.

            Exit status: 0 success, also for a deleted row; 1 failure, or no such row; 64 wrong use.
            """)

    @OptionGroup var database: ReadArgument

    @Argument(help: ArgumentHelp("The table.", valueName: "table"))
    var table: String

    @Argument(
        help: ArgumentHelp("The primary key; a JSON array for a key of several columns.", valueName: "key"))
    var key: String

    @Option(help: ArgumentHelp("A time such as 2026-11-21 or 2026-11-21T08:40:19Z.", valueName: "time"))
    var at: TimeArgument?

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        try await database.read(at: at?.stamp, .newest) { try show($0) }
    }

    private func show(_ replica: Replica) throws {
        let table = try replica.knownTable(table)
        let pattern = KeyPattern(text: key)
        let (row, own) = try replica.read { db in
            let reader = try JournalReader(db)
            let until = at?.stamp ?? Stamp(rawValue: .max)
            let row = try reader.row(of: table, until: until) { pattern.matches($0.map(JSONValue.init)) }
            let secrets = try SecretColumns(db)
            return (row.map { $0.hiding(secrets, of: table) }, reader.identity.origin)
        }
        guard let row else {
            throw Failure(
                "No change of the row \(key) of \(table) is in the journal" + (at == nil ? "" : " up to that time"),
                hint: "`syncd log \(database.path) --table \(table)` shows the changes of the table")
        }
        let line = RowLine(row, table: table, own: own, at: at?.stamp)
        if json { Console.line(line.json.text) } else { for text in line.lines { Console.line(text) } }
    }
}
