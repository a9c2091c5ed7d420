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
        ("Journal/Replica.swift", "public enum Durability", "case "),
        ("Journal/Conflicts/ConflictFilter.swift", "public struct ConflictFilter", "public var "),
        ("Journal/Conflicts/ConflictLedger+Closing.swift", "public struct ConflictRetention", "public var "),
        ("Journal/Schema/ForeignKeyRule.swift", "public enum ForeignKeyRule", "case "),
        ("Journal/Values/MergePolicy.swift", "public enum MergePolicy", "case "),
        ("Sync/Limits.swift", "public struct Limits", "public var "),
        ("Sync/Archive/ArchiveLimits.swift", "public struct ArchiveLimits", "public var "),
        ("Sync/HTTP/TLSFiles.swift", "public struct TLSFiles", "public var "),
        ("Sync/Transport/PeerConfiguration.swift", "public struct PeerConfiguration", "public var "),
        ("Sync/Transport/SyncDirection.swift", "public enum SyncDirection", "case "),
        ("Sync/Archive/Collection/CollectionPlan.swift", "public struct CollectionSettings", "public var "),
        ("Sync/Verify/ContentRepair.swift", "public enum RepairRule", "case "),
        ("Store/DatabaseOptions.swift", "public struct Options", "public var "),
        ("Store/Exchange/JSONExchange.swift", "public enum ExistingRows", "case "),
        ("Store/FullText/Search.swift", "public struct SearchMarks", "public var "),
        ("Store/Query/Ordering.swift", "public enum OrderDirection", "case "),
        ("Store/FullText/TextIndex.swift", "public struct Tokenizer", "public static let "),
        ("Store/Model/CachePolicy.swift", "public enum CachePolicy", "case "),
        ("Store/Model/UnreadableRows.swift", "public enum UnreadableRows", "case "),
        ("Store/Model/ConflictPolicy.swift", "public struct ConflictPolicy", "public static "),
        ("Store/Schema/AutomaticSchema.swift", "public struct DestructiveSteps", "public static let "),
        ("Store/Schema/AutomaticSchema.swift", "public enum InvalidRows", "case "),
        ("Store/Schema/ForeignKey.swift", "public enum Action", "case "),
        ("Store/Observation/ChangeKind.swift", "public enum ChangeKind", "case "),
    ]

    /// The words with which the name of a type of options ends.
    private static let endings = [
        "Options", "Limits", "Settings", "Policy", "Rule", "Rows", "Retention", "Filter", "Configuration", "Marks",
        "Direction", "Durability", "Steps",
    ]

    @Test("each public type whose name says that it has options is looked at")
    func allTypes() throws {
        var found: Set<String> = []
        for product in ["Journal", "Sync", "Store"] {
            let root = OptionTests.sources.appendingPathComponent(product)
            let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    guard let match = line.firstMatch(of: /^ *public (?:struct|enum) (\w+)/) else { continue }
                    let name = String(match.1)
                    if OptionTests.endings.contains(where: { name.hasSuffix($0) }) { found.insert(name) }
                }
            }
        }
        let listed = Set(OptionTests.types.compactMap { $0.1.split(separator: " ").last.map(String.init) })
        #expect(found.count > 15)
        #expect(found.subtracting(listed) == [])
    }

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
