/// The values of a row by column name, complete or not, as `_journal_held.image` stores them.
package struct RowImage: Hashable, Sendable {
    /// The values by the names of their columns, as the table spells them.
    package var columns: [String: Value] = [:]

    /// Returns pairs of name and value in name order, each length-prefixed: see `docs/JOURNAL.md`.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in columns.sorted(by: { $0.key < $1.key }) {
            RowImage.append(Array(name.utf8)[...], to: &bytes)
            switch value {
            case .null: bytes.append(0)
            case .integer(let number): bytes.append(1); RowImage.append(UInt64(bitPattern: number), to: &bytes)
            case .real(let number): bytes.append(2); RowImage.append(number.bitPattern, to: &bytes)
            case .text(let text): bytes.append(3); RowImage.append(text, to: &bytes)
            case .blob(let blob): bytes.append(4); RowImage.append(blob, to: &bytes)
            }
        }
        return bytes
    }

    /// Creates an image without values.
    package init() {}

    /// - Returns: nil when the bytes are not in the format of ``encoded()``.
    package init?(encoded bytes: Bytes) {
        var reader = ByteReader(rest: bytes)
        while !reader.rest.isEmpty {
            guard let name = reader.bytes(), let tag = reader.byte() else { return nil }
            let value: Value?
            switch tag {
            case 0: value = .null
            case 1: value = reader.word().map { .integer(Int64(bitPattern: $0)) }
            case 2: value = reader.word().map { .real(Double(bitPattern: $0)) }
            case 3: value = reader.bytes().map { .text($0) }
            case 4: value = reader.bytes().map { .blob($0) }
            default: value = nil
            }
            guard let value else { return nil }
            columns[String(decoding: name, as: UTF8.self)] = value
        }
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ content: Bytes, to bytes: inout [UInt8]) {
        append(UInt64(content.count), to: &bytes)
        bytes.append(contentsOf: content)
    }
}

private struct ByteReader {
    var rest: Bytes

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func word() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func bytes() -> Bytes? {
        guard let word = word(), let count = Int(exactly: word), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
