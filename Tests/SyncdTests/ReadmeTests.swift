import Foundation
import TestSupport
import Testing

/// The first thing that a new user tries.
@Suite("The example of README.md")
struct ReadmeTests {
    private static let readme = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "README.md")

    /// The shell block that begins in a directory of its own.
    private func example() throws -> String {
        let text = try String(contentsOf: Self.readme, encoding: .utf8)
        let blocks = text.matches(of: /(?s)```sh\n(.*?)```/).map { String($0.1) }
        return try #require(blocks.first { $0.contains("mktemp") })
    }

    @Test("works by copy and paste, twice in a row, in one shell")
    func twice() async throws {
        let example = try example()
        for command in ["check", "init", "clone", "sync", "conflicts", "held", "verify"] {
            #expect(example.contains("\nsyncd \(command) "), "\(command) is not shown")
        }
        let bin = URL(filePath: Tool.path).deletingLastPathComponent().path
        let workspace = Workspace()
        let outcome = try await Tool.run([
            "/usr/bin/env", "PATH=\(bin):/usr/bin:/bin", "TMPDIR=\(workspace.directory.path)", "bash", "-eu", "-c",
            example + example,
        ])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.lines.count { $0 == "1 conflict." } == 2, "\(outcome)")
        #expect(outcome.lines.count { $0 == "Nothing is held." } == 2, "\(outcome)")
        let ending = try #require(example.firstMatch(of: /# prints: (.*)\n$/)?.1)
        #expect(outcome.lines.count { $0 == ending } == 2 && outcome.lines.last == String(ending), "\(outcome)")
        // Each run has its own directory, in which both replicas have the same rows.
        let directories = try FileManager.default.contentsOfDirectory(atPath: workspace.directory.path)
        #expect(directories.count == 2)
        for directory in directories {
            for file in ["a.sqlite", "b.sqlite"] {
                let names = try workspace.value(
                    workspace.path("\(directory)/\(file)"), "SELECT group_concat(name) FROM person", as: String.self)
                #expect(names == "Bobby,Ann")
            }
        }
    }
}
