import ArgumentParser
import Journal
import Sync

struct StatusCommand: AsyncParsableCommand, ExtensionLoading {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what a replica is and knows: identity, versions, tables, peers, conflicts.",
        discussion: """
            For a file, it shows what the file holds; for a daemon, also the state of its exchanges with peers.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @Argument(help: ArgumentHelp("The SQLite file, or the URL of a daemon.", valueName: "db|url"))
    var target: String

    @OptionGroup var connection: ConnectionOptions

    @OptionGroup var extensions: ExtensionOption

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        if target.contains("://") {
            let answer = try await RemoteStatus.fetch(from: try connection.peer(target))
            Console.line(json ? answer.line : answer.text)
            return
        }
        try PeerConfiguration.checkScheme(of: target)
        let replica = try Replica.openReader(at: target)
        let line = try StatusReport(replica).json.text
        try replica.closeReader()
        Console.line(json ? line : StatusText(line.utf8)?.text ?? line)
    }
}
