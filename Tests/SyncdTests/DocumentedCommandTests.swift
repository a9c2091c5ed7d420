import ArgumentParser
import Foundation
import Testing

@testable import SyncdCore

/// A command that a page shows is one that this release takes.
@Suite("Commands in the documentation")
struct DocumentedCommandTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func pages() throws -> [(name: String, text: String)] {
        let docs = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
        let names = ["README.md", "CHANGELOG.md"] + docs.filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return try names.sorted().map { ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8)) }
    }

    @Test("a command in a block is a whole command line")
    func blocks() throws {
        var count = 0
        for page in try Self.pages() {
            for line in Self.shellLines(of: page.text) {
                for words in Self.commands(in: line) {
                    count += 1
                    Self.expectParses(words, page.name)
                }
            }
        }
        #expect(count > 40)
    }

    @Test("a command in a sentence names a command and its options; with an operand it is a whole command line")
    func spans() throws {
        var count = 0
        for page in try Self.pages() {
            let prose = page.text.replacing(/(?s)```.*?```/, with: "")
            for match in prose.matches(of: /`syncd\s([^`]+)`/) {
                let text = match.1.replacing("\n", with: " ")
                let words = text.split(separator: " ").map { Self.example(for: String($0)) }
                guard let (command, rest) = Self.command(words) else {
                    if words.first?.hasPrefix("--") != true { Issue.record("\(page.name): no command: syncd \(text)") }
                    continue
                }
                count += 1
                if let first = rest.first, !first.hasPrefix("--") {
                    Self.expectParses(words, page.name)
                } else {
                    let help = Syncd.helpMessage(for: command)
                    for option in rest where option.hasPrefix("--") {
                        #expect(help.contains("\(option)"), "\(page.name): no option \(option): syncd \(text)")
                    }
                }
            }
        }
        #expect(count > 100)
    }

    private static func expectParses(_ words: [String], _ page: String) {
        do {
            _ = try Syncd.parseAsRoot(words)
        } catch {
            let message = Syncd.message(for: error)
            Issue.record("\(page): syncd \(words.joined(separator: " ")): \(message)")
        }
    }

    /// The subcommand that words begin with, and the words behind its name.
    private static func command(_ words: [String]) -> ((any ParsableCommand.Type), [String])? {
        var command: any ParsableCommand.Type = Syncd.self
        var rest = words[...]
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: {
                $0._commandName == word || $0.configuration.aliases.contains(word)
            })
        {
            command = next
            rest = rest.dropFirst()
        }
        return command == Syncd.self ? nil : (command, Array(rest))
    }

    /// An argument in place of a word that stands for any.
    private static func example(for word: String) -> String {
        let word = word.split(separator: "|").first.map { String($0) } ?? word
        return switch word {
        case "ID…", "ID": "1"
        case "TIME": "2026-11-21"
        case "ORIGIN": "5d0c"
        case "$write": "0e262f7e204e5b7df512440f384bd334-4"
        case "http://…", "URL", "ADDRESS", "PEER": "http://other:7707"
        default: word
        }
    }

    // MARK: - Blocks

    /// The lines of the blocks of shell commands: fenced ones and indented ones. A line that ends with a backslash
    /// goes on in the next one.
    private static func shellLines(of text: String) -> [String] {
        var lines: [String] = []
        var fence: Substring?
        var begun = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                fence = fence == nil ? line.dropFirst(3) : nil
                continue
            }
            let isShell = fence.map { ["sh", "console"].contains($0) } ?? line.hasPrefix("    ")
            guard isShell else { continue }
            if line.hasSuffix("\\") {
                begun += line.dropLast() + " "
            } else {
                lines.append(begun + line)
                begun = ""
            }
        }
        return lines
    }

    /// The arguments of each `syncd` in a line of a shell.
    private static func commands(in line: String) -> [[String]] {
        let line = line.prefix { $0 != "#" }
        return line.matches(of: #/(?:^|[\s(;&])syncd (?=[a-z])/#).map { words(of: line[$0.range.upperBound...]) }
    }

    /// Words as a shell splits them, up to the end of the command.
    private static func words(of text: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "(" {
                // What another command prints.
                quote = ")"
            } else if "|&;)>".contains(character) {
                break
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        if !word.isEmpty { words.append(word) }
        return words.map(example)
    }
}
