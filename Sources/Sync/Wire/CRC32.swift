import CCompression

/// The CRC-32 of zlib, gzip and Ethernet (polynomial 0xEDB88320).
enum CRC32 {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
    }
}
