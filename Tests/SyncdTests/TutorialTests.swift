import Foundation
import TestSupport
import Testing

/// What a new operator reads after README.md.
@Suite("docs/TUTORIAL.md")
struct TutorialTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("the commands of the tutorial work one after the other, and end with equal replicas")
    func tutorial() async throws {
        let blocks = try text("docs/TUTORIAL.md").matches(of: /(?s)```sh\n(.*?)```/).map { String($0.1) }
        #expect(blocks.count == 8)
        let script = blocks.joined()
        let workspace = Workspace()
        let ports = try FreePorts(2)
        let here = script.replacing("7707", with: "\(ports[0])").replacing("7708", with: "\(ports[1])")
        let bin = URL(filePath: Tool.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let outcome = try await Tool.run([
            "/usr/bin/env", "PATH=\(bin):\(path)", "TMPDIR=\(workspace.directory.path)", "bash", "-eu", "-c",
            "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + here,
        ])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains("[('tea', 2)]"), "\(outcome)")
        #expect(outcome.lines.contains("2 conflicts."), "\(outcome)")
        #expect(outcome.lines.contains("[('tea', 320), ('coffee', 500)]"), "\(outcome)")
        let ending = try #require(script.firstMatch(of: /# prints: (.*)\n/)?.1)
        #expect(outcome.lines.contains(String(ending)), "\(outcome)")
    }
}
