import ArgumentParser
import Journal
import Sync

struct CheckCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what of a SQLite file would not replicate, and what to do about it.",
        discussion: """
            One line for each kind of finding, with the tables and the remedy. `syncd init` checks the same, and asks for \
            --accept when a line is a warning. The command changes nothing, and also takes a file that is a replica.

            Exit status: 0 every row replicates, 1 failure, 3 a finding is a warning, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(
        name: .customLong("exclude"), parsing: .singleValue,
        help: ArgumentHelp("As for `syncd init`; may be given several times.", valueName: "table"))
    var excluded: [String] = []

    @OptionGroup var foreignKeys: ForeignKeyOption

    @OptionGroup var collations: CollationOption

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let request = collations.request(foreignKeys.request(InitializeRequest(excluding: excluded)))
        let path = database.path
        let check = try await blocking { try Replica.check(at: path, request) }
        if json {
            Console.line(check.json(path: path).text)
        } else {
            for line in check.lines(path: path) { Console.line(line) }
        }
        if check.asksToAccept { throw ExitCode.incomplete }
    }
}
