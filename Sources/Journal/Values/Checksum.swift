/// FNV-1a with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). It detects accidents, not attacks.
/// Unlike Swift's hashes, it is the same in every process.
package enum Checksum {
    static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    static func append(_ byte: UInt8, to hash: inout UInt64) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    /// The checksum of `bytes`.
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        // Without a generic call for each byte where they are in one piece.
        bytes.withContiguousStorageIfAvailable { $0.reduce(into: start) { append($1, to: &$0) } }
            ?? bytes.reduce(into: start) { append($1, to: &$0) }
    }

    /// The checksum in base 36, for names and notes in the schema.
    package static func text(_ bytes: some Sequence<UInt8>) -> String { String(fnv1a(bytes), radix: 36) }
}
