import Foundation
import TestSupport
import Testing

@Suite("Options in the articles")
struct OptionTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let sources = tests.appendingPathComponent("../../Sources/Store")

    /// Types whose members are choices of the program, with the beginning of the declaration of a member.
    private static let types = [
        ("DatabaseOptions.swift", "public struct Options", "public var "),
        ("Exchange/JSONExchange.swift", "public enum ExistingRows", "case "),
        ("FullText/TextIndex.swift", "public struct Tokenizer", "public static let "),
        ("Model/CachePolicy.swift", "public enum CachePolicy", "case "),
        ("Model/UnreadableRows.swift", "public enum UnreadableRows", "case "),
        ("Model/ConflictPolicy.swift", "public struct ConflictPolicy", "public static "),
        ("Schema/AutomaticSchema.swift", "public struct DestructiveSteps", "public static let "),
        ("Schema/AutomaticSchema.swift", "public enum InvalidRows", "case "),
        ("Schema/ForeignKey.swift", "public enum Action", "case "),
        ("Observation/ChangeKind.swift", "public enum ChangeKind", "case "),
    ]

    @Test("each option of a public type is on a page", arguments: types)
    func options(file: String, type: String, member: String) throws {
        let lines = try String(contentsOf: OptionTests.sources.appendingPathComponent(file), encoding: .utf8)
            .split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.contains(type) })
        let indentation = lines[start].prefix { $0 == " " }
        let body = lines[(start + 1)...].prefix { $0 != "\(indentation)}" }
        let names = body.compactMap { line -> String? in
            guard let range = line.range(of: indentation + "    " + member), range.lowerBound == line.startIndex else {
                return nil
            }
            let words = line[range.upperBound...].split { !$0.isLetter }.map(String.init)
            return words.first { !["let", "var", "func"].contains($0) }
        }
        #expect(!names.isEmpty)
        let pages = try ArticleExamples.files(in: OptionTests.sources.appendingPathComponent("Store.docc"), "md")
        let text = try pages.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        for name in names {
            let isThere = text.contains(try Regex("[.`]\(name)\\b"))
            #expect(isThere, "\(type): no page has \(name)")
        }
    }
}
