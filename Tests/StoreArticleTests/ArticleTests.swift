import Foundation
import Testing

@Suite("The articles of the documentation")
struct ArticleTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalog = tests.appendingPathComponent("../../Sources/Store/Store.docc")

    private static func files(in directory: URL, _ type: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == type }
    }

    @Test("these tests have and run every line of Swift in an article")
    func examplesAreRun() throws {
        var run: Set<String> = []
        for file in try ArticleTests.files(in: ArticleTests.tests, "swift") {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                run.insert(ArticleTests.code(line))
            }
        }
        let articles = try ArticleTests.files(in: ArticleTests.catalog, "md")
        #expect(articles.count > 10)
        for article in articles {
            let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
            for (index, part) in parts.enumerated() where index % 2 == 1 {
                for line in part.split(separator: "\n").dropFirst().map(ArticleTests.code) where !line.isEmpty {
                    #expect(run.contains(line), "\(article.lastPathComponent): \(line)")
                }
            }
        }
    }

    /// A line without indentation and comment.
    private static func code(_ line: Substring) -> String {
        let end = line.range(of: " // ")?.lowerBound ?? line.endIndex
        return String(line[..<end]).trimmingCharacters(in: .whitespaces)
    }
}
