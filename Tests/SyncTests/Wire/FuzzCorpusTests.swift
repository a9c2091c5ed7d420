import Foundation
import FuzzTargets
import Journal
import TestSupport
import Testing

@testable import Sync

/// The seeds of fuzzing, and the inputs that it found: one file for each input, in a folder for each target.
@Suite("The inputs of the fuzz targets")
struct FuzzCorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Harness/Fuzz/Corpus")

    @Test("every input of the corpus is decoded without a trap", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) throws {
        let folder = Self.folder.appendingPathComponent(target.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.count >= 3)
        for name in names {
            target.run([UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
        }
    }

    /// `TANDEM_WRITE_CORPUS=1` writes the seeds again, after a change of the protocol.
    @Test("the seeds are real messages of the protocol", arguments: FuzzTarget.allCases)
    func seeds(target: FuzzTarget) throws {
        let seeds = try Self.seeds(of: target)
        #expect(seeds.count >= 3)
        let folder = Self.folder.appendingPathComponent(target.rawValue)
        for (index, seed) in seeds.enumerated() {
            target.run(seed)
            guard ProcessInfo.processInfo.environment["TANDEM_WRITE_CORPUS"] != nil else { continue }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(seed).write(to: folder.appendingPathComponent("seed-\(index)"))
        }
    }

    private static let origin = OriginID(high: 3, low: 4)

    private static var vector: VersionVector {
        var vector = VersionVector()
        vector.advance(origin, to: 300)
        vector.advance(OriginID(high: 5, low: 6), to: 1 << 50)
        return vector
    }

    private static func batches() throws -> [ChangeBatch] {
        var random = SplitMix(seed: 4)
        return [1, 3, 8, 20].map { ChangeBatch.random(changes: $0, using: &random) }
    }

    private static func seeds(of target: FuzzTarget) throws -> [[UInt8]] {
        switch target {
        case .batch: try batches().map(BatchCodec.encode)
        case .frames: try frames()
        case .hello: try hellos().map { try $0.encoded() }
        case .pull: try pulls().map { try $0.encoded() }
        case .digest: try questions().map { try DigestRequest(cluster: "main", question: $0).encoded() }
        case .replies: try replies()
        case .compressed:
            try PayloadEncoding.allCases.enumerated().flatMap { index, encoding in
                let text = [UInt8](String(repeating: "a person named somebody ", count: 20).utf8)
                return [[UInt8(index)] + (try encoding.compress(text)), [0x80 + UInt8(index)] + text.prefix(50)]
            }
        case .images: images()
        case .text: texts()
        case .endpoint: try requests()
        }
    }

    private static func frames() throws -> [[UInt8]] {
        let batch = try batches()[1]
        let bodies: [Frame] = [
            Frame(body: .open(cluster: "main", origin: origin)), try Frame(batch, encoding: .none),
            try Frame(batch, encoding: .zstd), try Frame(batch, encoding: .gzip),
            Frame(body: .end(vector: vector, more: true, heldBack: vector)),
        ]
        let stream = try bodies.flatMap { try $0.encoded() }
        return try [[0] + stream, [20] + stream] + bodies.map { try header(of: $0.encoded()) }
    }

    /// The header and the payload of a frame, in the form from which the target builds the frame.
    private static func header(of frame: [UInt8]) throws -> [UInt8] {
        [1] + frame[6..<8] + frame[12..<(frame.count - 4)]
    }

    private static func hellos() -> [Hello] {
        var plain = Hello(
            cluster: "main", origin: origin, formatVersion: 1, vector: vector, wallMilliseconds: 1_700_000_000_000)
        let first = plain
        plain.sampledOrigin = OriginID(high: 1, low: 1)
        plain.samples = [VersionSample(version: 9, digest: 77), VersionSample(version: 4, digest: .max)]
        plain.instance = [1, 2, 3, 4]
        return [
            first, plain, Hello(cluster: "ü", origin: origin, formatVersion: -1, vector: .init(), wallMilliseconds: -1),
        ]
    }

    private static func pulls() -> [PullRequest] {
        [
            PullRequest(cluster: "main", origin: origin, have: vector),
            PullRequest(cluster: "main", origin: origin, have: VersionVector(), waitSeconds: 25, maxBytes: 1 << 40),
            PullRequest(cluster: "main", origin: origin, have: vector, encodings: []),
        ]
    }

    private static func questions() -> [DigestRequest.Question] {
        let person = TableShape(table: "person", columns: ["id", "name", "age"], keyCount: 1)
        let visit = TableShape(table: "visit", columns: ["person", "place", "note"], keyCount: 2)
        return [
            .tables, .digests(shape: person, after: [.text("p1")], rowsPerDigest: 10),
            .rows(shape: visit, after: [.text("P1"), .integer(1)], through: [.blob([1]), .real(2)]),
            .rows(shape: person, after: nil, through: nil),
            .recapture(shape: visit, keys: [[.text("P1"), .integer(1)], [.blob([1]), .real(2)]]),
        ]
    }

    private static func replies() throws -> [[UInt8]] {
        var digests = DigestReply(vector: vector)
        digests.tables = [TableShape(table: "person", columns: ["id", "name"], keyCount: 1)]
        digests.digests = [RangeDigest(last: [.text("z")], rows: 5, sha256: [UInt8](repeating: 7, count: 32))]
        digests.more = true
        var rows = DigestReply(vector: vector)
        rows.rows = [awkwardValues, [.null]]
        return [
            try PushReply(vector: vector, applied: 7, heldBack: vector).encoded(), try digests.encoded(),
            try rows.encoded(),
        ]
    }

    private static func images() -> [[UInt8]] {
        var image = RowImage()
        for (index, value) in awkwardValues.enumerated() { image.columns["c\(index)"] = value }
        var small = RowImage()
        small.columns = ["id": .integer(1), "name": .text("x")]
        return [image.encoded(), small.encoded(), []]
    }

    private static func texts() -> [[UInt8]] {
        [
            "http://127.0.0.1:7707", "https://[::1]:7707/", "https://user:password@host:1", "/var/lib/a.sqlite",
            "file:///etc/passwd",
            #"{"error":{"code":"fork","hint":"h","message":"m"}}"#, "300", "a-token_0123456789", "http://h:99999?x#y",
        ].map { [UInt8]($0.utf8) }
    }

    private static func requests() throws -> [[UInt8]] {
        var random = SplitMix(seed: 6)
        var batch = ChangeBatch()
        batch.shapes = [
            TableShape(table: "person", columns: ["id", "name", "age"], keyCount: 1),
            TableShape(table: "visit", columns: ["person", "place", "note"], keyCount: 2),
            TableShape(table: "place", columns: ["id", "name", "size"], keyCount: 1),
        ]
        let rows: [(Int, [Value])] = [
            (0, [.text("p3"), .text("three"), .integer(3)]), (1, [.text("p3"), .integer(9), .null]),
            (2, [.integer(9), .text("here"), .real(-1)]), (2, [.integer(10), .text("there"), .real(2)]),
        ]
        for (index, (shape, row)) in rows.enumerated() {
            batch.changes.append(
                Change(
                    shape: shape, operation: .insert, life: 1,
                    stamp: Stamp(milliseconds: 1_700_000_000_000 + Int64(index)),
                    mask: ColumnMask(all: 3), values: batch.values.count..<(batch.values.count + 3),
                    endsTransaction: index != 1))
            batch.values += row
        }
        batch.runs = [Run(origin: origin, firstVersion: 1, changes: 0..<4, known: VersionVector())]
        let push =
            try Frame(body: .open(cluster: "main", origin: origin)).encoded() + Frame(batch, encoding: .zstd).encoded()
            + Frame(body: .end(vector: vector, more: false)).encoded()
        return try [
            [0] + hellos()[1].encoded(), [1] + pulls()[0].encoded(),
            [2] + DigestRequest(cluster: "main", question: .tables).encoded(),
            [2] + DigestRequest(cluster: "main", question: questions()[1]).encoded(), [3] + push,
            [4] + header(of: Frame(batch, encoding: .none).encoded()).dropFirst(), [5] + BatchCodec.encode(batch),
            [5] + BatchCodec.encode(.random(changes: 5, using: &random)),
        ]
    }
}
