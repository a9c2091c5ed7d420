import Foundation
import TestSupport
import Testing

/// `Examples/Surroundings.swift` has what they take for given.
@Suite("Examples in the comments of the sources")
struct CommentExampleTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/Store").standardized

    @Test("each compiles")
    func compile() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path)
        let examples = try names.filter { $0.hasSuffix(".swift") }.sorted().flatMap {
            try CommentExample.all(in: Self.sources.appendingPathComponent($0).path)
        }
        #expect(examples.count > 80)
        let directory = TemporaryDirectory()
        let files = try examples.enumerated().map { number, example in
            let file = directory.file("Example\(number).swift")
            try example.source(number).write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }
        for error in try Compiler.errors(in: Compiler.files(in: "Examples") + files) { Issue.record("\(error)") }
    }
}
