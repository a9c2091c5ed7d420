import ArgumentParser
import Foundation
import Journal

/// The command line. Each command has a file in `Commands`. docs/CLI.md is the contract that scripts rely on.
struct Syncd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncd",
        abstract: "Keep copies of a SQLite database equal on several machines.",
        discussion: """
            Start with `syncd init FILE` on one machine. Then run `syncd run FILE` next to the program that uses the file, \
            or exchange once with `syncd sync FILE PEER`.

            Exit status: 0 success; 1 failure, or different for verify; 3 something does not replicate, for check and verify; \
            4 not within the time, for wait; 64 wrong use of the command line. Errors go to standard error: one sentence, \
            and a hint.
            """,
        version: Version.current,
        subcommands: [
            CheckCommand.self, InitCommand.self, RunCommand.self, SyncCommand.self, StatusCommand.self, LogCommand.self,
            ShowCommand.self, ConflictsCommand.self, HeldCommand.self, ClockCommand.self, VerifyCommand.self,
            CloneCommand.self, ReturnCommand.self, StoreCommand.self, HubCommand.self,
            BackupCommand.self, RestoreCommand.self, CompactCommand.self, ForgetCommand.self,
            RekeyCommand.self, UninitCommand.self, ConfigCommand.self, TokenCommand.self, WaitCommand.self,
        ])

    /// Runs the command and ends the process with status 0 (success), 1 (failure) or 64 (wrong use).
    static func main() async {
        ProcessSetup.ignoreSignals()
        ProcessSetup.returnLargeBlocks()
        do {
            try ProcessSetup.reserveFiles(ProcessSetup.filesOfCommand)
            var command = try parseAsRoot()
            if let command = command as? any ExtensionLoading {
                try SQLiteExtensions.load(named: command.extensions.paths)
            }
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

/// The entry point for the executable.
public enum CommandLineTool {
    public static func run() async { await Syncd.main() }
}

enum Version {
    /// The release of this program. It changes together with `CHANGELOG.md`.
    static let current = "0.1.0"
}
