import Foundation
import Journal

// Row values in `--json` and in text. docs/CLI.md describes both.

extension JSON {
    /// Writes an integer, a real or a text as itself, and a blob as `{"blob": "<base64>"}`.
    ///
    /// Two values that JSON cannot express are objects, too: text that is not UTF-8 is
    /// `{"text": "<base64>"}`, and an infinite real is `{"real": "inf"}` or `{"real": "-inf"}`.
    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number) where number.isFinite: self = .real(number)
        case .real(let number): self = .object(["real": .string(number < 0 ? "-inf" : "inf")])
        case .text(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                self = .string(text)
            } else {
                self = .object(["text": .string(Data(bytes).base64EncodedString())])
            }
        case .blob(let bytes): self = .object(["blob": .string(Data(bytes).base64EncodedString())])
        }
    }

    /// `{"column": value, …}`
    static func columns(_ columns: [(name: String, value: Value)]) -> JSON {
        .object(columns.map { Member(name: $0.name, value: JSON($0.value)) })
    }

    /// `{"origin": version, …}`, origins in hexadecimal.
    static func vector(_ vector: VersionVector) -> JSON {
        .object(vector.entries.map { Member(name: $0.origin.description, value: .integer($0.version)) })
    }
}

extension Value {
    /// The value as readable text, on one line of at most about 60 characters: text in quotes, and blobs as
    /// their first 8 bytes and their length.
    var shown: String {
        switch self {
        case .null: return "NULL"
        case .integer(let number): return String(number)
        case .real(let number): return number.description
        case .text(let bytes):
            let text = String(decoding: bytes.prefix(240), as: UTF8.self)
            let shortened = bytes.count > 240 || text.count > 60 ? text.prefix(57) + "…" : Substring(text)
            return "'" + ConsoleText.printable(shortened) + "'"
        case .blob(let bytes):
            let digits = bytes.prefix(8).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            return bytes.count > 8 ? "x'\(digits)…' (\(bytes.count) bytes)" : "x'\(digits)'"
        }
    }
}
