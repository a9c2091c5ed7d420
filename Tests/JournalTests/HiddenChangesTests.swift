import Journal
import Testing

@Suite("Hidden changes")
struct HiddenChangesTests {
    private let here = OriginID(high: 1, low: 1)

    private func change(_ shape: Int, _ values: Range<Int>, ends: Bool, migration: MigrationRank? = nil) -> Change {
        Change(
            shape: shape, operation: .update, life: 3, stamp: Stamp(rawValue: Int64(values.lowerBound + 1)),
            mask: ColumnMask(words: [0b10]), values: values, endsTransaction: ends, migration: migration)
    }

    private var batch: ChangeBatch {
        var batch = ChangeBatch()
        batch.shapes = [
            TableShape(table: "zebra", columns: ["id", "okapi"], keyCount: 1),
            TableShape(table: "price", columns: ["id", "cents"], keyCount: 1),
        ]
        batch.values = ["z", "giraffe", "a", "1", "y", "giraffe"].map { .text($0) }
        batch.changes = [
            change(0, 0..<2, ends: false, migration: MigrationRank(name: "m", stamp: .zero, level: 1)),
            change(1, 2..<4, ends: false), change(0, 4..<6, ends: true),
        ]
        batch.runs = [Run(origin: here, firstVersion: 7, changes: 0..<3, known: VersionVector())]
        return batch
    }

    @Test("keep versions, stamps and the ends of transactions, and nothing else")
    func keeps() {
        let hidden = batch.hiding { $0 == "zebra" }
        #expect(hidden.checkInvariants() == nil && hidden.hasHiddenChanges)
        #expect(hidden.runs == batch.runs)
        #expect(hidden.shapes == [batch.shapes[1], .hidden])
        #expect(hidden.changes.map(\.stamp) == batch.changes.map(\.stamp))
        #expect(hidden.changes.map(\.endsTransaction) == [false, false, true])
        #expect(hidden.changes.map { hidden.shapes[$0.shape].isHidden } == [true, false, true])
        #expect(hidden.values == [.integer(7), .text("a"), .text("1"), .integer(9)])
        #expect(hidden.changes.allSatisfy { $0.migration == nil })
    }

    @Test("stay hidden, and a batch without any is the same")
    func again() {
        let hidden = batch.hiding { $0 == "zebra" }
        #expect(hidden.hiding { $0 == "zebra" } == hidden)
        #expect(batch.hiding { $0 == "wolf" } == batch && !batch.hasHiddenChanges)
        let all = batch.hiding { _ in true }
        #expect(all.shapes == [.hidden] && all.checkInvariants() == nil)
    }
}
