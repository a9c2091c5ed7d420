import Journal
import Sync

enum FrameTarget {
    /// Parses an input. Its first byte chooses: a stream as it is, in pieces; or a header and a payload that
    /// get right sizes and a right checksum, since no mutation finds a checksum.
    static func run(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        if choice & 1 == 0 {
            parse(rest, pieces: Int(choice >> 1) + 1)
        } else if let stream = FrameTarget.framed(rest) {
            parse(stream, pieces: 1 << 20)
        }
    }

    /// Makes a frame of a header, whose size is in the first two bytes, and a payload.
    static func framed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let size = min(Int(bytes[0]) << 8 | Int(bytes[1]), bytes.count - 2)
        var frame = Array("TDM1".utf8)
        frame += big(size) + big(bytes.count - 2 - size) + bytes.dropFirst(2)
        return frame + big(Int(crc32(frame)))
    }

    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// CRC-32 as in zlib, bit by bit.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }

    private static func parse(_ bytes: [UInt8], pieces size: Int) {
        var parser = FrameParser(limits: BatchTarget.limits)
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            do {
                while let frame = try parser.next() { check(frame) }
            } catch {
                // A refused stream stays refused.
                precondition((try? parser.next()) == nil, "a stream that was refused goes on")
                return
            }
        }
        try? parser.finish()
    }

    private static func check(_ frame: Frame) {
        guard let encoded = try? frame.encoded() else { preconditionFailure("an accepted frame cannot be written") }
        var parser = FrameParser(limits: .standard)
        parser.append(encoded)
        precondition((try? parser.next()) == frame, "a frame that was written again is another one")
        _ = frame.isKnown(to: VersionVector())
        if let batch = try? frame.batch(limits: BatchTarget.limits) { BatchTarget.check(batch) }
    }
}
