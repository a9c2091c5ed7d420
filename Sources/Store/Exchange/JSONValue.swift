import Foundation
import Journal

/// A JSON value that keeps what SQLite stores: every Int64, every double to its last bit, and 1 distinct from
/// 1.0.
///
/// Foundation's JSON reads 1.0 as 1 and an integer of 19 digits as a double, and has no blobs. Here a number
/// without fraction and exponent is an integer, and a REAL is always written with one of them.
enum JSONValue: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Hashable {
        let name: String
        let value: JSONValue
    }

    // MARK: - Values of columns

    /// Values without a JSON form become an object with one member: `{"blob": "<base64>"}`,
    /// `{"text": "<base64>"}` for a text that is not valid UTF-8, `{"real": "inf"}`.
    init(_ value: Value) {
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

    /// The value of a column.
    ///
    /// - Throws: ``ColumnMismatch`` for arrays and other objects.
    var columnValue: Value {
        get throws {
            switch self {
            case .null: return .null
            case .bool(let value): return .integer(value ? 1 : 0)
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .string(let text): return .text(text)
            case .object(let members):
                guard members.count == 1, case .string(let text) = members[0].value else { break }
                switch members[0].name {
                case "blob": if let data = Data(base64Encoded: text) { return .blob(Bytes(data)) }
                case "text": if let data = Data(base64Encoded: text) { return .text(Bytes(data)) }
                case "real": if let number = Double(text), !number.isNaN { return .real(number) }
                default: break
                }
            case .array: break
            }
            throw ColumnMismatch("a JSON array or object stands where the value of one column is needed")
        }
    }

    // MARK: - Writing

    var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let number): text += String(number)
        // Swift prints the shortest digits that read back as the same bits, with a point or an exponent.
        case .real(let number): text += "\(number)"
        case .string(let string): JSONValue.write(string, to: &text)
        case .array(let elements): JSONValue.write(elements, "[", "]", to: &text) { $0.write(to: &$1) }
        case .object(let members):
            JSONValue.write(members, "{", "}", to: &text) { member, text in
                JSONValue.write(member.name, to: &text)
                text += ": "
                member.value.write(to: &text)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ start: String, _ end: String, to text: inout String,
        _ body: (Element, inout String) -> Void
    ) {
        text += start
        for (index, element) in elements.enumerated() {
            if index > 0 { text += ", " }
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
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
