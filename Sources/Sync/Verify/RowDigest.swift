import Journal

/// SHA-256 over rows in their canonical form, which is the same on every machine that holds the same values.
///
/// Each value is a tag byte (0 NULL, 1 INTEGER, 2 REAL, 3 TEXT, 4 BLOB) and its content: numbers in 8 bytes,
/// big-endian; text and blobs after their length in the same form. -0.0 counts as 0.0 (see ``Value``).
struct RowDigest: ~Copyable {
    private var hash = SHA256()
    private var buffer: [UInt8] = []
    private(set) var rows = 0

    mutating func add(_ row: some Sequence<Value>) {
        for value in row {
            switch value {
            case .null:
                buffer.append(0)
            case .integer(let number):
                append(1, UInt64(bitPattern: number))
            case .real(let number):
                append(2, (number == 0 ? 0 : number).bitPattern)
            case .text(let bytes):
                append(3, UInt64(bytes.count))
                buffer += bytes
            case .blob(let bytes):
                append(4, UInt64(bytes.count))
                buffer += bytes
            }
        }
        rows += 1
        if buffer.count >= 1 << 16 { flush() }
    }

    mutating func finish() -> [UInt8] {
        flush()
        return hash.finish()
    }

    private mutating func append(_ tag: UInt8, _ number: UInt64) {
        buffer.append(tag)
        withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
    }

    private mutating func flush() {
        hash.update(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
