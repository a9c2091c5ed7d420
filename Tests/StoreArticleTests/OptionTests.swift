import Foundation
import TestSupport
import Testing

@Suite("Options in the articles")
struct OptionTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let sources = tests.appendingPathComponent("../../Sources")

    /// Types whose members are choices of the program, with the beginning of the declaration of a member.
    private static let types = [
        ("Journal/Replica.swift", "public struct Options", "public var "),
        ("Journal/Capture/Initialization.swift", "public struct InitializeRequest", "public var "),
        ("Sync/Limits.swift", "public struct Limits", "public var "),
        ("Sync/Archive/ArchiveLimits.swift", "public struct ArchiveLimits", "public var "),
        ("Sync/HTTP/TLSFiles.swift", "public struct TLSFiles", "public var "),
        ("Sync/Transport/PeerConfiguration.swift", "public struct PeerConfiguration", "public var "),
        ("Sync/Transport/SyncDirection.swift", "public enum SyncDirection", "case "),
        ("Store/DatabaseOptions.swift", "public struct Options", "public var "),
        ("Store/Exchange/JSONExchange.swift", "public enum ExistingRows", "case "),
        ("Store/FullText/TextIndex.swift", "public struct Tokenizer", "public static let "),
        ("Store/Model/CachePolicy.swift", "public enum CachePolicy", "case "),
        ("Store/Model/UnreadableRows.swift", "public enum UnreadableRows", "case "),
        ("Store/Model/ConflictPolicy.swift", "public struct ConflictPolicy", "public static "),
        ("Store/Schema/AutomaticSchema.swift", "public struct DestructiveSteps", "public static let "),
        ("Store/Schema/AutomaticSchema.swift", "public enum InvalidRows", "case "),
        ("Store/Schema/ForeignKey.swift", "public enum Action", "case "),
        ("Store/Observation/ChangeKind.swift", "public enum ChangeKind", "case "),
    ]

    @Test("each option of a public type is on a page", arguments: types)
    func options(file: String, type: String, member: String) throws {
        let lines = try String(contentsOf: OptionTests.sources.appendingPathComponent(file), encoding: .utf8)
            .split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.contains(type) })
        let indentation = lines[start].prefix { $0 == " " }
        let body = lines[(start + 1)...].prefix { $0 != "\(indentation)}" }
        let names = body.compactMap { line -> String? in
            // A property that is computed is no choice.
            guard let range = line.range(of: indentation + "    " + member), range.lowerBound == line.startIndex,
                !line.hasSuffix("{")
            else {
                return nil
            }
            let words = line[range.upperBound...].split { !$0.isLetter }.map(String.init)
            return words.first { !["let", "var", "func"].contains($0) }
        }
        #expect(!names.isEmpty)
        let product = file.prefix { $0 != "/" }
        let pages = try ArticleExamples.files(
            in: OptionTests.sources.appendingPathComponent("\(product)/\(product).docc"), "md")
        let text = try pages.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        for name in names {
            let isThere = text.contains(try Regex("[./`]\(name)\\b"))
            #expect(isThere, "\(type): no page has \(name)")
        }
    }
}
