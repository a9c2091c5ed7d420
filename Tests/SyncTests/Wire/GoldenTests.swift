import Foundation
import Journal
import Testing

@testable import Sync

/// The bytes of version 3 as released, and those of version 2 that archives keep. A change that fails here breaks every peer in the field: raise the
/// wire version.
@Suite struct GoldenTests {
    private let limits = Limits.standard
    private let here = OriginID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    private let there = OriginID(high: 0xA0A1_A2A3_A4A5_A6A7, low: 0xA8A9_AAAB_ACAD_AEAF)

    private var vector: VersionVector {
        VersionVector([.init(origin: here, version: 5), .init(origin: there, version: 1 << 40)])
    }

    /// A batch with every field of the format and every kind of value.
    private var batch: ChangeBatch {
        var batch = batchOfVersion2
        batch.changes[1].migration = MigrationRank(name: "prices", stamp: Stamp(rawValue: 7), level: 2)
        return batch
    }

    private var batchOfVersion2: ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = [
            TableShape(table: "person", columns: ["id", "name", "score", "photo"], keyCount: 1),
            TableShape(table: "größe \"x\"", columns: ["a", "b"], keyCount: 2),
        ]
        batch.values = [
            .integer(1), .text("Zoë\u{0}"), .real(-0.0), .blob([0, 255]),
            .integer(.min), .null,
            .text([0xC3, 0x28]), .real(1e300),
            .integer(.max), .text(""), .blob([]), .null,
        ]
        func change(
            _ shape: Int, _ operation: Journal.Operation, _ life: Int64, _ stamp: Int64, _ mask: [UInt64],
            _ values: Range<Int>, _ ends: Bool, isMinted: Bool = false
        ) -> Change {
            Change(
                shape: shape, operation: operation, life: life, stamp: Stamp(rawValue: stamp),
                mask: ColumnMask(words: mask), values: values, endsTransaction: ends, isMinted: isMinted)
        }
        batch.changes = [
            change(0, .insert, 1, 1_700_000_000_000 << 16, [0b1110], 0..<4, false),
            change(0, .update, 3, 1_700_000_000_000 << 16 + 1, [0b0010], 4..<6, true),
            change(1, .delete, 2, 1_600_000_000_000 << 16, [], 6..<8, true),
            change(0, .insert, 5, 1_700_000_000_001 << 16, [0b1110], 8..<12, false, isMinted: true),
        ]
        let known = VersionVector([.init(origin: there, version: 7)])
        batch.runs = [
            Run(origin: here, firstVersion: 5, changes: 0..<2, known: known),
            Run(origin: there, firstVersion: 8, changes: 2..<3, known: VersionVector()),
            Run(
                origin: here, firstVersion: 7, changes: 3..<4,
                known: VersionVector([.init(origin: there, version: 8)])),
        ]
        return batch
    }

    private func golden(_ name: String, version: Int = 3) throws -> [UInt8] {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/v\(version)/\(name).hex")
        let text = try String(contentsOf: url, encoding: .utf8).filter { !$0.isWhitespace }
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func check(_ name: String, _ bytes: [UInt8]) throws {
        let expected = try golden(name)
        #expect(
            bytes == expected, "\(name): \(bytes.map { String(format: "%02x", $0) }.joined())")
    }

    @Test("a batch of version 3 is written and read as released")
    func batches() throws {
        try check("batch", BatchCodec.encode(batch))
        let decoded = try BatchCodec.decode(golden("batch"), limits: limits)
        #expect(decoded == batch)
        #expect(decoded.valueBits == batch.valueBits)
    }

    @Test("a stream of version 3 is written and read as released")
    func streams() throws {
        let frames = [
            Frame(body: .open(cluster: "main", origin: here)),
            try Frame(batch, encoding: .none),
            Frame(body: .end(vector: vector, more: true)),
        ]
        try check("stream", frames.flatMap { try $0.encoded() })
        var parser = FrameParser(limits: limits)
        parser.append(try golden("stream"))
        for frame in frames { #expect(try parser.next() == frame) }
        try parser.finish()
    }

    @Test("what archives keep of version 2 is read")
    func earlierFrames() throws {
        #expect(try BatchCodec.decode(golden("batch", version: 2), limits: limits) == batchOfVersion2)
        var parser = FrameParser(limits: limits)
        parser.append(try golden("stream", version: 2))
        #expect(try parser.next() == Frame(body: .open(cluster: "main", origin: here)))
        #expect(try parser.next() == Frame(batchOfVersion2, encoding: .none))
        #expect(try parser.next() == Frame(body: .end(vector: vector, more: true)))
        try parser.finish()
        // A peer that speaks it does not know what it would have to keep.
        #expect(throws: WireError.self) { try Hello(decoding: golden("hello", version: 2), limits: limits) }
    }

    @Test("messages of version 3 are written and read as released")
    func messages() throws {
        let hello = Hello(
            cluster: "main", origin: here, formatVersion: 1, vector: vector, wallMilliseconds: 1_700_000_000_000)
        try check("hello", hello.encoded())
        #expect(try Hello(decoding: golden("hello"), limits: limits) == hello)
        let pull = PullRequest(cluster: "main", origin: here, have: vector, waitSeconds: 20, maxBytes: 1_000_000)
        try check("pull", pull.encoded())
        #expect(try PullRequest(decoding: golden("pull"), limits: limits) == pull)
        let reply = PushReply(vector: vector, applied: 3)
        try check("push-reply", reply.encoded())
        #expect(try PushReply(decoding: golden("push-reply"), limits: limits) == reply)
        let shape = TableShape(table: "person", columns: ["id", "name"], keyCount: 1)
        let digests = DigestRequest(
            cluster: "main", question: .digests(shape: shape, after: [.integer(7)], rowsPerDigest: 1_024))
        try check("digest-request", digests.encoded())
        #expect(try DigestRequest(decoding: golden("digest-request"), limits: limits) == digests)
        var answer = DigestReply(vector: vector)
        answer.tables = [shape]
        answer.digests = [RangeDigest(last: [.integer(9)], rows: 2, sha256: [UInt8](repeating: 0xAB, count: 32))]
        answer.rows = [[.integer(8), .text("x")], [.integer(9), .null]]
        answer.more = true
        try check("digest-reply", answer.encoded())
        #expect(try DigestReply(decoding: golden("digest-reply"), limits: limits) == answer)
    }

    @Test("the digest of rows is the documented one")
    func digest() {
        var digest = RowDigest()
        digest.add([.integer(1), .real(-0.0), .text("a"), .blob([]), .null])
        // printf '\x01\0\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x01a\x04\0\0\0\0\0\0\0\0\0' |
        // sha256sum
        let hex = digest.finish().map { String(format: "%02x", $0) }.joined()
        #expect(hex == "8e04dbd00e61cbd0ec5696aa25cfa3b251b181530df7a76bb08c6d171a140a35")
    }

    @Test("compressed payloads of other programs are read", arguments: ["zstd", "gzip"])
    func compressed(name: String) throws {
        let encoding: PayloadEncoding = name == "zstd" ? .zstd : .gzip
        let bytes = try encoding.decompress(
            golden("batch.\(name)", version: 2), limit: limits.rawBatchBytes, limits: limits)
        #expect(try BatchCodec.decode(bytes, limits: limits) == batchOfVersion2)
    }
}
