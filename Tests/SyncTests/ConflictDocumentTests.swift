import Foundation
import Testing

/// What docs/CONFLICTS.md says about tests must be true: tests cover its tables, and the files that it names
/// exist.
@Suite("docs/CONFLICTS.md")
struct ConflictDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document() throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent("docs/CONFLICTS.md"), encoding: .utf8)
    }

    /// The lines of the table whose first title is `title`, as cells.
    private func table(_ title: String) throws -> [[String]] {
        let lines = try document().components(separatedBy: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| \(title) |") })
        return lines.dropFirst(head + 2).prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test("every file that it names exists")
    func files() throws {
        let names = try document().components(separatedBy: "`").filter { $0.hasSuffix(".swift") }
        #expect(names.count > 10)
        for name in names {
            let path = name.contains("/") ? name : "Tests/SyncTests/\(name)"
            #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path), "\(name)")
        }
    }

    @Test("ConflictRulesTests covers each line of its table of rules")
    func rules() throws {
        #expect(try table("A does").count == ConflictRulesTests.rules.count)
    }

    @Test("PolicyTests covers each cell of its table of policies")
    func policies() throws {
        let lines = try table("A and B know `(n: 1, note: x)`")
        // The actions of A and B are between the name of the line and the three policies.
        let cells = lines.flatMap { line in line.dropFirst(3).map { "\(line[0]): \($0)" } }
        #expect(cells == PolicyTests.cells.map { "\($0.line): \($0.text)" })
    }
}
