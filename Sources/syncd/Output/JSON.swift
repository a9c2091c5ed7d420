/// A JSON document whose objects keep the order of their members.
///
/// Foundation's encoder cannot keep that order, nor exact 64-bit integers next to reals that stay reals.
indirect enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSON
    }

    /// An object with these members, in this order. A name that occurs twice is written twice.
    static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// The value, or null.
    static func optional<T>(_ value: T?, _ make: (T) -> JSON) -> JSON {
        value.map(make) ?? .null
    }
}

extension JSON {
    /// The document on one line, without spaces (RFC 8259).
    ///
    /// A real reads back as the same real: it is written with a point or an exponent, in the fewest digits
    /// that are exact. JSON has no infinity; callers must not pass one.
    var text: String {
        var out = ""
        write(to: &out)
        return out
    }

    private func write(to out: inout String) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        case .real(let value): out += value.isFinite ? value.description : "null"
        case .string(let value): JSON.write(string: value, to: &out)
        case .array(let elements):
            out += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { out += "," }
                element.write(to: &out)
            }
            out += "]"
        case .object(let members):
            out += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { out += "," }
                JSON.write(string: member.name, to: &out)
                out += ":"
                member.value.write(to: &out)
            }
            out += "}"
        }
    }

    private static func write(string: String, to out: inout String) {
        out += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
