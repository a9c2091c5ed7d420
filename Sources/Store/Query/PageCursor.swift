import Journal

/// The place after one row in the order of a query, for the next ``Page``.
///
/// Its text has only characters that a URL needs not escape, so it can be a parameter of a request:
/// `GET /people?after=i30.t426f62.i7`. It contains the values of the row by which the query orders, readable
/// for everyone. A text that a client has changed gives another place, and no access to other rows than those of
/// the query.
public struct PageCursor: Hashable, Sendable, LosslessStringConvertible, Codable {
    /// The stored values of the terms of the order, ending with the primary key.
    let values: [Value]

    init(_ values: [Value]) { self.values = values }

    /// Reads the text of a cursor; nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: ".", omittingEmptySubsequences: false)
        let values = parts.compactMap { PageCursor.value($0) }
        guard values.count == parts.count else { return nil }
        self.values = values
    }

    /// The text, which ``init(_:)`` reads.
    public var description: String { values.map(PageCursor.text).joined(separator: ".") }

    /// Reads the text.
    ///
    /// - Throws: `DecodingError` for any other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = PageCursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The text is not a place in a query")
        }
        self = cursor
    }

    /// Writes the text.
    ///
    /// - Throws: What `encoder` throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    // MARK: - The text of one value: a letter for its storage class, then digits

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "n"
        case .integer(let number): "i\(number)"
        case .real(let number): "r\(String(number.bitPattern, radix: 16))"
        case .text(let bytes): "t\(hexadecimal(bytes))"
        case .blob(let bytes): "b\(hexadecimal(bytes))"
        }
    }

    private static func value(_ text: Substring) -> Value? {
        let digits = text.dropFirst()
        return switch text.first {
        case "n": digits.isEmpty ? .null : nil
        case "i": Int64(digits).map { .integer($0) }
        // SQLite stores no NaN.
        case "r": UInt64(digits, radix: 16).map { Double(bitPattern: $0) }.flatMap { $0.isNaN ? nil : .real($0) }
        case "t": bytes(digits).map { .text($0) }
        case "b": bytes(digits).map { .blob($0) }
        default: nil
        }
    }

    private static func hexadecimal(_ bytes: Bytes) -> String {
        var text = ""
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text += String(byte >> 4, radix: 16)
            text += String(byte & 15, radix: 16)
        }
        return text
    }

    private static func bytes(_ digits: Substring) -> Bytes? {
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return Bytes(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
