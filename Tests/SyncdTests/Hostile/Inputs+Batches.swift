import Foundation
import Journal
import SwiftProtobuf
import TestSupport

@testable import Sync

/// Parts B and C of the catalogue: the content of a frame.
extension HostileInput {
    static func push(
        _ entry: Int, _ name: String, _ outcome: Outcome, _ make: @escaping @Sendable (HostileScene) throws -> [UInt8]
    ) -> HostileInput {
        HostileInput(entry, name, .endpoint(.push, make), outcome)
    }

    static let invalid: Outcome = .refused([.invalid])
    private static let cut: Outcome = .refused([.truncated, .invalid])
    private static let large: Outcome = .refused([.tooLarge])

    /// B17 to B21.
    @HostileInputs static var encodings: [HostileInput] {
        for encoding in PayloadEncoding.allCases where encoding != .none {
            push(17, "a bomb in \(encoding) that says its size", large) { scene in
                let size = 64 << 20
                let payload = try encoding.compress([UInt8](repeating: 0, count: size))
                return try scene.push(payload: payload, encoding: encoding, rawSize: size)
            }
            push(17, "a bomb in \(encoding) that says the limit", large) { scene in
                let payload = try encoding.compress([UInt8](repeating: 0, count: 64 << 20))
                return try scene.push(payload: payload, encoding: encoding, rawSize: 8 << 20)
            }
            push(17, "a bomb in \(encoding) that says one byte", large) { scene in
                let payload = try encoding.compress([UInt8](repeating: 0, count: 64 << 20))
                return try scene.push(payload: payload, encoding: encoding, rawSize: 1)
            }
            push(18, "\(encoding) inside of \(encoding)", invalid) { scene in
                let inner = try encoding.compress(BatchCodec.encode(scene.batch()))
                return try scene.push(
                    payload: encoding.compress(inner), encoding: encoding, rawSize: inner.count)
            }
            push(19, "\(encoding) and junk after it", invalid) { scene in
                let raw = try BatchCodec.encode(scene.batch())
                return try scene.push(
                    payload: encoding.compress(raw) + [1, 2, 3], encoding: encoding, rawSize: raw.count)
            }
            push(19, "two members of \(encoding)", invalid) { scene in
                let raw = try BatchCodec.encode(scene.batch())
                let half = raw.count / 2
                let payload = try encoding.compress(Array(raw[..<half])) + encoding.compress(Array(raw[half...]))
                return try scene.push(payload: payload, encoding: encoding, rawSize: raw.count)
            }
            push(20, "\(encoding) cut off", cut) { scene in
                let raw = try BatchCodec.encode(scene.batch())
                return try scene.push(
                    payload: encoding.compress(raw).dropLast(7), encoding: encoding, rawSize: raw.count)
            }
            push(20, "\(encoding) of nothing at all", cut) { scene in
                try scene.push(payload: [], encoding: encoding, rawSize: 10)
            }
            push(20, "random bytes that are no \(encoding)", cut) { scene in
                var random = SplitMix(seed: 20)
                return try scene.push(
                    payload: (0..<300).map { _ in UInt8(truncatingIfNeeded: random.next()) }, encoding: encoding,
                    rawSize: 300)
            }
            push(21, "\(encoding) with a size one too large", invalid) { scene in
                let raw = try BatchCodec.encode(scene.batch())
                return try scene.push(
                    payload: encoding.compress(raw), encoding: encoding, rawSize: raw.count + 1)
            }
            push(21, "\(encoding) with a size one too small", large) { scene in
                let raw = try BatchCodec.encode(scene.batch())
                return try scene.push(
                    payload: encoding.compress(raw), encoding: encoding, rawSize: raw.count - 1)
            }
            push(21, "\(encoding) that says 4 GiB", large) { scene in
                try scene.push(
                    payload: encoding.compress(BatchCodec.encode(scene.batch())), encoding: encoding, rawSize: 4 << 30)
            }
        }
        push(20, "gzip with a wrong checksum", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            var payload = try PayloadEncoding.gzip.compress(raw)
            payload[payload.count - 6] ^= 1
            return try scene.push(payload: payload, encoding: .gzip, rawSize: raw.count)
        }
        push(20, "zstd with a window of 2 GiB", invalid) { scene in
            // Magic, a frame header without content size and single segment, window descriptor 2^31, an empty
            // last block.
            try scene.push(
                payload: [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00], encoding: .zstd, rawSize: 10)
        }
        push(21, "a size of 2^63 bytes", large) { scene in
            try scene.push(payload: BatchCodec.encode(scene.batch()), rawSize: .max)
        }
        push(21, "no encoding, and another size", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            return try scene.push(payload: raw, rawSize: raw.count + 5)
        }
        push(18, "an encoding that does not exist", invalid) { scene in
            var header = Tandem_V1_FrameHeader()
            header.wireVersion = wireVersion
            header.batch.encoding = .UNRECOGNIZED(9)
            header.batch.rawSize = 1
            return try scene.open() + HostileInput.frame(header.serializedBytes(), [1]) + scene.end()
        }
    }

    /// A frame of any header and payload, with a right size and checksum.
    static func frame(_ header: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        let bytes = Frame.magic + big(header.count) + big(payload.count) + header + payload
        return bytes + big(Int(bytes.withUnsafeBytes(CRC32.of)))
    }

    /// B22 to B28, B33, B34.
    @HostileInputs static var batches: [HostileInput] {
        push(22, "an empty push", .refused([.truncated])) { _ in [] }
        push(22, "a push without its end", .refused([.truncated])) { try $0.open() }
        push(22, "a push that does not open", invalid) { try $0.end() }
        push(22, "a batch before the opening", invalid) { scene in
            try Frame(scene.batch(), encoding: .none).encoded() + scene.end()
        }
        push(22, "two openings", invalid) { try $0.open() + $0.open() + $0.end() }
        push(22, "frames after the end", invalid) { try $0.open() + $0.end() + $0.open() }
        push(22, "bytes after the end", invalid) { try $0.open() + $0.end() + [0] }
        push(22, "another magic", invalid) { _ in Array("TDM2".utf8) + [UInt8](repeating: 0, count: 64) }
        push(22, "a page of HTML", invalid) { _ in Array("<html><body>Sign in</body></html>".utf8) }
        push(23, "a checksum that does not fit", .refused([.truncated])) { scene in
            var bytes = try scene.push(scene.batch())
            bytes[try scene.open().count + 20] ^= 1
            return bytes
        }
        push(24, "a header of 2^32-1 bytes", large) { try $0.open() + Frame.magic + [255, 255, 255, 255, 0, 0, 0, 0] }
        push(24, "a payload of 2^32-1 bytes", large) {
            try $0.open() + Frame.magic + [0, 0, 0, 8, 255, 255, 255, 255]
        }
        push(24, "a length of 11 bytes", invalid) { scene in
            try scene.push(payload: [0x0A] + [UInt8](repeating: 0xFF, count: 10) + [1], rawSize: 12)
        }
        push(24, "a length of 2^64-1", .refused([.truncated, .invalid])) { scene in
            try scene.push(payload: [0x0A] + [UInt8](repeating: 0xFF, count: 9) + [1], rawSize: 11)
        }
        push(24, "a length of 2^63", .refused([.truncated, .invalid])) { scene in
            try scene.push(payload: [0x0A] + [UInt8](repeating: 0x80, count: 9) + [1], rawSize: 11)
        }
        push(24, "a length that is not minimal, of nothing", .refused([.truncated, .invalid])) { scene in
            try scene.push(payload: [0x0A, 0x80, 0x80, 0x00, 0x08], rawSize: 5)
        }
        push(24, "groups inside of groups", invalid) { scene in
            try scene.push(payload: [UInt8](repeating: 0x0B, count: 100_000), rawSize: 100_000)
        }
        push(25, "4 billion changes in a run", invalid) { try $0.push { $0.runLengths[0] = .max } }
        push(25, "a run of 3 changes with 1", invalid) { try $0.push { $0.runLengths[0] = 3 } }
        push(25, "4 billion known versions", invalid) { try $0.push { $0.runKnownCounts[0] = .max } }
        push(25, "a transaction of 4 billion changes", invalid) { try $0.push { $0.transactionLengths[0] = .max } }
        push(25, "a transaction of none", invalid) { try $0.push { $0.transactionLengths[0] = 0 } }
        push(25, "a skip of 4 billion changes", invalid) {
            try $0.push {
                $0.lives = [3]
                $0.lifeSkips = [.max]
            }
        }
        push(25, "more kinds than changes", invalid) { try $0.push { $0.kinds += $0.kinds + $0.kinds } }
        push(25, "more transactions than changes", invalid) {
            try $0.push { $0.transactionLengths = [UInt32](repeating: 1, count: 1_000) }
        }
        push(25, "a value without its change", invalid) { try $0.push { $0.valueTypes.append(0) } }
        push(25, "a change without its values", invalid) { try $0.push { $0.valueTypes = wireData([]) } }
        push(25, "ranges that the batch does not have", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            return try scene.push(payload: raw, covers: [Cover(origin: scene.origin, first: 1, last: 4_000_000_000)])
        }
        push(25, "ranges of another origin", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            return try scene.push(payload: raw, covers: [Cover(origin: .random(), first: 1, last: 1)])
        }
        push(25, "a range that ends before it begins", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            return try scene.push(payload: raw, covers: [Cover(origin: scene.origin, first: 5, last: 1)])
        }
        HostileInput(
            26, "messages 100 000 deep",
            .endpoint(.hello) { _ in
                var bytes: [UInt8] = []
                for _ in 0..<20_000 { bytes = [0x22] + HostileInput.varint(bytes.count) + bytes.prefix(100_000) }
                return bytes
            }, .refused([.invalid, .unsupportedVersion]))
        HostileInput(
            26, "groups 100 000 deep",
            .endpoint(.pull) { _ in [UInt8](repeating: 0x0B, count: 100_000) }, invalid)
        HostileInput(
            26, "a question in itself",
            .endpoint(.digest) { _ in
                [0x1A, 0x84, 0x07] + [UInt8](repeating: 0x1A, count: 900)
            }, invalid)
        push(27, "a column twice in a shape", invalid) {
            try $0.push { $0.shapes[0].columns[2] = $0.shapes[0].columns[1] }
        }
        push(27, "a key column twice in a shape", invalid) {
            try $0.push { $0.shapes[0].columns[1] = $0.shapes[0].columns[0] }
        }
        push(27, "a batch message twice", invalid) { scene in
            let raw = try BatchCodec.encode(scene.batch())
            return try scene.push(payload: raw + raw)
        }
        push(27, "one version twice in a batch", .refused([.invalid, .fork, .gap])) { scene in
            var batch = scene.batch(
                "person", ["id", "name", "age"], keys: 1,
                [[.text("dup1"), .null, .null], [.text("dup2"), .null, .null]])
            let run = batch.runs[0]
            batch.runs = [
                Run(origin: run.origin, firstVersion: 2, changes: 0..<1, known: run.known),
                Run(origin: run.origin, firstVersion: 2, changes: 1..<2, known: run.known),
            ]
            return try scene.push(batch)
        }
        push(
            27, "one key twice in a transaction: the last stamp wins",
            .applied("SELECT age = 2 FROM person WHERE id = 'twice'")
        ) {
            scene in
            var batch = scene.batch(
                "person", ["id", "name", "age"], keys: 1,
                [[.text("twice"), .null, .integer(1)], [.text("twice"), .null, .integer(2)]])
            batch.changes[0].endsTransaction = false
            return try scene.push(batch)
        }
        HostileInput(
            27, "an origin twice in a vector",
            .endpoint(.pull) { scene in
                try scene.pull { request in
                    var entry = Tandem_V1_Vector.Entry()
                    entry.origin = wireData(scene.origin.bytes)
                    entry.version = 1
                    request.have.entries = [entry, entry]
                }
            }, invalid)
        push(28, "an unknown field in a batch is skipped", .applied("SELECT count(*) FROM person WHERE id = 'field'")) {
            scene in
            let batch = scene.batch("person", ["id", "name", "age"], [[.text("field"), .null, .null]])
            return try scene.push(
                payload: BatchCodec.encode(batch) + [0x9A, 0x06, 0x02, 0xAA, 0xBB], covers: Frame.covers(of: batch))
        }
        HostileInput(
            28, "an unknown field in a hello is skipped",
            .endpoint(.hello) { try $0.hello() + [0x9A, 0x06, 0x02, 0xAA, 0xBB] }, .served)
        push(28, "an unknown operation", invalid) { try $0.push { $0.kinds[0].operation = 9 } }
        push(28, "an unknown storage class", invalid) { try $0.push { $0.valueTypes = wireData([3, 9, 1]) } }
        push(28, "a frame without a body", invalid) { scene in
            var header = Tandem_V1_FrameHeader()
            header.wireVersion = wireVersion
            return try scene.open() + HostileInput.frame(header.serializedBytes(), []) + scene.end()
        }
        push(28, "a payload where none belongs", invalid) { scene in
            var header = Tandem_V1_FrameHeader()
            header.wireVersion = wireVersion
            header.open.cluster = wireData("main".utf8)
            header.open.origin = wireData(scene.origin.bytes)
            return try HostileInput.frame(header.serializedBytes(), [1, 2, 3]) + scene.end()
        }
        push(34, "a batch under the name of a known origin, with other content", .served) { scene in
            // The first version of that origin is known here, so it is ignored.
            try scene.push(scene.batch(origin: OriginID(high: 5, low: 5)), as: scene.origin)
        }
        push(34, "a push that opens under the name of the receiver", .refused([.selfPeer])) { scene in
            try scene.push(scene.batch(), as: scene.own)
        }
        [0, 1, 99, UInt32.max].map { version in
            push(28, "a frame of wire version \(version)", .refused([.unsupportedVersion])) { scene in
                var header = Tandem_V1_FrameHeader()
                header.wireVersion = version
                header.end.vector = Tandem_V1_Vector(VersionVector())
                return try scene.open() + HostileInput.frame(header.serializedBytes(), [])
            }
        }
        [Route.hello, .pull, .digest].flatMap { route in
            [
                HostileInput(
                    28, "wire version 1 in \(route)",
                    .endpoint(route) { scene in
                        switch route {
                        case .hello: try scene.hello { $0.wireVersion = 1 }
                        case .pull: try scene.pull { $0.wireVersion = 1 }
                        default: try scene.digest { $0.wireVersion = 1 }
                        }
                    }, .refused([.unsupportedVersion])),
                HostileInput(22, "nothing in \(route)", .endpoint(route) { _ in [] }, .refused([.unsupportedVersion])),
                HostileInput(
                    22, "JSON in \(route)", .endpoint(route) { _ in Array(#"{"a": [1, 2]}"#.utf8) },
                    .refused([.invalid, .unsupportedVersion])),
                HostileInput(
                    24, "more than a message may have in \(route)",
                    .endpoint(route) { _ in [UInt8](repeating: 0, count: 1 << 20 + 1) }, large),
            ]
        }
    }

    static func varint(_ number: Int) -> [UInt8] {
        var rest = UInt64(number)
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// B29 to B32: values.
    @HostileInputs static var values: [HostileInput] {
        ([
            ("2^53 + 1", .integer(1 << 53 + 1), "typeof(c) = 'integer' AND c = 9007199254740993"),
            ("2^63 - 1", .integer(.max), "c = 9223372036854775807"),
            ("-2^63", .integer(.min), "c = -9223372036854775807 - 1"),
            ("1.0, a REAL", .real(1), "typeof(c) = 'real'"),
            ("infinity", .real(.infinity), "c = 9e999"),
            ("minus infinity", .real(-.infinity), "c = -9e999"),
            ("the least number above 0", .real(.leastNonzeroMagnitude), "c > 0 AND c < 1e-300"),
            ("a real beyond Int64", .real(1e300), "c = 1e300"),
        ] as [(String, Value, String)]).map { name, value, condition in
            push(29, name, .applied("SELECT \(condition) FROM pair WHERE a = '\(name)'")) { scene in
                try scene.push(scene.batch("pair", ["a", "b", "c"], keys: 2, [[.text(name), .integer(1), value]]))
            }
        }
        [Double.nan, .signalingNaN, Double(bitPattern: 0xFFF8_0000_0000_0001)].map { number in
            push(29, "NaN \(String(number.bitPattern, radix: 16))", invalid) { scene in
                try scene.push(scene.batch("pair", ["a", "b", "c"], keys: 2, [[.integer(1), .integer(1), .real(1)]])) {
                    $0.reals[0] = number
                }
            }
        }
        ([
            ("a NUL in it", Array("a\0b".utf8)), ("bytes that are no UTF-8", [0xC3, 0x28]),
            ("a lone surrogate", [0xED, 0xA0, 0x80]), ("a byte-order mark", Array("\u{FEFF}x".utf8)),
            ("four bytes for a character", Array("😀".utf8)), ("0xFF 0xFE", [0xFF, 0xFE]),
            ("1 MB of one letter", [UInt8](repeating: 0x61, count: 1 << 20)),
        ] as [(String, [UInt8])]).map { name, bytes in
            push(
                30, "TEXT with \(name)",
                .applied(
                    "SELECT hex(c) = '\(bytes.prefix(20).map { String(format: "%02X", $0) }.joined())' OR length(c) = 1048576 FROM pair WHERE a = 'text' AND b = '\(name)'"
                )
            ) { scene in
                try scene.push(
                    scene.batch("pair", ["a", "b", "c"], keys: 2, [[.text("text"), .text(name), .text(bytes[...])]]))
            }
        }
        push(
            30, "two normal forms of one word are two keys",
            .applied("SELECT count(*) = 2 FROM person WHERE name = 'form'")
        ) {
            scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1,
                    [
                        [.text("e\u{301}"), .text("form"), .null], [.text("\u{E9}"), .text("form"), .null],
                    ]))
        }
        push(
            31, "empty text, an empty blob and NULL stay apart",
            .applied(
                "SELECT count(DISTINCT typeof(c)) = 3 FROM pair WHERE a = 'empty'")
        ) { scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    [
                        [.text("empty"), .integer(1), .text("")], [.text("empty"), .integer(2), .blob([])],
                        [.text("empty"), .integer(3), .null],
                    ]))
        }
        push(31, "a key of no bytes", .applied("SELECT count(*) = 1 FROM person WHERE id = ''")) { scene in
            try scene.push(scene.batch("person", ["id", "name", "age"], [[.text(""), .null, .null]]))
        }
        push(
            31, "empty text and an empty blob as keys are two rows",
            .applied(
                "SELECT count(*) = 2 FROM pair WHERE length(a) = 0")
        ) { scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    [[.text(""), .integer(1), .null], [.blob([]), .integer(1), .null]]))
        }
        push(32, "as many changes as a batch may have", .applied("SELECT count(*) = 4096 FROM pair WHERE a = 'limit'"))
        {
            scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    (0..<4_096).map { [.text("limit"), .integer(Int64($0)), .null] }))
        }
        push(32, "one change more than a batch may have", large) { scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    (0...4_096).map { [.text("beyond"), .integer(Int64($0)), .null] }))
        }
        push(32, "a value of 5 MB in a frame of 4", large) { scene in
            let raw = try BatchCodec.encode(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1,
                    [[.text("big"), .text([UInt8](repeating: 1, count: 5 << 20)[...]), .null]]))
            return try scene.push(payload: raw)
        }
        push(32, "a value of 16 MB behind zstd", large) { scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1,
                    [[.text("big"), .text([UInt8](repeating: 1, count: 16 << 20)[...]), .null]]))
        }
        push(32, "a table of 1 901 columns", large) { scene in
            let columns = (0...1_900).map { "c\($0)" }
            return try scene.push(scene.batch("wide", columns, keys: 1, [columns.map { _ in .null }]))
        }
        push(32, "more bytes than a push may have", large) { scene in
            let frame = try Frame(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1,
                    [[.text("x"), .blob([UInt8](repeating: 1, count: 3 << 20)[...]), .null]]), encoding: .none
            ).encoded()
            // The first one is accepted, the others are known, and then the stream is too large.
            return try scene.open() + Frame.magic + [0, 0, 0, 8, 0, 0x40, 0, 1] + frame + frame + frame
        }
        push(32, "a table of 1 900 columns that is not here", .kept) { scene in
            let columns = (0..<1_900).map { "c\($0)" }
            return try scene.push(scene.batch("wide", columns, keys: 1, [columns.map { _ in .integer(1) }]))
        }
        push(33, "a BLOB for an INTEGER of a STRICT table", .kept) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], [[.integer(33), .blob([1, 2]), .null]]))
        }
        push(33, "TEXT for an INTEGER of a STRICT table", .kept) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], [[.integer(34), .text("many"), .null]]))
        }
        push(33, "TEXT for the rowid", .kept) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], [[.text("key"), .integer(1), .null]]))
        }
        push(
            33, "a bad row and a good one in two transactions: the good one is shown",
            .applied(
                "SELECT count(*) = 1 FROM item WHERE id IN (35, 36)")
        ) { scene in
            try scene.push(
                scene.batch(
                    "item", ["id", "n", "u"], keys: 1,
                    [[.integer(35), .text("many"), .null], [.integer(36), .integer(1), .null]]))
        }
        push(33, "a key of another length than the table's", .kept) { scene in
            try scene.push(scene.batch("pair", ["a", "b", "c"], keys: 1, [[.integer(1), .integer(2), .integer(3)]]))
        }
        push(33, "all columns for the key", .kept) { scene in
            try scene.push { $0.shapes[0].keyCount = 3 }
        }
    }
}

extension PayloadEncoding: CustomStringConvertible {
    public var description: String {
        switch self {
        case .none: "no encoding"
        case .gzip: "gzip"
        case .zstd: "zstd"
        }
    }
}
