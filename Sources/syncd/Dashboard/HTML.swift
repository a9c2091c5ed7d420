/// A piece of a page. What is written literally is markup; what is interpolated is text, and escaped.
///
/// Names and values come from databases and peers that are not trusted. There is no other way to put them
/// into a page.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    private init(text: String) { self.text = text }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
        mutating func appendInterpolation(_ number: some BinaryInteger) { text += ConsoleText.number(number) }
        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }
        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
        mutating func appendInterpolation(_ piece: HTML?) { text += piece?.text ?? "" }
        /// A number as it is written in an address or a form.
        mutating func appendInterpolation(id: Int64) { text += String(id) }
    }

    static func + (first: HTML, second: HTML) -> HTML { HTML(text: first.text + second.text) }

    private static func escaped(_ value: String) -> String {
        var out = ""
        for character in ConsoleText.printable(value) {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.append(character)
            }
        }
        return out
    }
}

extension HTML {
    /// A table that becomes a list of cards on a narrow screen.
    ///
    /// - Parameters:
    ///   - caption: What it lists, for screen readers.
    ///   - head: The names of the columns.
    ///   - rows: Each as many cells as there are names.
    static func table(_ caption: String, _ head: [String], _ rows: [[HTML]]) -> HTML {
        table(caption, head, lines: rows.map { "<tr>\(cells(head, $0))</tr>\n" })
    }

    /// As ``table(_:_:_:)``, with rows whose cells ``cells(_:_:)`` has made, so that they can be replaced alone.
    static func table(_ caption: String, _ head: [String], rows: [LivePart]) -> HTML {
        table(caption, head, lines: rows.map { "<tr id=\"\($0.id)\">\($0.html)</tr>\n" })
    }

    /// The cells of one row.
    static func cells(_ head: [String], _ row: [HTML]) -> HTML {
        let cells: [HTML] = zip(head, row).map { "<td data-label=\"\($0)\">\($1)</td>" }
        return "\(cells)"
    }

    private static func table(_ caption: String, _ head: [String], lines: [HTML]) -> HTML {
        let names: [HTML] = head.map { "<th scope=\"col\">\($0)</th>" }
        return "<table><caption>\(caption)</caption><thead><tr>\(names)</tr></thead>\n<tbody>\(lines)</tbody></table>\n"
    }
}
