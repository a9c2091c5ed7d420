import Foundation

/// An example of code in a documentation comment.
struct CommentExample {
    /// One line of it.
    private struct Line {
        var number: Int
        var code: Substring
    }

    /// What stands where, in a source of its own: Swift allows imports and extensions in files only, and a model needs a
    /// type or a file around it.
    private enum Place {
        case file, type, function
    }

    private let file: String
    private let lines: [Line]

    /// The examples in the comments of a source, from top to bottom.
    ///
    /// - Throws: When the file cannot be read.
    static func all(in file: String) throws -> [CommentExample] {
        var examples: [CommentExample] = []
        var open: [Line]?
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard let comment = line.firstMatch(of: /^ *\/\/\/ ?(.*)$/)?.1 else { continue }
            if let begun = open {
                if comment == "```" {
                    examples.append(CommentExample(file: file, lines: begun))
                    open = nil
                } else {
                    open?.append(Line(number: index + 1, code: comment))
                }
            } else if comment == "```swift" {
                open = []
            }
        }
        return examples
    }

    /// A source in which the compiler finds the example, and reports errors at the lines of the comment.
    ///
    /// - Parameter number: A number that no other example of the module has.
    func source(_ number: Int) -> String {
        var places: [Place: [Line]] = [.file: [], .type: [], .function: []]
        var current: Place?
        for line in lines {
            let place = current ?? place(of: line.code)
            places[place]?.append(line)
            // A declaration ends with the first brace at the margin.
            let ends = line.code.hasSuffix("}") && !line.code.hasPrefix(" ")
            current = place == .function || place == .file && line.code.hasPrefix("import") || ends ? nil : place
        }
        let isAsync = places[.function]?.contains { $0.code.contains("await ") } ?? false
        return """
            import Foundation
            import Store
            \(text(places[.file]))
            enum Example\(number) {
            \(text(places[.type]))
            static func run() \(isAsync ? "async " : "")throws {
            \(text(places[.function]))
            }
            }

            """
    }

    private func place(of line: Substring) -> Place {
        if line.hasPrefix("import ") || line.hasPrefix("extension ") { return .file }
        return line.firstMatch(of: /^(@Model|(final )?class |enum |struct )/) == nil ? .function : .type
    }

    private func text(_ lines: [Line]?) -> String {
        guard let lines, !lines.isEmpty else { return "" }
        var text = ""
        var next = 0
        for line in lines {
            // Only where lines are left out: it must not stand inside of a statement.
            if line.number != next { text += "#sourceLocation(file: \"\(file)\", line: \(line.number))\n" }
            text += line.code + "\n"
            next = line.number + 1
        }
        return text + "#sourceLocation()"
    }
}
