/// Reads the elements of an XML document, as far as answers of S3 servers need it.
///
/// The document may be hostile: sizes are bounded, nothing is resolved, and anything unusual is an error. Elements,
/// attributes (which are skipped), text, references to characters and comments are read. Document types, processing
/// instructions behind the first line and CDATA are refused.
struct XMLReader {
    /// An element that has ended.
    struct Element {
        /// The names from the root to this element, without namespace prefixes.
        let path: [String]
        /// The text that is directly inside of it.
        let text: String
    }

    /// Why a document is refused.
    struct Failure: Error {
        let reason: String
    }

    /// Levels of elements.
    private static let mostLevels = 16
    /// Bytes of one name, and of one element's text.
    private static let mostNameBytes = 128
    private static let mostTextBytes = 8_192

    private var rest: ArraySlice<UInt8>
    private var path: [String] = []
    private var texts: [[UInt8]] = []
    private var hasRoot = false

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        _ = take("\u{FEFF}")
    }

    /// Returns the next element that ends; nil at the end of the document.
    mutating func next() throws(Failure) -> Element? {
        while let byte = rest.first {
            if byte != UInt8(ascii: "<") {
                try readText()
            } else if take("<!--") {
                try skip(through: "-->")
            } else if take("<?xml ") {
                guard !hasRoot else { throw Failure(reason: "a declaration inside of the document") }
                try skip(through: "?>")
            } else if take("</") {
                let name = try readName()
                skipSpace()
                guard take(">"), name == path.last else { throw Failure(reason: "an end without its beginning") }
                return try ended()
            } else if take("<!") || take("<?") {
                throw Failure(reason: "a document type, an instruction or CDATA")
            } else {
                rest.removeFirst()
                if try readStart() { return try ended() }
            }
        }
        guard hasRoot, path.isEmpty else { throw Failure(reason: "it ends too early") }
        return nil
    }

    // MARK: - Pieces

    /// - Returns: True for an element without content.
    private mutating func readStart() throws(Failure) -> Bool {
        guard !path.isEmpty || !hasRoot else { throw Failure(reason: "two roots") }
        guard path.count < XMLReader.mostLevels else { throw Failure(reason: "too many levels") }
        hasRoot = true
        path.append(try readName())
        texts.append([])
        while true {
            skipSpace()
            if take(">") { return false }
            if take("/>") { return true }
            _ = try readName()
            skipSpace()
            guard take("=") else { throw Failure(reason: "an attribute without a value") }
            skipSpace()
            guard let quote = rest.popFirst(), quote == 0x22 || quote == 0x27, let end = rest.firstIndex(of: quote),
                !rest[..<end].contains(UInt8(ascii: "<"))
            else { throw Failure(reason: "an attribute without a value") }
            rest = rest[(end + 1)...]
        }
    }

    private mutating func ended() throws(Failure) -> Element {
        guard let bytes = texts.popLast(), let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(reason: "text that is no UTF-8")
        }
        defer { path.removeLast() }
        return Element(path: path, text: text)
    }

    private mutating func readText() throws(Failure) {
        var text: [UInt8] = []
        while let byte = rest.first, byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: "&") {
                text += Array(String(try readReference()).utf8)
            } else {
                guard byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else {
                    throw Failure(reason: "a control character")
                }
                text.append(byte)
                rest.removeFirst()
            }
            guard text.count <= XMLReader.mostTextBytes else { throw Failure(reason: "a text that is too long") }
        }
        guard !path.isEmpty else {
            guard text.allSatisfy({ XMLReader.isSpace($0) }) else { throw Failure(reason: "text outside of the root") }
            return
        }
        texts[texts.count - 1] += text
        guard texts[texts.count - 1].count <= XMLReader.mostTextBytes else {
            throw Failure(reason: "a text that is too long")
        }
    }

    /// Reads a reference to a character: five have names, all have numbers.
    private mutating func readReference() throws(Failure) -> Character {
        let body = rest.dropFirst().prefix(10)
        guard let end = body.firstIndex(of: UInt8(ascii: ";")) else { throw Failure(reason: "an unknown reference") }
        let name = String(decoding: body[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard name.hasPrefix("#"), digits.first?.isHexDigit == true,
                let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number),
                number >= 0x20 || number == 0x09 || number == 0x0A || number == 0x0D
            else { throw Failure(reason: "an unknown reference") }
            return Character(scalar)
        }
    }

    /// Reads a name, and drops its namespace prefix.
    private mutating func readName() throws(Failure) -> String {
        let name = rest.prefix { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x3A).contains(byte) || byte == 0x2D || byte == 0x2E
                || byte == 0x5F
        }
        guard !name.isEmpty, name.count <= XMLReader.mostNameBytes else { throw Failure(reason: "a name that is none") }
        rest = rest.dropFirst(name.count)
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local, as: UTF8.self)
    }

    private mutating func skip(through end: String) throws(Failure) {
        while !rest.isEmpty {
            if take(end) { return }
            rest.removeFirst()
        }
        throw Failure(reason: "it ends too early")
    }

    private mutating func skipSpace() { rest = rest.drop { XMLReader.isSpace($0) } }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}
