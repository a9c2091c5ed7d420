import Journal
import SwiftProtobuf
import Testing

@testable import Sync

@Suite struct MessageTests {
    let limits = Limits.standard
    private let origin = OriginID(high: 7, low: 8)

    private var vector: VersionVector {
        VersionVector([.init(origin: origin, version: 5), .init(origin: OriginID(high: 1, low: 1), version: 9)])
    }

    private func survives<M: WireMessage & Equatable>(_ message: M) throws {
        let bytes = try message.encoded()
        #expect(try M(decoding: bytes, limits: limits) == message)
        for length in 0..<bytes.count {
            if let shorter = try? M(decoding: Array(bytes[..<length]), limits: limits) { #expect(shorter != message) }
        }
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            _ = try? M(decoding: flipped, limits: limits)
        }
    }

    @Test("messages survive the wire, and their damaged forms do not trap")
    func roundTrips() throws {
        try survives(
            Hello(
                cluster: "main", origin: origin, formatVersion: 1, vector: vector,
                wallMilliseconds: 1_700_000_000_000))
        try survives(PullRequest(cluster: "größer", origin: origin, have: vector, waitSeconds: 20, maxBytes: 1_000))
        try survives(PushReply(vector: vector, applied: 3))
    }

    @Test("acknowledgements and the horizon survive the wire, and their damaged forms do not trap")
    func acknowledgements() throws {
        var hello = Hello(
            cluster: "main", origin: origin, formatVersion: 5, vector: vector, wallMilliseconds: 1_700_000_000_000)
        let other = OriginID(high: 1, low: 1)
        hello.acknowledgements = [
            Acknowledgement(origin: origin, vector: vector, milliseconds: 1_700_000_000_000, witness: origin),
            Acknowledgement(
                origin: other, vector: VersionVector([.init(origin: other, version: 9)]), milliseconds: 5,
                witness: origin),
        ]
        hello.horizon = VersionVector([.init(origin: other, version: 3)])
        hello.refused = VersionVector([.init(origin: origin, version: 2)])
        hello.finished = [other, OriginID(high: 3, low: 3)]
        try survives(hello)
    }

    @Test("an acknowledgement of other origins than the vector, of impossible versions, or one too many is refused")
    func badAcknowledgements() throws {
        var hello = Hello(
            cluster: "main", origin: origin, formatVersion: 5, vector: vector, wallMilliseconds: 1)
        hello.acknowledgements = [
            Acknowledgement(origin: origin, vector: vector, milliseconds: 1, witness: origin)
        ]
        let bytes = try hello.encoded()
        for versions: [Int64] in [[1], [1, 2, 3], [-1, 1], [1, .max]] {
            var message = try Tandem_V1_Hello(serializedBytes: bytes)
            message.acknowledgements[0].versions = versions
            #expect(throws: WireError.self) { try Hello(decoding: message.serializedBytes(), limits: limits) }
        }
        var small = limits
        small.acknowledgementsPerHello = 0
        #expect(throws: WireError.self) { try Hello(decoding: bytes, limits: small) }
    }

    @Test("the wishes of a pull are clamped to the limits")
    func clamped() throws {
        let greedy = PullRequest(cluster: "c", origin: origin, have: vector, waitSeconds: 1 << 30, maxBytes: .max)
        let request = try PullRequest(decoding: greedy.encoded(), limits: limits)
        #expect(request.waitSeconds == limits.longPollSeconds)
        #expect(request.maxBytes == limits.bytesPerPull)
    }

    @Test("a vector out of order, with duplicates, below 1 or too long is refused")
    func vectors() throws {
        func entry(_ high: UInt64, _ version: Int64) -> Tandem_V1_Vector.Entry {
            var entry = Tandem_V1_Vector.Entry()
            entry.origin = wireData(OriginID(high: high, low: 0).bytes)
            entry.version = version
            return entry
        }
        let bad = [
            [entry(2, 1), entry(1, 1)], [entry(1, 1), entry(1, 2)], [entry(1, 0)], [entry(1, -1)], [entry(1, .max)],
            [entry(0, 1)],
        ]
        for entries in bad {
            var message = Tandem_V1_Vector()
            message.entries = entries
            #expect(throws: WireError.self) { try VersionVector(message, limits: limits) }
        }
        var small = limits
        small.originsPerVector = 1
        #expect(throws: WireError.self) { try VersionVector(Tandem_V1_Vector(vector), limits: small) }
    }

    @Test("another wire version is reported as such")
    func versions() throws {
        var message = Tandem_V1_Hello()
        message.wireVersion = 1
        do {
            _ = try Hello(decoding: message.serializedBytes(), limits: limits)
            Issue.record("version 1 was accepted")
        } catch let error as WireError {
            #expect(SyncError(error).code == .unsupportedVersion)
            #expect(SyncError(error).hint?.isEmpty == false)
        }
    }

    @Test("an answer of digests beyond the limits, or with invalid digests, is refused")
    func digests() throws {
        var reply = DigestReply(vector: vector)
        reply.digests = [
            RangeDigest(last: [.integer(1)], rows: 1, sha256: [UInt8](repeating: 7, count: 32)),
            RangeDigest(last: [.integer(2)], rows: 1, sha256: [UInt8](repeating: 8, count: 32)),
        ]
        let bytes = try reply.encoded()
        #expect(try DigestReply(decoding: bytes, limits: limits) == reply)
        var few = limits
        few.digestsPerReply = 1
        var short = limits
        short.messageBytes = bytes.count - 1
        for limits in [few, short] {
            let error = #expect(throws: WireError.self) { try DigestReply(decoding: bytes, limits: limits) }
            #expect(error?.code == .tooLarge)
        }
        var typed = reply
        typed.tables = [TableShape(table: "t", columns: ["k", "v"], keyCount: 1)]
        typed.affinities = [[1, 2]]
        #expect(try DigestReply(decoding: typed.encoded(), limits: limits) == typed)
        for affinities: [[UInt8]] in [[[1]], [[1, 2], [1]]] {
            typed.affinities = affinities
            let error = #expect(throws: WireError.self) { try DigestReply(decoding: typed.encoded(), limits: limits) }
            #expect(error?.code == .malformed)
        }
        reply.digests[0].sha256.removeLast()
        let error = #expect(throws: WireError.self) { try DigestReply(decoding: reply.encoded(), limits: limits) }
        #expect(error?.code == .malformed)
    }
}
