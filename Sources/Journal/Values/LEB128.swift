/// Whole numbers in as few bytes as they need: 7 bits in each byte, the lowest first, and the highest bit set
/// in all bytes but the last (https://protobuf.dev/programming-guides/encoding/#varints).
package enum LEB128 {
    package enum Failure: Error {
        /// The number does not fit into 64 bits.
        case tooLarge
        /// The bytes end before the number does.
        case cutOff
    }

    static func append(_ number: UInt64, to bytes: inout some RangeReplaceableCollection<UInt8>) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Reads the number at `index`, and moves `index` to the byte after it.
    package static func read<Source: Collection<UInt8>>(
        _ bytes: Source, at index: inout Source.Index
    ) throws(Failure) -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while index < bytes.endIndex {
            let byte = bytes[index]
            bytes.formIndex(after: &index)
            guard shift < 63 || byte <= 1 else { throw .tooLarge }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw .cutOff
    }
}
