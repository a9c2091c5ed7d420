import ArgumentParser
import Foundation
import Journal
import Sync

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a replica has what a token names.",
        discussion: """
            `syncd status` of the replica that wrote prints the token, and so do writes through Store. When the command has \
            ended with 0, every read of the file shows the write, or a later one.

            Exit status: 0 the replica has it, 1 failure, 4 not within the time, 64 wrong use.
            """)

    @Argument(help: ArgumentHelp("The SQLite file, or the URL of a daemon.", valueName: "db|url"))
    var target: String

    @Argument(help: "The token of the write.")
    var token: WriteToken

    @Option(help: ArgumentHelp("Seconds to wait, 0 to 86400; 0 only looks.", valueName: "seconds"))
    var timeout = 30

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard (0...86_400).contains(timeout) else { throw ValidationError("--timeout is a number from 0 to 86400.") }
    }

    func run() async throws {
        let isReached: Bool
        if target.contains("://") {
            isReached = try await RemoteWait(peer: try connection.peer(target), token: token).run(seconds: timeout)
        } else {
            try PeerConfiguration.checkScheme(of: target)
            isReached = try await wait(at: target)
        }
        Console.line(json ? WaitAnswer(token: token, isReached: isReached).json.text : text(isReached))
        if !isReached { throw ExitCode.late }
    }

    private func wait(at path: String) async throws -> Bool {
        let replica = try Replica.openReader(at: path)
        let watch = try FileWatch(path: path)
        let isReached = try await VersionWait(replica: replica) { watch.changes }
            .run(token.origin, token.version, milliseconds: Int64(timeout) * 1_000)
        watch.stop()
        try replica.closeReader()
        return isReached
    }

    private func text(_ isReached: Bool) -> String {
        guard !isReached else { return "The replica has it." }
        return timeout == 0 ? "The replica does not have it." : "The replica does not have it after \(timeout) s."
    }
}

extension ExitCode {
    /// The replica does not have in time what `wait` waits for.
    static let late = ExitCode(4)
}
