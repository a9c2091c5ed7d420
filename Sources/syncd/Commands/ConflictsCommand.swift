import ArgumentParser
import Journal
import Sync

struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show the ledger: every value or row that lost against a change it had not seen.")

    @OptionGroup var database: DatabaseArgument

    @Flag(help: "One JSON object per line.")
    var json = false

    func run() async throws {
        let replica = try Replica.openReader(at: database.path)
        let conflicts = try replica.read { try ConflictEntry.all($0) }
        for conflict in conflicts { Console.line(json ? conflict.json.text : conflict.text) }
        if !json {
            Console.line(conflicts.isEmpty ? "No conflicts." : ConsoleText.count(conflicts.count, "conflict") + ".")
        }
        try replica.closeReader()
    }
}
