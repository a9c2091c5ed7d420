import Foundation
import Testing

@Suite("Wrong use of the command line")
struct UsageTests {
    let workspace = Workspace()

    @Test(
        "an unknown command or flag, or a missing or impossible value, ends with status 64 and the usage",
        arguments: [
            ["frobnicate"], ["init"], ["check"], ["log"], ["log", "x.sqlite", "--frobnicate"],
            ["log", "x.sqlite", "--since", "many"],
            ["log", "x.sqlite", "--since", "-1"], ["init", "x.sqlite", "--cluster", ""],
            ["init", "x.sqlite", "--table", "t", "--exclude", "t"], ["run", "x.sqlite", "--listen", "nowhere"],
            ["run", "x.sqlite", "--listen", "127.0.0.1:65536"], ["run", "x.sqlite", "--log-level", "loud"],
            ["sync", "x.sqlite"], ["verify", "x.sqlite"], ["status"], ["rekey"], ["uninit"],
            ["token"], ["token", "a", "--tokens", "f"], ["token", "a", "--scope", "read"],
            ["token", "a", "--scope", "write", "--tokens", "f"], ["token", "a b", "--scope", "read", "--tokens", "f"],
            ["token", "a", "--scope", "read", "--scope", "read", "--tokens", "f"],
            ["wait"], ["wait", "x.sqlite"], ["wait", "x.sqlite", "nonsense"],
            ["wait", "x.sqlite", "0123456789abcdef0123456789abcdef-1", "--timeout", "-1"],
            ["init", "x.sqlite", "--policy", "t=best"], ["init", "x.sqlite", "--references", "t.c"],
            ["init", "x.sqlite", "--references", "c=t"],
            ["init", "x.sqlite", "--renamed", "old"], ["run", "x.sqlite", "--conflict-days", "0"], ["run"], ["config"],
            ["config", "check"],
            ["clock", "x.sqlite", "accept"], ["clock", "x.sqlite", "repair", "84278008"],
            ["held", "x.sqlite", "--reason", "uniq"], ["conflicts", "x.sqlite", "restore"],
            ["conflicts", "x.sqlite", "restore", "1", "--table", "t"],
            ["conflicts", "x.sqlite", "dismiss", "1", "--as-new-row"], ["conflicts", "x.sqlite", "--as-new-row"],
            ["conflicts", "x.sqlite", "dismiss", "1", "--state", "all"], ["clone", "x.sqlite"], ["backup", "x.sqlite"],
            ["restore", "x.sqlite"], ["restore", "x.sqlite", "y.sqlite", "--at", "noon"], ["show", "x.sqlite", "t"],
            ["show", "x.sqlite", "t", "1", "--at", "yesterday"], ["log", "x.sqlite", "--at", "soon"],
        ])
    func usage(arguments: [String]) async throws {
        let before = try workspace.snapshot()
        let outcome = try await Tool.run([Tool.path] + arguments)
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("Usage: syncd"), "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test(
        "help and version are no errors", arguments: [["--help"], ["--version"], ["help", "run"], ["log", "--help"]])
    func help(arguments: [String]) async throws {
        let outcome = try await Tool.run([Tool.path] + arguments)
        #expect(outcome.status == 0)
        #expect(!outcome.output.isEmpty)
        #expect(outcome.errors.isEmpty)
    }

    @Test("the help of each command has its exit statuses and its --json, which only the daemon does not have")
    func contract() async throws {
        let commands = [
            "check", "init", "sync", "status", "log", "conflicts", "held", "clock", "verify", "rekey", "uninit",
            "show", "clone", "backup", "restore",
            "wait", "token",
        ]
        let root = try await Tool.run("--help")
        #expect(root.output.contains("Exit status:"), "\(root)")
        for command in commands + ["run"] {
            // A command with a second name has a comma after the first.
            #expect(["\n  \(command) ", "\n  \(command), "].contains(where: root.output.contains), "\(root)")
            let help = try await Tool.run(command, "--help")
            #expect(help.output.contains("Exit status:"), "\(help)")
            #expect(help.output.contains("--json") == commands.contains(command), "\(help)")
        }
    }
}
