import Journal
import SwiftProtobuf
import TestSupport
import Testing

@testable import Sync

@Suite struct FrameTests {
    let limits = Limits.standard

    private func stream(
        changes: Int = 4, encoding: PayloadEncoding = .zstd
    ) throws -> (frames: [Frame], bytes: [UInt8]) {
        var generator = SplitMix(seed: 3)
        var vector = VersionVector()
        vector.advance(OriginID(high: 1, low: 2), to: 77)
        let frames = [
            Frame(body: .open(cluster: "main", origin: OriginID(high: 1, low: 2))),
            try Frame(ChangeBatch.random(changes: changes, using: &generator), encoding: encoding),
            try Frame(ChangeBatch.random(changes: changes, using: &generator), encoding: encoding),
            Frame(body: .end(vector: vector, more: true)),
        ]
        return (frames, try frames.flatMap { try $0.encoded() })
    }

    private func parse(_ pieces: [ArraySlice<UInt8>], limits: Limits = .standard) throws -> [Frame] {
        var parser = FrameParser(limits: limits)
        var frames: [Frame] = []
        for piece in pieces {
            parser.append(piece)
            while let frame = try parser.next() { frames.append(frame) }
        }
        try parser.finish()
        return frames
    }

    @Test("a stream of frames is the same for any cut into pieces")
    func everySplit() throws {
        let (frames, bytes) = try stream()
        for cut in 0...bytes.count {
            #expect(try parse([bytes[..<cut], bytes[cut...]]) == frames)
        }
        #expect(try parse(bytes.indices.map { bytes[$0...$0] }) == frames)
    }

    @Test("a stream that is cut off at any byte is truncated")
    func everyPrefix() throws {
        let (_, bytes) = try stream()
        for length in 0..<bytes.count {
            do {
                _ = try parse([bytes[..<length]])
                Issue.record("\(length) bytes were taken for the whole stream")
            } catch {
                #expect((error as? WireError)?.code == .truncated)
            }
        }
    }

    @Test("every flipped bit of a frame is found")
    func everyBit() throws {
        let (_, bytes) = try stream(changes: 1)
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: WireError.self) { try parse([flipped[...]]) }
        }
    }

    @Test("bytes after the last frame are refused")
    func trailingJunk() throws {
        let (_, bytes) = try stream()
        #expect(throws: WireError.self) { try parse([(bytes + [0])[...]]) }
        #expect(throws: WireError.self) { try parse([(bytes + bytes)[...]]) }
    }

    @Test("a page of HTML is refused at its first byte")
    func html() throws {
        var parser = FrameParser(limits: limits)
        parser.append(Array("<!doctype html>".utf8))
        #expect(throws: WireError.self) { try parser.next() }
        // All further bytes are refused, too.
        parser.append(try stream().bytes)
        #expect(throws: WireError.self) { try parser.next() }
    }

    @Test("a declared size beyond the limit is refused before its bytes arrive")
    func declaredSizes() throws {
        for prefix in [[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            var parser = FrameParser(limits: limits)
            parser.append(Array("TDM1".utf8) + prefix)
            do {
                _ = try parser.next()
                Issue.record("a frame of 4 GiB was accepted")
            } catch {
                #expect(error.code == .tooLarge)
            }
        }
    }

    @Test("an unknown wire version is reported as such", arguments: [0, 1, 99] as [UInt32])
    func wireVersions(version: UInt32) throws {
        var header = Tandem_V1_FrameHeader()
        header.wireVersion = version
        header.end = .init()
        let body: [UInt8] = try header.serializedBytes()
        var bytes = Array("TDM1".utf8) + [0, 0, 0, UInt8(body.count), 0, 0, 0, 0] + body
        let checksum = bytes.withUnsafeBytes(CRC32.of)
        bytes += withUnsafeBytes(of: checksum.bigEndian) { Array($0) }
        do {
            _ = try parse([bytes[...]])
            Issue.record("version \(version) was accepted")
        } catch {
            #expect((error as? WireError)?.code == .unsupportedVersion)
        }
    }

    @Test("a frame returns its batch in every encoding", arguments: PayloadEncoding.allCases)
    func encodings(encoding: PayloadEncoding) throws {
        var generator = SplitMix(seed: 9)
        let batch = ChangeBatch.random(changes: 500, using: &generator)
        let frame = try Frame(batch, encoding: encoding)
        let arrived = try parse([frame.encoded()[...], stream().bytes[...]])[0]
        #expect(try arrived.batch(limits: limits) == batch)
    }

    @Test("a frame whose changes differ from its header is refused")
    func covers() throws {
        var frame = try stream().frames[1]
        guard case .batch(var covers, let encoding, let rawSize) = frame.body else { return }
        covers[0].last += 1
        frame.body = .batch(covers: covers, encoding: encoding, rawSize: rawSize)
        #expect(throws: WireError.self) { try frame.batch(limits: limits) }
        covers[0].last -= 1
        for wrong in [rawSize - 1, rawSize + 1] {
            frame.body = .batch(covers: covers, encoding: encoding, rawSize: wrong)
            #expect(throws: WireError.self) { try frame.batch(limits: limits) }
        }
    }

    @Test("a frame is skipped by its ranges alone")
    func known() throws {
        let frame = try stream().frames[1]
        guard case .batch(let covers, _, _) = frame.body else { return }
        var vector = VersionVector()
        #expect(!frame.isKnown(to: vector))
        for cover in covers { vector.advance(cover.origin, to: cover.last) }
        var damaged = frame
        damaged.payload = [1, 2, 3]
        #expect(damaged.isKnown(to: vector))
    }

    @Test("a header that is none, or that has too many ranges, is refused, and so is the rest of the stream")
    func headers() throws {
        var garbage = Frame.magic
        // Four bytes of header, no payload.
        garbage += [0, 0, 0, 4, 0, 0, 0, 0] + [0xFF, 0xFF, 0xFF, 0xFF]
        let checksum = garbage.withUnsafeBytes(CRC32.of)
        garbage += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) }
        var parser = FrameParser(limits: limits)
        parser.append(garbage)
        #expect(throws: WireError.self) { try parser.next() }
        let end = #expect(throws: WireError.self) { try parser.finish() }
        #expect(end?.code == .malformed)

        var generator = SplitMix(seed: 4)
        let frame = try Frame(ChangeBatch.random(changes: 30, using: &generator), encoding: .zstd)
        guard case .batch(let covers, _, _) = frame.body, covers.count > 1 else {
            Issue.record("no frame of several ranges")
            return
        }
        var small = limits
        small.receivedChangesPerBatch = covers.count - 1
        let many = #expect(throws: WireError.self) { try parse([frame.encoded()[...]], limits: small) }
        #expect(many?.code == .tooLarge)
    }
}
