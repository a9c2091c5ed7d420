import Journal

/// A strict parser of JSON (RFC 8259): no comments, no trailing commas, no lone surrogates, no repeated
/// names.
struct JSONParser {
    /// The reason and position of a syntax error.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum nesting depth, because each level needs a stack frame.
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    private var index = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    static func parse(_ text: String) throws -> JSONValue {
        var parser = JSONParser(text)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.index == parser.bytes.count else { throw parser.failure("more text follows the value") }
        return value
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "\(reason), at byte \(index)") }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        guard depth < JSONParser.maximumDepth else { throw failure("the values are nested too deeply") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case .some(let byte) where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return try number()
        default:
            if take(word: "null") { return .null }
            if take(word: "true") { return .bool(true) }
            if take(word: "false") { return .bool(false) }
            throw failure("a value is missing")
        }
    }

    private mutating func object(_ depth: Int) throws -> JSONValue {
        index += 1
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
            let name = try string()
            guard names.insert(name).inserted else { throw failure("the name \(name) is repeated") }
            skipSpace()
            guard take(":") else { throw failure("a colon is missing") }
            members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("a comma is missing") }
        }
    }

    private mutating func array(_ depth: Int) throws -> JSONValue {
        index += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw failure("a comma is missing") }
        }
    }

    // MARK: - Numbers

    private mutating func number() throws -> JSONValue {
        let start = index
        _ = take("-")
        guard take("0") || digits() else { throw failure("a digit is missing") }
        var isReal = false
        if take(".") {
            isReal = true
            guard digits() else { throw failure("a digit is missing") }
        }
        if take("e") || take("E") {
            isReal = true
            _ = take("+") || take("-")
            guard digits() else { throw failure("a digit is missing") }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if !isReal {
            // A double would silently lose the last digits of a longer integer.
            guard let number = Int64(text) else { throw failure("the integer does not fit 64 bits") }
            return .integer(number)
        }
        guard let number = Double(text), number.isFinite else { throw failure("the number does not fit a double") }
        return .real(number)
    }

    private mutating func digits() -> Bool {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        return index > start
    }

    // MARK: - Strings

    private mutating func string() throws -> String {
        index += 1
        var content: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): content += try escaped()
            case ..<0x20: throw failure("a string contains a control character")
            default: content.append(byte)
            }
        }
        throw failure("a string does not end")
    }

    private mutating func escaped() throws -> [UInt8] {
        guard let byte = next else { throw failure("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try codeUnit()
            guard (0xD800...0xDFFF).contains(first) else { return try utf8(UInt32(first)) }
            guard first < 0xDC00, take("\\"), take("u") else { throw failure("a surrogate has no partner") }
            let second = try codeUnit()
            guard (0xDC00...0xDFFF).contains(second) else { throw failure("a surrogate has no partner") }
            return try utf8(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
        default: throw failure("a string contains an unknown escape")
        }
    }

    private mutating func codeUnit() throws -> UInt16 {
        guard index + 4 <= bytes.count,
            bytes[index..<(index + 4)].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: bytes[index..<(index + 4)], as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are missing") }
        index += 4
        return unit
    }

    private func utf8(_ number: UInt32) throws -> [UInt8] {
        guard let scalar = Unicode.Scalar(number) else { throw failure("an escape does not denote a character") }
        return Array(String(Character(scalar)).utf8)
    }
}
