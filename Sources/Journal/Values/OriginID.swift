/// The id of a replica as the author of changes: 16 random bytes, ordered as unsigned big-endian numbers.
///
/// The order breaks ties between equal stamps, so it must be the same on every machine.
public struct OriginID: Hashable, Comparable, Sendable {
    /// Bytes 0 to 7 and bytes 8 to 15, big-endian.
    let high: UInt64
    let low: UInt64

    /// - Parameters:
    ///   - high: Bytes 0 to 7, big-endian.
    ///   - low: Bytes 8 to 15, big-endian. ``init(bytes:)`` refuses an id whose bits are all 0 or all 1.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil unless there are 16 bytes that are neither all 0x00 nor all 0xFF. Only a fault produces
    ///   those values.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        // Without a generic call for each byte where they are in one piece: journals name origins often.
        let (high, low) =
            bytes.withContiguousStorageIfAvailable(OriginID.words)
            ?? Array(bytes).withUnsafeBufferPointer(OriginID.words)
        guard (high, low) != (0, 0), (high, low) != (.max, .max) else { return nil }
        self.init(high: high, low: low)
    }

    private static func words(_ bytes: UnsafeBufferPointer<UInt8>) -> (high: UInt64, low: UInt64) {
        func word(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(bytes.prefix(8)), word(bytes.suffix(8)))
    }

    /// Creates an id from the 32 hexadecimal digits of a ``description``, in upper or lower case; nil for any
    /// other text.
    public init?(hex: String) {
        let digits = hex.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count == 32, !digits.contains(nil) else { return nil }
        let nibbles = digits.compactMap { $0 }
        self.init(bytes: stride(from: 0, to: 32, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] })
    }

    /// The 16 bytes as they are stored and sent.
    public var bytes: [UInt8] {
        (0..<16).map { index in
            let word = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: word >> (UInt64(7 - index % 8) * 8))
        }
    }

    /// Compares the bytes from the first to the last.
    public static func < (a: OriginID, b: OriginID) -> Bool {
        (a.high, a.low) < (b.high, b.low)
    }
}

extension OriginID: CustomStringConvertible {
    public var description: String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// The first eight digits, for display. They may not be unique.
    public var short: String { String(description.prefix(8)) }
}
