import Foundation
import Testing

/// What docs/ARCHITECTURE.md says about files and folders must be true.
@Suite("docs/ARCHITECTURE.md")
struct ArchitectureDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document() throws -> String {
        try String(contentsOf: Self.root.appending(path: "docs/ARCHITECTURE.md"), encoding: .utf8)
    }

    /// The folders of the drawing: one line each, indented two spaces more than the folder around it.
    private func drawnFolders() throws -> [String] {
        let mark = "<!-- checked by ArchitectureDocumentTests: folders -->\n```\n"
        let parts = try document().components(separatedBy: mark)
        try #require(parts.count == 2)
        var path: [Substring] = []
        return parts[1].components(separatedBy: "```")[0].split(separator: "\n").map { line in
            let depth = line.prefix { $0 == " " }.count / 2
            path = path.prefix(depth) + [line.drop { $0 == " " }.prefix { $0 != "/" }]
            return path.joined(separator: "/")
        }
    }

    private func folders(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            at: Self.root.appending(path: path), includingPropertiesForKeys: [.isDirectoryKey]
        ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
            .map { "\(path)/\($0.lastPathComponent)" }
    }

    @Test("its drawing has every folder of Sources and Tests, and no other")
    func drawing() throws {
        let targets = try folders(in: "Sources")
        // The header folder of a C target does not count.
        let rooms = try targets.flatMap(folders(in:)).filter { !$0.hasSuffix("/include") }
        let tests = try folders(in: "Tests") + folders(in: "Tests/Harness")
        #expect(rooms.count > 30 && tests.count > 20)
        #expect(try drawnFolders().sorted() == (["Sources", "Tests"] + targets + rooms + tests).sorted())
    }

    @Test("each type that it promises to outsiders is public", arguments: ["Journal", "Sync"])
    func promises(target: String) throws {
        let parts = try document().components(separatedBy: "\n- **\(target)** lets")
        try #require(parts.count == 2)
        let names = parts[1].components(separatedBy: "\n- **")[0].matches(of: /`(\w+)`/).map { String($0.output.1) }
        #expect(names.count > 15)
        let folder = Self.root.appending(path: "Sources/\(target)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        let sources = try paths.filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
        for name in names {
            let declaration = try Regex("public (?:final )?(?:struct|class|enum|protocol) \(name)\\b")
            #expect(sources.contains(declaration), "\(name)")
        }
    }

    @Test("each file that it names exists")
    func files() throws {
        let names = try document().components(separatedBy: "`").filter { $0.hasPrefix("Sources/") }
        #expect(names.count > 30)
        for name in names {
            let file = Self.root.appending(path: name).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: file), "\(name)")
        }
    }
}
