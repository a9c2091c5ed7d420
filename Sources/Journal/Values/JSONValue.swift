import Foundation

/// A JSON document (RFC 8259) that keeps the order of its members and what SQLite stores: every Int64, every
/// double to its last bit, and 1 distinct from 1.0.
///
/// Foundation's JSON keeps neither. Here a number without fraction and exponent is an integer, and a real is
/// always written with one of them.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Writes an integer, a real or a text as itself, and a blob as `{"blob": "<base64>"}`.
    ///
    /// Two values that JSON cannot express are objects, too: text that is not UTF-8 is
    /// `{"text": "<base64>"}`, and an infinite real is `{"real": "inf"}` or `{"real": "-inf"}`.
    package init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number):
            self = number.isFinite ? .real(number) : .object([Member(name: "real", value: .string("\(number)"))])
        case .text(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                self = .string(text)
            } else {
                self = .object([Member(name: "text", value: .string(Data(bytes).base64EncodedString()))])
            }
        case .blob(let bytes):
            self = .object([Member(name: "blob", value: .string(Data(bytes).base64EncodedString()))])
        }
    }
}

extension JSONValue {
    /// The document on one line.
    ///
    /// A real reads back as the same real: it is written with a point or an exponent, in the fewest digits
    /// that are exact. JSON has no infinity; callers must not pass one.
    package var text: String { text(space: "") }

    /// Like ``text``, with a space after each comma and colon.
    package var spacedText: String { text(space: " ") }

    private func text(space: String) -> String {
        var text = ""
        write(to: &text, space)
        return text
    }

    private func write(to text: inout String, _ space: String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let number): text += String(number)
        case .real(let number): text += number.isFinite ? number.description : "null"
        case .string(let string): JSONValue.write(string, to: &text)
        case .array(let elements):
            JSONValue.write(elements, "[", "]", to: &text, space) { $0.write(to: &$1, space) }
        case .object(let members):
            JSONValue.write(members, "{", "}", to: &text, space) { member, text in
                JSONValue.write(member.name, to: &text)
                text += ":" + space
                member.value.write(to: &text, space)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ start: String, _ end: String, to text: inout String, _ space: String,
        _ body: (Element, inout String) -> Void
    ) {
        text += start
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," + space }
            body(element, &text)
        }
        text += end
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // DEL acts on terminals, and the two separators end lines in JavaScript.
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
