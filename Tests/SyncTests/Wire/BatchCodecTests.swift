import Journal
import SwiftProtobuf
import TestSupport
import Testing

@testable import Sync

@Suite struct BatchCodecTests {
    let limits = Limits.standard

    @Test("a batch survives the wire with every bit of its values", arguments: 1..<40 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix(seed: seed)
        let batch = ChangeBatch.random(changes: Int(seed) * 7, using: &generator)
        #expect(batch.checkInvariants() == nil)
        let decoded = try BatchCodec.decode(BatchCodec.encode(batch), limits: limits)
        #expect(decoded == batch)
        #expect(decoded.valueBits == batch.valueBits)
    }

    @Test("equal batches encode to equal bytes")
    func deterministic() throws {
        var one = SplitMix(seed: 5)
        var two = SplitMix(seed: 5)
        let first = try BatchCodec.encode(.random(changes: 300, using: &one))
        let second = try BatchCodec.encode(.random(changes: 300, using: &two))
        #expect(first == second)
    }

    @Test("every proper prefix of a batch is refused")
    func prefixes() throws {
        var generator = SplitMix(seed: 11)
        let batch = ChangeBatch.random(changes: 12, using: &generator)
        let bytes = try BatchCodec.encode(batch)
        for length in 1..<bytes.count {
            #expect(throws: WireError.self) { try BatchCodec.decode(Array(bytes[..<length]), limits: limits) }
        }
        #expect(try BatchCodec.decode([], limits: limits).isEmpty)
    }

    @Test("a flipped bit is refused, or gives a batch that keeps the invariants")
    func bitFlips() throws {
        var generator = SplitMix(seed: 12)
        let bytes = try BatchCodec.encode(.random(changes: 4, using: &generator))
        var decoded = 0
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            if let batch = try? BatchCodec.decode(flipped, limits: limits) {
                #expect(batch.checkInvariants() == nil)
                decoded += 1
            }
        }
        // Most bits are content, in which any byte is allowed.
        #expect(decoded > 0)
    }

    @Test("random bytes and random damage never trap")
    func garbage() throws {
        var generator = SplitMix(seed: 13)
        let valid = try BatchCodec.encode(.random(changes: 50, using: &generator))
        for _ in 0..<400 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let at = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: at)
                default: bytes.insert(0xFF, at: at)
                }
            }
            if let batch = try? BatchCodec.decode(bytes, limits: limits) { #expect(batch.checkInvariants() == nil) }
        }
    }

    /// A valid message of two changes, for a test to break in one place.
    private func message() throws -> Tandem_V1_ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: "t", columns: ["id", "name", "score"], keyCount: 1)]
        batch.values = [.integer(1), .text("x"), .real(2), .integer(2)]
        batch.changes = [
            Change(
                shape: 0, operation: .insert, life: 1, stamp: Stamp(rawValue: 5), mask: ColumnMask(all: 3),
                values: 0..<3, endsTransaction: true),
            Change(
                shape: 0, operation: .delete, life: 4, stamp: Stamp(rawValue: 9), mask: ColumnMask(), values: 3..<4,
                endsTransaction: true),
        ]
        var known = VersionVector()
        known.advance(OriginID(high: 2, low: 2), to: 7)
        batch.runs = [Run(origin: OriginID(high: 1, low: 1), firstVersion: 3, changes: 0..<2, known: known)]
        return try Tandem_V1_ChangeBatch(serializedBytes: BatchCodec.encode(batch))
    }

    private func refuses(
        _ what: Comment, as kind: WireError.Code = .malformed, limits: Limits = .standard,
        _ change: (inout Tandem_V1_ChangeBatch) -> Void
    ) throws {
        var message = try message()
        change(&message)
        let bytes: [UInt8] = try message.serializedBytes()
        do {
            _ = try BatchCodec.decode(bytes, limits: limits)
            Issue.record(what)
        } catch {
            #expect(error.code == kind, what)
        }
    }

    @Test("every contradiction inside a batch is refused")
    func contradictions() throws {
        _ = try BatchCodec.decode(message().serializedBytes(), limits: limits)
        try refuses("no shape") { $0.shapes = [] }
        try refuses("no key") { $0.shapes[0].keyCount = 0 }
        try refuses("more keys than columns") { $0.shapes[0].keyCount = 4 }
        try refuses("a column twice") { $0.shapes[0].columns[2] = $0.shapes[0].columns[1] }
        try refuses("an empty name") { $0.shapes[0].table = wireData([]) }
        try refuses("a name with NUL") { $0.shapes[0].table = wireData([0x61, 0]) }
        try refuses("a name that is not UTF-8") { $0.shapes[0].columns[0] = wireData([0xC3, 0x28]) }
        try refuses("an unknown shape") { $0.kinds[0].shape = 1 }
        try refuses("an unknown operation") { $0.kinds[0].operation = 4 }
        try refuses("a delete with columns") { $0.kinds[1].mask = [2] }
        try refuses("a key change that deletes nothing") { $0.kinds[0].keyChange = true }
        try refuses("a column outside") { $0.kinds[0].mask = [1 << 3] }
        try refuses("a mask of many words") { $0.kinds[0].mask = [UInt64](repeating: 1, count: 9) }
        try refuses("an unknown kind") { $0.changeKinds[1] = 2 }
        try refuses("a stamp too few") { $0.stampDeltas.removeLast() }
        try refuses("a negative stamp") { $0.stampDeltas[0] = -1 }
        try refuses("a stamp beyond the end of time") { $0.stampDeltas[1] = .max }
        try refuses("a life of the wrong parity") { $0.lives[0] = 3 }
        try refuses("a life out of range") { $0.lives[0] = .max - 1 }
        try refuses("a life of no change") { $0.lifeSkips[0] = 2 }
        try refuses("a transaction too long") { $0.transactionLengths[1] = 2 }
        try refuses("an empty transaction") { $0.transactionLengths[1] = 0 }
        try refuses("a version 0") { $0.runFirstVersions[0] = 0 }
        try refuses("a version at the end") { $0.runFirstVersions[0] = .max }
        try refuses("a run too long") { $0.runLengths[0] = 3 }
        try refuses("a run too short") { $0.runLengths[0] = 1 }
        try refuses("an empty run") { $0.runLengths[0] = 0 }
        try refuses("a run of nobody") { $0.runOrigins[0] = 2 }
        try refuses("a run that adds to nothing") { $0.runAdds[0] = true }
        try refuses("an origin that knows itself") { $0.knownOrigins[0] = 0 }
        try refuses("a known version 0") { $0.knownVersions[0] = 0 }
        try refuses("a known version too many") { $0.runKnownCounts[0] = 0 }
        try refuses("known versions missing") { $0.runKnownCounts[0] = 2 }
        try refuses("known origins out of order") {
            $0.runKnownCounts[0] = 2
            $0.knownOrigins.append($0.knownOrigins[0])
            $0.knownVersions.append($0.knownVersions[0] + 1)
        }
        try refuses("an all-zero origin") { $0.origins[0] = wireData([UInt8](repeating: 0, count: 16)) }
        try refuses("a short origin") { $0.origins[0] = wireData([1]) }
        try refuses("an unknown storage class") { $0.valueTypes = wireData([1, 3, 5, 1]) }
        try refuses("a value too few") { $0.valueTypes = wireData([1, 3, 2]) }
        try refuses("an integer too many") { $0.integers.append(1) }
        try refuses("a NaN") { $0.reals[0] = .nan }
        try refuses("content too short") { $0.content = wireData([]) }
        try refuses("content too long") { $0.content = wireData([1, 2]) }
        try refuses("a length of 4 GiB") { $0.lengths[0] = .max }
    }

    @Test("a batch beyond a limit is refused before it is built")
    func beyondLimits() throws {
        func smaller(_ change: (inout Limits) -> Void) -> Limits {
            var limits = Limits.standard
            change(&limits)
            return limits
        }
        try refuses("changes", as: .tooLarge, limits: smaller { $0.receivedChangesPerBatch = 1 }) { _ in }
        try refuses("values", as: .tooLarge, limits: smaller { $0.valuesPerBatch = 3 }) { _ in }
        try refuses("bytes", as: .tooLarge, limits: smaller { $0.rawBatchBytes = 20 }) { _ in }
        try refuses("columns' bytes", as: .tooLarge, limits: smaller { $0.columnBytesPerBatch = 20 }) { _ in }
        try refuses("columns", as: .tooLarge, limits: smaller { $0.columnsPerShape = 2 }) { _ in }
        try refuses("shapes", as: .tooLarge, limits: smaller { $0.shapesPerBatch = 0 }) { _ in }
        try refuses("origins", as: .tooLarge, limits: smaller { $0.originsPerVector = 1 }) { _ in }
        try refuses("known versions", as: .tooLarge, limits: smaller { $0.knownEntriesPerBatch = 0 }) { _ in }
    }

    @Test("fields of a later version are skipped")
    func unknownFields() throws {
        let bytes: [UInt8] = try message().serializedBytes()
        // Field 99, length-delimited, two bytes.
        let extended = bytes + [0x9A, 0x06, 0x02, 0xAA, 0xBB]
        let extra = try BatchCodec.decode(extended, limits: limits)
        #expect(try extra == BatchCodec.decode(bytes, limits: limits))
    }

    @Test("numbers beyond 64 bits, lengths beyond the end and columns written twice are refused")
    func badProtobuf() throws {
        let bytes: [UInt8] = try message().serializedBytes()
        let bad: [[UInt8]] = [
            [0xA2, 0x01] + [UInt8](repeating: 0xFF, count: 9) + [0x02],
            [0xA2, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [UInt8](repeating: 0xFF, count: 11),
            bytes + bytes,
            [0x08, 0x01],
        ]
        for bytes in bad {
            #expect(throws: WireError.self) { try BatchCodec.decode(bytes, limits: limits) }
        }
    }

    @Test("a NaN is sent as the NULL that SQLite stores for it")
    func notANumber() throws {
        var batch = try BatchCodec.decode(message().serializedBytes(), limits: limits)
        batch.values[2] = .real(.nan)
        let decoded = try BatchCodec.decode(BatchCodec.encode(batch), limits: limits)
        #expect(decoded.values[2] == .null)
    }

    @Test("a batch that contradicts itself is not written")
    func unwritable() {
        var batch = ChangeBatch()
        batch.values = [.null]
        let error = #expect(throws: WireError.self) { try BatchCodec.encode(batch) }
        #expect(error?.code == .malformed)
    }
}
