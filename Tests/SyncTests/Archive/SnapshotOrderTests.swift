import Journal
import Testing

@testable import Sync

@Suite("Which of an archive's snapshots is newer")
struct SnapshotOrderTests {
    private struct Dated: DatedSnapshot, Hashable {
        let name: String
        let vector: VersionVector
        let date: Int

        init(_ name: String, _ a: Int64, _ b: Int64 = 0, date: Int) {
            self.name = name
            vector = VersionVector(
                [(UInt64(1), a), (2, b)].filter { $0.1 > 0 }.map {
                    .init(origin: .init(high: $0.0, low: 1), version: $0.1)
                })
            self.date = date
        }

        func isDatedBefore(_ other: Dated) -> Bool { (date, name) < (other.date, other.name) }
    }

    private func sorted(_ snapshots: Dated...) -> [String] {
        let orders = [snapshots, snapshots.reversed()].map { SnapshotOrder.sorted($0).map(\.name) }
        #expect(orders[0] == orders[1])
        return orders[0]
    }

    @Test("the date decides between two that have the same, and between two of which each has what the other lacks")
    func byDate() {
        #expect(sorted(Dated("x", 3, date: 5), Dated("y", 3, date: 4)) == ["y", "x"])
        #expect(sorted(Dated("x", 3, date: 5), Dated("y", 1, 1, date: 4)) == ["y", "x"])
        #expect(sorted(Dated("x", 3, date: 5), Dated("y", 3, date: 5)) == ["x", "y"])
        #expect(SnapshotOrder.newest([Dated]()) == nil)
    }

    @Test("one that has more is newer, whatever the dates are")
    func byContent() {
        let ahead = Dated("ahead", 1, date: 1_000)
        #expect(sorted(ahead, Dated("x", 2, date: 5), Dated("y", 3, date: 4)) == ["ahead", "x", "y"])
        // Of those that have more than the one that is ahead, the one that has most.
        #expect(
            SnapshotOrder.newest([ahead, Dated("x", 2, date: 5), Dated("y", 3, 1, date: 4), Dated("z", 0, 9, date: 6)])?
                .name == "y")
    }
}
