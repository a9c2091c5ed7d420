import TestSupport
import Testing

@testable import Sync

@Suite struct CompressionTests {
    let limits = Limits.standard
    private static let compressing: [PayloadEncoding] = [.gzip, .zstd]

    @Test(
        "compressed bytes decompress to the original",
        arguments: PayloadEncoding.allCases, [0, 1, 1_000, 131_072, 300_000])
    func roundTrip(encoding: PayloadEncoding, size: Int) throws {
        var generator = SplitMix(seed: UInt64(size))
        let bytes = (0..<size).map { _ in UInt8.random(in: 0...40, using: &generator) }
        let packed = try encoding.compress(bytes)
        #expect(try encoding.decompress(packed, limit: size, limits: limits) == bytes)
    }

    @Test("a bomb is stopped at the limit", arguments: compressing)
    func bomb(encoding: PayloadEncoding) throws {
        let bomb = try encoding.compress([UInt8](repeating: 0, count: 16 << 20))
        #expect(bomb.count < 100_000)
        do {
            _ = try encoding.decompress(bomb, limit: 1 << 20, limits: limits)
            Issue.record("the bomb went off")
        } catch {
            #expect(error.code == .tooLarge)
        }
    }

    @Test("bytes after the end are refused, and so is a second member", arguments: compressing)
    func trailing(encoding: PayloadEncoding) throws {
        let packed = try encoding.compress(Array("some changes".utf8))
        for tail in [[0], packed] {
            #expect(throws: WireError.self) { try encoding.decompress(packed + tail, limit: 1_000, limits: limits) }
        }
    }

    @Test("every cut and every kind of garbage is refused", arguments: compressing)
    func cuts(encoding: PayloadEncoding) throws {
        let packed = try encoding.compress((0..<300).map { UInt8($0 % 251) })
        for length in 0..<packed.count {
            #expect(throws: WireError.self) {
                try encoding.decompress(Array(packed[..<length]), limit: 1_000, limits: limits)
            }
        }
        #expect(throws: WireError.self) { try encoding.decompress(Array("<html>".utf8), limit: 1_000, limits: limits) }
    }

    @Test("a zstd frame that wants more memory than allowed is refused")
    func window() throws {
        // RFC 8878, 3.1.1: magic, no content size, window descriptor 2^31, one empty last raw block.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, (31 - 10) << 3, 0x01, 0x00, 0x00]
        #expect(throws: WireError.self) {
            try Zstd.decompress(frame, DecompressedOutput(limit: 1_000), windowLog: limits.zstdWindowLog)
        }
        let small: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, (20 - 10) << 3, 0x01, 0x00, 0x00]
        #expect(try Zstd.decompress(small, DecompressedOutput(limit: 1_000), windowLog: limits.zstdWindowLog).isEmpty)
    }

    @Test("the checksum equals that of zlib and gzip")
    func checksum() {
        #expect(Array("123456789".utf8).withUnsafeBytes(CRC32.of) == 0xCBF4_3926)
    }

    @Test("an uncompressed payload has the same limit")
    func plain() {
        let error = #expect(throws: WireError.self) {
            try PayloadEncoding.none.decompress([1, 2], limit: 1, limits: limits)
        }
        #expect(error?.code == .tooLarge)
    }
}
