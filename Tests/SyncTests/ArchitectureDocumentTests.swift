import Foundation
import Testing

/// What docs/ARCHITECTURE.md says of files and folders must be so.
@Suite("docs/ARCHITECTURE.md")
struct ArchitectureDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document() throws -> String {
        try String(contentsOf: Self.root.appending(path: "docs/ARCHITECTURE.md"), encoding: .utf8)
    }

    /// The folders of the drawing: a line each, two spaces deeper than the folder around it.
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
        // The headers of a C target are no room of their own.
        let rooms = try targets.flatMap(folders(in:)).filter { !$0.hasSuffix("/include") }
        let tests = try folders(in: "Tests") + folders(in: "Tests/Harness")
        #expect(rooms.count > 30 && tests.count > 20)
        #expect(try drawnFolders().sorted() == (["Sources", "Tests"] + targets + rooms + tests).sorted())
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
