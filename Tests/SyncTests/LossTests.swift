import Journal
import TestSupport
import Testing

@testable import MergeModel
@testable import Sync

@Suite("What changes of one row lose")
struct LossTests {
    @Test("is what a comparison of each pair finds, whatever part of the changes arrives", arguments: [false, true])
    func pairs(losesWhole: Bool) {
        for seed in UInt64(1)...400 {
            var set = RandomSet(seed: seed)
            set.add(14)
            var random = SplitMix(seed: seed)
            let changes = set.changes.shuffled(using: &random)
            for arrived in [1, 5, changes.count] {
                let pairs = Pairs(changes, arrived: arrived, losesWhole: losesWhole)
                #expect(losses(changes, arrived, losesWhole) == pairs.losses, "\(seed) \(arrived)")
            }
        }
    }

    @Test("is found by few reads and steps where two writers write one column again and again")
    func cost() {
        let counts = [500, 2_000].map { count -> Int in
            var reads = 0
            let changes = (0..<count * 2).map { number in
                change(number, by: number % 2, RandomSet.origins, value: Int64(number / 3))
            }
            let losses = Merge.losses(among: changes, arrived: count, keyCount: 1) { index, _ in
                reads += 1
                return .integer(changes[index].write.order.stamp.rawValue / 3)
            }
            #expect(losses.count == count)
            return reads
        }
        #expect(counts[1] < counts[0] * 5, "\(counts)")
    }

    private func change(_ number: Int, by writer: Int, _ origins: [OriginID], value: Int64) -> Merge.Participant {
        let write = RowWrite(
            order: WriteOrder(stamp: Stamp(rawValue: Int64(number)), origin: origins[writer]),
            version: Int64(number / 2 + 1), life: 1, operation: .update, columns: ColumnMask(words: [2]))
        return Merge.Participant(write, known: VersionVector())
    }

    private func losses(_ changes: [RandomSet.Change], _ arrived: Int, _ losesWhole: Bool) -> [Loss] {
        Merge.losses(
            among: changes.map { .init(RowWrite($0), known: $0.known) }, arrived: arrived, keyCount: 1,
            losesWhole: losesWhole,
            value: { index, column in changes[index].cells.first { $0.column == column }?.cell ?? .null })
    }
}

/// The rules of `docs/CONFLICTS.md` read literally: each change is compared with each other one.
private struct Pairs {
    private(set) var losses: [Loss] = []
    private let changes: [RandomSet.Change]
    private let losesWhole: Bool

    init(_ changes: [RandomSet.Change], arrived: Int, losesWhole: Bool) {
        self.changes = changes
        self.losesWhole = losesWhole
        for loser in changes.indices where changes[loser].order.level == 0 {
            let winners = changes.indices.filter { $0 != loser && min($0, loser) < arrived && beats($0, loser) }
            let taken = winners.map { ($0, lost(by: loser, to: $0)) }.filter { $0.1 != nil }
            guard let winner = taken.map(\.0).max(by: { rank($0) < rank($1) }) else { continue }
            var columns = ColumnMask()
            for (_, some) in taken { columns.formUnion(some ?? ColumnMask()) }
            let isOtherLife = changes[winner].life != changes[loser].life
            let bothInsert = [winner, loser].allSatisfy { changes[$0].operation == .insert }
            losses.append(
                Loss(
                    loser: loser, winner: winner,
                    kind: isOtherLife ? .updateDelete : bothInsert ? .insertInsert : .updateUpdate, columns: columns))
        }
    }

    private func rank(_ index: Int) -> (Int64, WriteOrder) { (changes[index].life, changes[index].order) }

    /// True when the two are concurrent, and `winner` is of a later life, or later in the same one.
    private func beats(_ winner: Int, _ loser: Int) -> Bool {
        func knows(_ a: Int, _ b: Int) -> Bool {
            let (a, b) = (changes[a], changes[b])
            return a.order.origin == b.order.origin || a.known[b.order.origin] >= b.version
        }
        return !knows(winner, loser) && !knows(loser, winner) && rank(loser) < rank(winner)
    }

    /// nil when nothing is lost.
    private func lost(by loser: Int, to winner: Int) -> ColumnMask? {
        let (loser, winner) = (changes[loser], changes[winner])
        guard loser.life % 2 == 1 else { return nil }
        let own = loser.cells.filter { $0.column > 0 }
        let lost = own.filter { cell in
            guard loser.life == winner.life else { return true }
            let other = winner.cells.first { $0.column == cell.column }
            return other.map { $0.cell != cell.cell } ?? losesWhole
        }
        if lost.isEmpty, loser.life == winner.life { return nil }
        return lost.reduce(into: ColumnMask()) { $0.insert($1.column) }
    }
}
