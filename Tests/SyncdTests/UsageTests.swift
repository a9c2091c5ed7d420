import Foundation
import Testing

@Suite("The command line is used wrongly")
struct UsageTests {
    let workspace = Workspace()

    @Test(
        "an unknown command or flag, or a missing or impossible value, ends with status 64 and the usage",
        arguments: [
            ["frobnicate"], ["init"], ["log"], ["log", "x.sqlite", "--frobnicate"],
            ["log", "x.sqlite", "--since", "many"],
            ["log", "x.sqlite", "--since", "-1"], ["init", "x.sqlite", "--cluster", ""],
            ["init", "x.sqlite", "--table", "t", "--exclude", "t"], ["run", "x.sqlite", "--listen", "nowhere"],
            ["run", "x.sqlite", "--listen", "127.0.0.1:65536"], ["run", "x.sqlite", "--log-level", "loud"],
            ["sync", "x.sqlite"],
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
}
