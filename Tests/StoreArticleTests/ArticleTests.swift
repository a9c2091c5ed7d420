import Foundation
import TestSupport
import Testing

@Suite("The articles of the documentation")
struct ArticleTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalog = tests.appendingPathComponent("../../Sources/Store/Store.docc")

    @Test("these tests have and run every line of code in an article")
    func examplesAreRun() throws {
        let articles = try ArticleExamples.files(in: ArticleTests.catalog, "md")
        #expect(articles.count > 10)
        let sources = try ArticleExamples.files(in: ArticleTests.tests, "swift")
        #expect(try ArticleExamples.linesNotRun(of: articles, in: sources) == [])
    }
}
