import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What one flipped bit makes of a value is told from what a program writes")
struct BitRotTests {
    /// A value of each class and length class.
    private static let values: [Value] = [
        .null, .integer(0), .integer(1), .integer(5), .integer(-1), .integer(-129), .integer(70_000), .integer(1 << 40),
        .integer(.max), .integer(.min), .real(2.5), .real(7), .real(-0.1), .text(""), .text("somebody 15"),
        .blob([]), .blob([1, 2, 3]), .text(String(repeating: "long ", count: 20)),
    ]

    /// Flips each bit of the only row's cell in a file, and reads the row by SQLite.
    ///
    /// - Parameters:
    ///   - schema: Makes the table t with one row, whose cell lies at the end of the second page of 1 024 bytes.
    ///   - cell: The number of bytes to go through, from that end.
    ///   - body: Gets the row where SQLite reads one with the key 1 and another content, and finds no damage.
    private func flipEachBit(_ schema: String, cell: Int, _ body: ([Value]) -> Void) throws {
        let directory = TemporaryDirectory()
        let source = try RawConnection(path: directory.file("t"))
        try source.run("PRAGMA page_size = 1024;" + schema)
        let stored = try source.rows("SELECT * FROM t")
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: directory.file("t"))))
        for offset in 2_048 - cell..<2_048 {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[offset] ^= 1 << UInt8(bit)
                try Data(flipped).write(to: URL(fileURLWithPath: directory.file("copy")))
                let copy = try RawConnection(path: directory.file("copy"))
                guard let rows = try? copy.rows("SELECT * FROM t"), rows.count == 1, rows[0][0] == .integer(1),
                    rows != stored, (try? copy.rows("PRAGMA integrity_check")) == [[.text("ok")]]
                else { continue }
                body(rows[0])
            }
        }
    }

    @Test("each bit of a record that SQLite reads as another value counts as bit rot", arguments: values)
    func everyBit(value: Value) throws {
        var found = 0
        let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, \(literal(value)))"
        try flipEachBit(schema, cell: value.weight + 8) { row in
            found += 1
            #expect(BitRot.isOneFlip(from: value, to: row[1]), "\(value) became \(row[1])")
        }
        #expect(found > 0)
    }

    @Test("each bit of a record of several columns counts as bit rot")
    func severalColumns() throws {
        let schema = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT DEFAULT 'a', w DEFAULT 7);
            INSERT INTO t VALUES (1, 'b', 'c')
            """
        let stored: [Value] = [.integer(1), .text("b"), .text("c")]
        let missing: [Value] = [.null, .text("a"), .integer(7)]
        var found: Set<Int> = []
        try flipEachBit(schema, cell: 12) { row in
            found.insert(stored.indices.count { row[$0] != stored[$0] })
            #expect(BitRot.isOneFlip(of: stored, to: row, missing: missing, rowID: 0), "\(row)")
        }
        #expect(found == [1, 2])
    }

    private func literal(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): number == .min ? "-9223372036854775807 - 1" : "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
        case .blob(let bytes): "x'" + bytes.map { "0\($0)" }.joined() + "'"
        }
    }

    @Test(
        "what differs in more than a bit is a write",
        arguments: [
            (Value.text("older"), Value.text("later")), (.integer(3), .integer(77)), (.real(1), .real(77)),
            (.null, .text("x")), (.text("somebody 3"), .text("here")), (.blob([1, 2]), .blob([2, 1])),
            (.integer(5), .text("5")), (.null, .real(0.5)),
        ])
    func writes(stored: Value, read: Value) {
        #expect(!BitRot.isOneFlip(from: stored, to: read))
        let (before, after): ([Value], [Value]) = ([.integer(1), stored, .text("a")], [.integer(1), read, .text("c")])
        #expect(!BitRot.isOneFlip(of: before, to: after, missing: [.null, .text("-"), .text("-")], rowID: 0))
    }
}
