import Journal

// Row values in `--json` and in text. docs/CLI.md describes both.

extension JSONValue {
    /// An object with these members, in this order.
    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// The value, or null.
    static func optional<T>(_ value: T?, _ make: (T) -> JSONValue) -> JSONValue { value.map(make) ?? .null }

    /// `{"column": value, …}`
    static func columns(_ columns: [(name: String, value: Value)]) -> JSONValue {
        .object(columns.map { Member(name: $0.name, value: JSONValue($0.value)) })
    }

    /// `{"origin": version, …}`, origins in hexadecimal.
    static func vector(_ vector: VersionVector) -> JSONValue {
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
