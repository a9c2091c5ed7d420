import Journal
import TestSupport
import Testing

@testable import MergeModel
@testable import Sync

extension MergedRow<Value> {
    fileprivate init(_ changes: [RowChange<Value>], policy: MergePolicy = .column, base: Base? = nil) {
        self.init(policy: policy, base: base)
        for change in changes { add(change) }
    }

    fileprivate static func mask(_ columns: [Int]) -> ColumnMask {
        columns.reduce(into: ColumnMask()) { $0.insert($1) }
    }

    /// Everything that a row can be asked, for comparison.
    fileprivate var answers: [String] {
        let row = self.row().map { "\($0.map { $0.map { "\($0)" } ?? "-" })" } ?? "undecided"
        let claims = (0..<8).map { bits in "\(claim(on: Self.mask((1...3).filter { bits >> ($0 - 1) & 1 == 1 })))" }
        return ["\(life) \(isAlive) \(isWhole) \(isContested) \(key)", row, "\(latestCells)"] + claims
    }
}

@Suite("One fold gives the row of a set of changes")
struct MergedRowTests {
    private static let policies: [MergePolicy] = [.column, .row, .custom("f")]

    @Test("the row depends on the set of changes, not on their order", arguments: policies)
    func order(policy: MergePolicy) {
        for seed in UInt64(1)...150 {
            var set = RandomSet(seed: seed, policy: policy)
            set.add(12)
            let expected = MergedRow(set.changes, policy: policy).answers
            for _ in 0..<4 { #expect(MergedRow(set.changes.shuffled(), policy: policy).answers == expected, "\(seed)") }
        }
    }

    @Test("merging change by change, in any order of delivery, ends at the same row")
    func merge() {
        for seed in UInt64(1)...300 {
            var set = RandomSet(seed: seed)
            set.add(14)
            for _ in 0..<3 {
                let delivery = set.delivery()
                #expect(delivery.count == set.changes.count)
                let row = MergedRow(set.changes)
                let merged = StepwiseRow(delivery)
                #expect(merged.isAlive == row.isAlive, "\(seed)")
                #expect(merged.columns == cells(row.row()), "\(seed)")
            }
        }
    }

    @Test("the reference model gives the same row")
    func reference() {
        for seed in UInt64(1)...300 {
            var set = RandomSet(seed: seed)
            set.add(14)
            let id = ReferenceRowID(table: "t", key: [1])
            let model = ReferenceRow(
                id,
                set.changes.map { change in
                    var columns = Dictionary(uniqueKeysWithValues: change.cells.map { ("c\($0.column)", $0.cell) })
                    if change.operation == .insert { columns["key"] = change.key[0] }
                    return ReferenceWrite(
                        origin: change.order.origin, version: change.version, stamp: change.order.stamp,
                        life: change.life, operation: change.operation, isKeyChange: false, isMinted: false,
                        isCovering: false,
                        migration: change.order.level == 0
                            ? nil : MigrationRank(name: "m", stamp: change.order.stamp, level: change.order.level),
                        row: id,
                        columns: columns,
                        keyColumns: ["key"], known: change.known)
                })
            let row = MergedRow(set.changes)
            #expect(model.isAlive == row.isAlive, "\(seed)")
            guard row.isAlive else { continue }
            #expect(model.hasInsert == row.isWhole, "\(seed)")
            var expected = model.values
            #expect(expected.removeValue(forKey: "key") == row.key[0], "\(seed)")
            #expect(
                expected
                    == Dictionary(uniqueKeysWithValues: (cells(row.row()) ?? [:]).map { ("c\($0.key)", $0.value) }),
                "\(seed)")
            for column in RandomSet.columns {
                let claim = row.claim(on: MergedRow<Value>.mask([column]))
                let reference = model.claim(on: ["c\(column)"])
                #expect(claim == reference ?? .eldest, "\(seed)")
            }
            // Only inserts carry the key.
            let reference = model.claim(on: ["key"])
            #expect(row.claim(on: MergedRow<Value>.mask([0])) == reference ?? .eldest, "\(seed)")
        }
    }

    @Test(
        "a base stands for its changes, for all writes of writers that have seen them",
        arguments: policies)
    func base(policy: MergePolicy) throws {
        for seed in UInt64(1)...300 {
            var set = RandomSet(seed: seed, policy: policy)
            set.add(8)
            let past = MergedRow(set.changes, policy: policy)
            let count = set.changes.count
            set.meet()
            set.add(8)
            // A function decides once what the base shows. In this test it takes the latest value of each
            // column.
            let shown = past.row() ?? past.latestCells
            guard policy != .custom("f") || !past.isContested else { continue }
            let winners = shown.enumerated().reduce(into: [Int: MergedRow<Value>.Winner]()) { winners, shown in
                guard let cell = shown.element else { return }
                // The base keeps the claims that a later clash may need.
                winners[shown.offset] = .init(
                    order: past.claim(on: MergedRow<Value>.mask([shown.offset])), cell: cell)
            }
            let base = MergedRow<Value>.Base(life: past.life, key: past.key, cells: winners)
            let whole = MergedRow(set.changes, policy: policy)
            let tail = Array(set.changes.dropFirst(count)).shuffled()
            let rebuilt = MergedRow(tail, policy: policy, base: base)
            #expect(rebuilt.life == whole.life && rebuilt.isWhole == whole.isWhole, "\(seed)")
            #expect(rebuilt.key == whole.key, "\(seed)")
            #expect(cells(rebuilt.row()) == cells(whole.row()), "\(seed)")
            for column in RandomSet.columns {
                let mask = MergedRow<Value>.mask([column])
                #expect(rebuilt.claim(on: mask) == whole.claim(on: mask), "\(seed)")
            }
        }
    }

    @Test("machines may spell and order columns differently")
    func spellings() {
        let shapes = [
            ["id", "a", "b", "c"], ["ID", "B", "C", "A"], ["Id", "c", "A", "b"], ["iD", "b", "a", "C", "only there"],
        ].map { TableShape(table: "t", columns: $0, keyCount: 1) }
        for seed in UInt64(1)...100 {
            var set = RandomSet(seed: seed)
            set.add(12)
            var space = ColumnSpace(columns: shapes[0].columns, keyCount: 1)
            let translated = set.changes.map { change in
                // The columns are numbered as in the writer's own shape, and mapped through the space.
                let writer = RandomSet.origins.firstIndex(of: change.order.origin) ?? 0
                let translation = space.translation(of: shapes[writer])
                var result = change
                result.cells = change.cells.compactMap { column, cell in
                    let name = SQLText.foldedName(shapes[0].columns[column])
                    return shapes[writer].columns.firstIndex { SQLText.foldedName($0) == name }
                        .map { (translation.positions[$0], cell) }
                }
                return result
            }
            #expect(MergedRow(translated).answers == MergedRow(set.changes).answers, "\(seed)")
        }
    }

    @Test("a shape with another key belongs to no row of the table; names that differ in their bytes are two columns")
    func columnSpace() {
        var space = ColumnSpace(columns: ["id", "caf\u{E9}"], keyCount: 1)
        #expect(space.translation(of: TableShape(table: "t", columns: ["id", "x"], keyCount: 1)).positions == [0, 2])
        #expect(!space.translation(of: TableShape(table: "t", columns: ["x", "id"], keyCount: 1)).hasSameKey)
        #expect(!space.translation(of: TableShape(table: "t", columns: ["id", "x"], keyCount: 2)).hasSameKey)
        let decomposed = TableShape(table: "t", columns: ["ID", "cafe\u{301}"], keyCount: 1)
        #expect(space.translation(of: decomposed).positions == [0, 3])
        #expect(space.translation(of: decomposed).hasSameKey)
    }

    private func cells(_ row: [Value?]?) -> [Int: Value]? {
        row?.enumerated().reduce(into: [:]) { $0[$1.offset] = $1.element }
    }
}

/// A row to which changes are merged one by one, as the engine does: each against those that its writer had
/// not seen.
private struct StepwiseRow {
    private(set) var isAlive = false
    private(set) var columns: [Int: Value] = [:]

    init(_ delivery: [RowChange<Value>]) {
        var here: [RowChange<Value>] = []
        var life: Int64 = 0
        for change in delivery {
            let unseen = here.filter {
                change.known[$0.order.origin] < $0.version && $0.order.origin != change.order.origin
            }
            switch Merge.effect(of: RowWrite(change), against: Contenders(unseen.map { RowWrite($0) })) {
            case .none: break
            case .delete:
                isAlive = false
                columns = [:]
            case .write(let mask):
                if change.life > life { columns = [:] }
                isAlive = true
                for (column, cell) in change.cells where mask.contains(column) { columns[column] = cell }
            }
            life = max(life, change.life)
            here.append(change)
        }
    }
}
