import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import SyncdCore

/// What the package takes from the program. The package itself is tried by `make package-test`.
@Suite("Packaging")
struct PackagingTests {
    let workspace = Workspace()

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func names(_ command: any ParsableCommand.Type, _ path: String) -> [String] {
        [path] + command.configuration.subcommands.flatMap { names($0, "\(path)-\($0._commandName)") }
    }

    @Test("each command has a manual page with its flags and exit statuses")
    func manual() async throws {
        let script = PackagingTests.root.appending(path: "scripts/man-pages").path(percentEncoded: false)
        let outcome = try await Tool.run([script, Tool.path, workspace.directory.path])
        #expect(outcome.status == 0, "\(outcome)")
        let files = try FileManager.default.contentsOfDirectory(atPath: workspace.directory.path)
        #expect(files.sorted() == names(Syncd.self, "syncd").map { $0 + ".1" }.sorted())
        for file in files {
            let page = try String(contentsOfFile: workspace.path(file), encoding: .utf8)
            for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"] {
                #expect(page.contains("\n.SH \(section)\n"), "\(file): \(section)")
            }
        }
        let page = try String(contentsOfFile: workspace.path("syncd-run.1"), encoding: .utf8)
        #expect(page.contains("\\fB\\-\\-token\\-file\\fP \\fIfile\\fP"), "\(page)")
    }

    @Test("the unit runs a command that exists, and passes the credential that the example names")
    func unit() throws {
        let path = PackagingTests.root.appending(path: "packaging/syncd@.service")
        let unit = try String(contentsOf: path, encoding: .utf8)
        let lines = unit.split(separator: "\n").map(String.init)
        let command = try #require(lines.first { $0.hasPrefix("ExecStart=/usr/bin/syncd ") })
        let arguments = command.split(separator: " ").dropFirst().map(String.init)
        #expect(try Syncd.parseAsRoot(arguments) is RunCommand)
        #expect(arguments.last == "/etc/syncd/%i.yaml")
        #expect(lines.contains("LoadCredential=token:/etc/syncd/%i.token"))
        #expect(ConfigurationExample.text.contains("\ntoken-file: $CREDENTIALS_DIRECTORY/token\n"))
        #expect(lines.contains("StateDirectory=syncd"))
        #expect(ConfigurationExample.text.contains("\ndatabase: /var/lib/syncd/"))
    }
}
