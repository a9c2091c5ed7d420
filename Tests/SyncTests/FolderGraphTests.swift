import Foundation
import Testing

/// The folders of a target are layers: no folder uses a folder that uses it.
///
/// The test reads the graph from the sources. Folder A uses folder B when a file in A names a top-level type
/// that a file in B declares. Files beside the folders are the target's public face and shared by all
/// folders; they do not count.
@Suite struct FolderGraphTests {
    @Test("no two folders of Sync use each other, directly or through others")
    func sync() throws {
        try expectLayers(of: "Sync", but: [])
    }

    /// `DerivedState` lets capture journal evicted rows, and drops held rows that a local write replaced.
    @Test("the folders of Journal use each other in two known places only")
    func journal() throws {
        try expectLayers(
            of: "Journal",
            but: [
                FolderUse(user: "Log", used: "Capture", type: "EvictedRows"),
                FolderUse(user: "Log", used: "Held", type: "HeldOverwrites"),
            ])
    }

    @Test("a loop is found, also through three folders, and reported with the types that close it")
    func loop() {
        let graph = FolderGraph(files: [
            (folder: "A", source: "struct Anchor { let text = \"Base \\(Boat.name)\" } // Crane"),
            (folder: "B", source: "enum Boat { /* Anchor */ static let name = #\"Crane \\(Anchor.self)\"# }\n"),
            (folder: "C", source: "public final class Crane {\n    var anchor: Anchor?\n}\nprivate struct Boat {}\n"),
        ])
        #expect(graph.uses.map(\.description) == ["A uses B's Boat", "C uses A's Anchor"])
        #expect(graph.loops(but: []).isEmpty)

        let closed = FolderGraph(files: [
            (folder: "A", source: "struct Anchor { let boat: Boat }"),
            (folder: "B", source: "struct Boat { let crane: Crane }"),
            (folder: "C", source: "class Crane { var anchor: Anchor? }"),
            (folder: "D", source: "let anchor: Anchor? = nil"),
        ])
        let back = FolderUse(user: "C", used: "A", type: "Anchor")
        #expect(
            closed.loops(but: []).map(\.description) == ["A uses B's Boat", "B uses C's Crane", "C uses A's Anchor"])
        #expect(closed.loops(but: [back]).isEmpty)
    }

    private func expectLayers(of target: String, but known: [FolderUse]) throws {
        let graph = try FolderGraph(target: target)
        #expect(!graph.uses.isEmpty, "no sources of \(target) were found")
        let loops = graph.loops(but: known)
        #expect(loops.isEmpty, "\(loops.map(\.description).joined(separator: "; "))")
        // A listed use that no longer exists must be removed from the list: it could return unnoticed.
        for use in known { #expect(graph.uses.contains(use), "the list says that \(use), and the sources do not") }
    }
}

/// A type by which a folder uses another folder.
private struct FolderUse: Hashable, Comparable, CustomStringConvertible {
    let user: String
    let used: String
    let type: String

    var description: String { "\(user) uses \(used)'s \(type)" }

    static func < (a: FolderUse, b: FolderUse) -> Bool { (a.user, a.used, a.type) < (b.user, b.used, b.type) }
}

/// The types of other folders that each folder of a target uses.
private struct FolderGraph {
    /// The uses in the order of their folders.
    let uses: [FolderUse]

    /// - Parameter target: A folder of `Sources`.
    init(target: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/\(target)")
        var files: [(folder: String, source: String)] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path(percentEncoded: false)) {
            let parts = path.split(separator: "/")
            guard parts.count > 1, path.hasSuffix(".swift") else { continue }
            let source = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            files.append((folder: String(parts[0]), source: source))
        }
        self.init(files: files)
    }

    init(files: [(folder: String, source: String)]) {
        let files = files.map { (folder: $0.folder, code: SourceCode($0.source)) }
        var owners: [String: String] = [:]
        for file in files { for type in file.code.declaredTypes { owners[type] = file.folder } }
        var uses: Set<FolderUse> = []
        for file in files {
            for word in file.code.words {
                guard let owner = owners[word], owner != file.folder, !file.code.privateTypes.contains(word) else {
                    continue
                }
                uses.insert(FolderUse(user: file.folder, used: owner, type: word))
            }
        }
        self.uses = uses.sorted()
    }

    /// The uses on a loop of folders, or between two loops, without those of `known`.
    func loops(but known: [FolderUse]) -> [FolderUse] {
        var rest = uses.filter { !known.contains($0) }
        while true {
            // A folder on a loop uses another folder and is used by another folder.
            let users = Set(rest.map(\.user))
            let used = Set(rest.map(\.used))
            let next = rest.filter { used.contains($0.user) && users.contains($0.used) }
            if next.count == rest.count { return rest }
            rest = next
        }
    }
}

/// The words of a Swift source, without comments and the text of string literals. Interpolations count as
/// code.
private struct SourceCode {
    /// All identifiers.
    private(set) var words: Set<String> = []
    /// The top-level types that other files can use.
    private(set) var declaredTypes: [String] = []
    /// The top-level types that only their file can use.
    private(set) var privateTypes: Set<String> = []

    private static let kinds: Set<Substring> = ["class", "struct", "enum", "protocol", "actor", "typealias"]
    private static let others: Set<Substring> = ["func", "extension", "let", "var", "import"]

    init(_ source: String) {
        let code = String(decoding: SourceCode.stripped(Array(source.utf8)), as: UTF8.self)
        for line in code.split(separator: "\n") {
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            self.words.formUnion(words.map(String.init))
            // Nested declarations are indented.
            guard line.first != " ", let kind = words.firstIndex(where: SourceCode.kinds.contains),
                kind + 1 < words.count, !words[..<kind].contains(where: SourceCode.others.contains)
            else { continue }
            let name = String(words[kind + 1])
            if words[..<kind].contains(where: { $0 == "private" || $0 == "fileprivate" }) {
                privateTypes.insert(name)
            } else {
                declaredTypes.append(name)
            }
        }
    }

    /// The string literal at the scan's position.
    private struct Literal {
        /// The delimiter that ends it.
        let end: [UInt8]
        /// A backslash, and the number signs of a raw literal.
        let escape: [UInt8]
        /// The open parentheses of the interpolation.
        var parentheses = 0

        init(hashes: Int, quotes: Int) {
            let marks = Array(repeating: UInt8(ascii: "#"), count: hashes)
            end = Array(repeating: UInt8(ascii: "\""), count: quotes) + marks
            escape = [UInt8(ascii: "\\")] + marks
        }
    }

    private static func stripped(_ source: [UInt8]) -> [UInt8] {
        var code: [UInt8] = []
        var literals: [Literal] = []
        var isText = false
        var rest = source[...]
        func take(_ text: some Collection<UInt8>) -> Bool {
            guard rest.starts(with: text) else { return false }
            rest = rest.dropFirst(text.count)
            return true
        }
        while let byte = rest.first {
            if isText, let literal = literals.last {
                if take(literal.end) {
                    literals.removeLast()
                    isText = false
                } else if take(literal.escape) {
                    if rest.first == UInt8(ascii: "(") {
                        literals[literals.count - 1].parentheses = 1
                        isText = false
                        code.append(UInt8(ascii: " "))
                    }
                    rest = rest.dropFirst()
                } else {
                    rest = rest.dropFirst()
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "/") where take("//".utf8):
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
                continue
            case UInt8(ascii: "/") where take("/*".utf8):
                while !rest.isEmpty, !take("*/".utf8) { rest = rest.dropFirst() }
                continue
            case UInt8(ascii: "#"), UInt8(ascii: "\""):
                let hashes = rest.prefix { $0 == UInt8(ascii: "#") }.count
                let quotes = rest.dropFirst(hashes).prefix { $0 == UInt8(ascii: "\"") }.count
                guard quotes > 0 else { break }
                let delimiter = quotes >= 3 ? 3 : 1
                literals.append(Literal(hashes: hashes, quotes: delimiter))
                rest = rest.dropFirst(hashes + delimiter)
                isText = true
                continue
            case UInt8(ascii: "("):
                if !literals.isEmpty { literals[literals.count - 1].parentheses += 1 }
            case UInt8(ascii: ")"):
                if !literals.isEmpty {
                    literals[literals.count - 1].parentheses -= 1
                    isText = literals[literals.count - 1].parentheses == 0
                }
            default: break
            }
            code.append(byte)
            rest = rest.dropFirst()
        }
        return code
    }
}
