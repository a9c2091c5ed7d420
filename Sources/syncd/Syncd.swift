import ArgumentParser
import Foundation

/// The command line. Each command is a file in `Commands`; docs/CLI.md is the contract that scripts rely on.
struct Syncd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncd",
        abstract: "Keeps copies of a SQLite database on several machines the same.",
        discussion: """
            Start with `syncd init FILE` on one machine. Then run `syncd run FILE` next to the program that uses the file, \
            or exchange once with `syncd sync FILE PEER`.

            Exit status: 0 success; 1 failure, or different for verify; 64 wrong use of the command line. Errors go to standard \
            error: one sentence, and a hint.
            """,
        version: Version.current,
        subcommands: [
            InitCommand.self, RunCommand.self, SyncCommand.self, StatusCommand.self, LogCommand.self,
            ConflictsCommand.self, HeldCommand.self, ClockCommand.self, VerifyCommand.self, RekeyCommand.self,
        ])

    /// Runs the command and ends the process: 0 for success, 1 for a failure, 64 for a wrong use.
    static func main() async {
        ProcessSetup.ignoreSignals()
        do {
            try ProcessSetup.reserveFiles(ProcessSetup.filesOfCommand)
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            guard let failure = Failure(describing: error) else { exit(withError: error) }
            Console.error(failure.message, hint: failure.hint)
            Foundation.exit(1)
        }
    }
}

/// The one thing that the executable needs of this module.
public enum CommandLineTool {
    public static func run() async { await Syncd.main() }
}

enum Version {
    /// The release of this program; rises with `CHANGELOG.md`.
    static let current = "0.1.0"
}
