import ArgumentParser
import Foundation
import Journal

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check a configuration file, or print one to begin with.",
        discussion: """
            `syncd config check FILE` says every mistake in a file for `syncd run --config FILE`.

            Exit status: 0 success, 1 when the file has mistakes or cannot be read, 64 wrong use.
            """,
        subcommands: [ConfigCheckCommand.self])

    @Flag(help: "Print a file with every key, what it means, and an example.")
    var example = false

    func run() throws {
        guard example else { throw ValidationError("Give --example, or check FILE.") }
        Console.line(ConfigurationExample.text)
    }
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say every mistake in a configuration file, with its line and what to do.",
        discussion: """
            Reads the tokens, certificates and keys that the file names, as the user who runs the command. It starts nothing, \
            and opens no database. Credentials of systemd are not checked.

            Exit status: 0 when the file has no mistake, 1 when it has, or cannot be read, 64 wrong use.
            """)

    @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        let report = try ConfigCheckReport(
            file: file, credentials: Credentials(environment: ProcessInfo.processInfo.environment))
        Console.line(json ? report.json.text : report.text)
        if !report.mistakes.isEmpty { throw ExitCode(1) }
    }
}
