import Journal
import TestSupport

@testable import MergeModel
@testable import Sync

/// Random sets of changes of one key, by writers that sometimes learn what another one knows.
struct RandomSet {
    typealias Change = RowChange<Value>

    static let origins = (1...4).map { OriginID(high: UInt64($0), low: 1) }
    /// The columns without the key, which is column 0.
    static let columns = 1...3

    var changes: [Change] = []
    private var known = origins.map { _ in VersionVector() }
    private var stamps = origins.map { _ in Int64(0) }
    private var random: SplitMix

    /// True when some updates are migrations'.
    private let hasMigrations: Bool

    init(seed: UInt64, policy: MergePolicy = .column) {
        random = SplitMix(seed: seed)
        hasMigrations = policy == .column
    }

    mutating func add(_ count: Int) {
        for _ in 0..<count {
            let writer = random.below(4)
            if random.chance(35) { learn(writer, from: random.below(4)) }
            write(writer)
        }
    }

    /// Lets all writers learn everything: every later write has seen all earlier changes.
    mutating func meet() {
        for writer in 0..<4 { for other in 0..<4 { learn(writer, from: other) } }
    }

    private mutating func learn(_ writer: Int, from other: Int) {
        known[writer].merge(known[other])
        stamps[writer] = max(stamps[writer], stamps[other])
    }

    private mutating func write(_ writer: Int) {
        let origin = Self.origins[writer]
        let before = known[writer]
        let seen = changes.filter { before[$0.order.origin] >= $0.version }
        let life = seen.map(\.life).max() ?? 0
        let isAlive = life % 2 == 1
        let operation: Journal.Operation = !isAlive ? .insert : random.chance(15) ? .delete : .update
        stamps[writer] += 1 + Int64(random.below(5))
        known[writer].advance(origin, to: before[origin] + 1)
        let carried = operation == .delete ? [] : Self.columns.filter { _ in operation == .insert || random.chance(50) }
        var order = WriteOrder(stamp: Stamp(rawValue: stamps[writer]), origin: origin)
        if operation == .update, hasMigrations, random.chance(30) {
            order = rank(carried, origin, among: seen, life: life)
        }
        changes.append(
            Change(
                order: order, version: before[origin] + 1,
                known: before, life: operation == .update ? life : life + 1, operation: operation,
                key: [.text(Array((random.chance(50) ? "key" : "KEY").utf8)[...])],
                cells: carried.map { ($0, .integer(Int64(random.below(4)))) }))
    }

    /// The order of a migration's update: directly after what it found.
    private func rank(_ columns: [Int], _ origin: OriginID, among seen: [Change], life: Int64) -> WriteOrder {
        let row = seen.filter { $0.life == life }
        let found = row.filter { $0.cells.contains { columns.contains($0.column) } }
        return WriteOrder(
            stamp: found.map(\.order.stamp).max() ?? .zero, origin: origin,
            level: 1 + (row.map(\.order.level).max() ?? 0))
    }

    /// The changes in an order in which each follows all that its writer had seen.
    mutating func delivery() -> [Change] {
        var rest = changes.shuffled(using: &random)
        var delivered: [Change] = []
        var have = VersionVector()
        while let next = rest.firstIndex(where: { change in
            have[change.order.origin] == change.version - 1 && have.covers(change.known)
        }) {
            let change = rest.remove(at: next)
            have.advance(change.order.origin, to: change.version)
            delivered.append(change)
        }
        return delivered
    }
}

extension RowWrite {
    init(_ change: RowChange<Value>) {
        self.init(
            order: change.order, version: change.version, life: change.life, operation: change.operation,
            columns: change.cells.reduce(into: ColumnMask()) { $0.insert($1.column) })
    }
}
