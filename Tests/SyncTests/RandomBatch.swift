import Journal
import TestSupport

/// Values that other formats lose.
let awkwardValues: [Value] = [
    .null, .integer(0), .integer(1), .integer(-1), .integer(.max), .integer(.min), .integer(1 << 53 + 1),
    .real(0), .real(-0.0), .real(1), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), .real(0.1),
    .text(""), .text("a"), .text("A\u{0}B"), .text("e\u{301}"), .text("\u{e9}"), .text("\u{feff}x"), .text("😀"),
    .text([0xC3, 0x28]), .text([0xFF, 0xFE, 0x00]), .text([0xED, 0xA0, 0x80]),
    .blob([]), .blob([0]), .blob([0xFF, 0x00, 0x80]), .blob(Bytes(repeating: 7, count: 300)),
]

extension ChangeBatch {
    /// Makes a batch that keeps the invariants, with everything that a batch may have.
    static func random(changes count: Int, using generator: inout SplitMix) -> ChangeBatch {
        var batch = ChangeBatch()
        let origins = (0..<4).map { OriginID(high: UInt64($0) + 1, low: generator.next()) }
        let names = ["person", "Größe 测试", "select", "a\"b'c", "x y"]
        for index in 0..<Int.random(in: 1...4, using: &generator) {
            let width = index == 3 && count > 10 ? 130 : Int.random(in: 1...7, using: &generator)
            batch.shapes.append(
                TableShape(
                    table: names[index], columns: (0..<width).map { "column \($0)" },
                    keyCount: Int.random(in: 1...min(width, 3), using: &generator)))
        }
        var next = origins.map { _ in Int64.random(in: 1...1_000, using: &generator) }
        var known = origins.map { _ in VersionVector() }
        var stamp = Int64.random(in: 1...(1 << 50), using: &generator)
        while batch.changes.count < count {
            let origin = Int.random(in: origins.indices, using: &generator)
            let length = min(Int.random(in: 1...20, using: &generator), count - batch.changes.count)
            let other = (origin + 1) % origins.count
            if Bool.random(using: &generator) {
                known[origin].advance(origins[other], to: Int64.random(in: 1...9_999, using: &generator))
            } else if Int.random(in: 0..<8, using: &generator) == 0 {
                known[origin] = VersionVector()
            }
            let first = batch.changes.count
            for _ in 0..<length { batch.appendRandomChange(after: &stamp, using: &generator) }
            batch.runs.append(
                Run(
                    origin: origins[origin], firstVersion: next[origin], changes: first..<batch.changes.count,
                    known: known[origin]))
            next[origin] += Int64(length)
        }
        return batch
    }

    private mutating func appendRandomChange(after stamp: inout Int64, using generator: inout SplitMix) {
        let index = Int.random(in: shapes.indices, using: &generator)
        let shape = shapes[index]
        let operation: Journal.Operation = [.insert, .update, .delete][Int.random(in: 0..<3, using: &generator)]
        var mask = operation == .insert ? ColumnMask(all: shape.columns.count) : ColumnMask()
        if operation == .update {
            for column in shape.keyCount..<max(shape.columns.count, shape.keyCount)
            where Bool.random(using: &generator) { mask.insert(column) }
        }
        let first = values.count
        var carried = shape.keyCount
        mask.forEach { if $0 >= shape.keyCount { carried += 1 } }
        for _ in 0..<carried {
            values.append(awkwardValues[Int.random(in: awkwardValues.indices, using: &generator)])
        }
        stamp += Int64.random(in: -5...100_000, using: &generator)
        stamp = max(stamp, 1)
        let lives = Int64.random(in: 0..<10, using: &generator) == 0 ? Int64.random(in: 1...9, using: &generator) : 0
        changes.append(
            Change(
                shape: index, operation: operation, life: (operation == .delete ? 2 : 1) + 2 * lives,
                stamp: Stamp(rawValue: stamp), mask: mask, values: first..<values.count,
                endsTransaction: Int.random(in: 0..<3, using: &generator) == 0))
    }

    /// The bits of every value: `==` of values treats -0.0 as 0.0.
    var valueBits: [String] {
        values.map { value in
            if case .real(let number) = value { return "real \(number.bitPattern)" }
            return "\(value)"
        }
    }
}
