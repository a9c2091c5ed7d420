/// How the text of a key column is compared: by one of SQLite's built-in collations, or by case folding. The raw
/// values are the names of collations on Tandem's connections.
public enum KeyCollation: String, Sendable, CaseIterable {
    /// Compares the bytes.
    case binary = "BINARY"
    /// Ignores the case of the 26 ASCII letters, up to the first NUL.
    case nocase = "NOCASE"
    /// Ignores spaces at the end.
    case rtrim = "RTRIM"
    /// Ignores the case of all letters, by the full case folding of Unicode, and then compares code points. It is
    /// no collation of SQLite: a program's own collation may be mapped to it (`syncd init --collation`).
    case unicode = "TANDEM_UNICODE"
}

/// The canonical bytes of a primary key: equal exactly when SQLite considers two keys the same row.
///
/// Each value is a tag byte and its content. Text and blob content follows its length, so that the boundaries
/// between values are unambiguous. Text is folded in the way in which the column's collation compares it. A
/// REAL that equals an integer is written as that integer, because SQLite's indexes compare numbers of both
/// classes by value (https://sqlite.org/datatype3.html, section 4).
public struct Key: Hashable, Sendable {
    /// The bytes by which keys are compared, ordered and stored.
    public let bytes: [UInt8]

    /// - Parameter bytes: The ``bytes`` of another key; they are not checked.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameters:
    ///   - values: The values of the key, in its order.
    ///   - collations: One for each value; missing ones count as BINARY.
    public init(_ values: [Value], collations: [KeyCollation] = []) { self.init(values[...], collations: collations) }

    /// - Parameters:
    ///   - values: The values of the key, in its order.
    ///   - collations: One for each value; missing ones count as BINARY.
    public init(_ values: ArraySlice<Value>, collations: [KeyCollation] = []) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        Key.append(values, collations: collations, to: &bytes)
        self.bytes = bytes
    }

    /// Appends the canonical bytes of a key with these values.
    public static func append(_ values: ArraySlice<Value>, collations: [KeyCollation], to bytes: inout [UInt8]) {
        for (index, value) in values.enumerated() {
            append(value, collation: index < collations.count ? collations[index] : .binary, to: &bytes)
        }
    }

    public func hash(into hasher: inout Hasher) {
        // Hashes all bytes at once; hashing the array would feed the hasher one byte at a time.
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    static func append(_ value: Value, collation: KeyCollation, to bytes: inout [UInt8]) {
        switch value {
        case .null:
            bytes.append(0)
        case .integer(let number):
            bytes.append(1)
            append(UInt64(bitPattern: number), to: &bytes)
        case .real(let number):
            if let integer = Int64(exactly: number) {
                append(.integer(integer), collation: collation, to: &bytes)
            } else {
                bytes.append(2)
                append(number.bitPattern, to: &bytes)
            }
        case .text(let text):
            text.withUnsafeBytes { append(text: $0, collation: collation, to: &bytes) }
        case .blob(let blob):
            bytes.append(4)
            append(UInt64(blob.count), to: &bytes)
            bytes.append(contentsOf: blob)
        }
    }

    static func append(text: UnsafeRawBufferPointer, collation: KeyCollation, to bytes: inout [UInt8]) {
        bytes.append(3)
        switch collation {
        case .binary:
            append(UInt64(text.count), to: &bytes)
            bytes.append(contentsOf: text)
        case .nocase:
            append(UInt64(text.count), to: &bytes)
            // NOCASE compares the text before the first NUL, then the lengths.
            bytes.append(
                contentsOf: text.prefix { $0 != 0 }.lazy.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
        case .rtrim:
            let trimmed = text[..<((text.lastIndex { $0 != 0x20 }).map { $0 + 1 } ?? text.startIndex)]
            append(UInt64(trimmed.count), to: &bytes)
            bytes.append(contentsOf: trimmed)
        case .unicode:
            let folded = CaseFolding.folded(text)
            append(UInt64(folded.count), to: &bytes)
            bytes.append(contentsOf: folded)
        }
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
