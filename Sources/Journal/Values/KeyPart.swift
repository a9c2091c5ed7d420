/// A part of all keys of a table, so that a comparison of all rows needs memory for a part of them only.
struct KeyPart {
    private let index: UInt64
    private let count: UInt64

    /// Divides the keys of a table.
    ///
    /// - Parameters:
    ///   - keys: About how many there are.
    ///   - most: About how many a part may have, 1 or more.
    static func parts(of keys: Int64, atMost most: Int64) -> [KeyPart] {
        let count = UInt64(max(1, (keys + most - 1) / most))
        return (0..<count).map { KeyPart(index: $0, count: count) }
    }

    func contains(_ key: Key) -> Bool { count == 1 || KeyPart.hash(key.bytes) % count == index }

    /// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), with the bits mixed, because parts are told by a remainder.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash ^ hash >> 29
    }
}
