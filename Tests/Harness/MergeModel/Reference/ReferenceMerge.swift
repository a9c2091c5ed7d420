import Journal

/// The name of a row: its table, and its key in canonical bytes.
package struct ReferenceRowID: Hashable, Sendable {
    package let table: String
    package let key: [UInt8]
}

/// One delivered change, with what its writer knew.
package struct ReferenceWrite: Hashable, Sendable {
    package let origin: OriginID
    package let version: Int64
    package let stamp: Stamp
    package let life: Int64
    package let operation: Journal.Operation
    /// True for a delete that gave the row another key.
    let isKeyChange: Bool
    /// True for an insert whose key SQLite chose.
    let isMinted: Bool
    /// True for a minted insert whose key a row had that was held on the writer's machine.
    let isCovering: Bool
    /// What an update has of the migration that wrote it; nil for a user's.
    package let migration: MigrationRank?
    package var row: ReferenceRowID
    /// The values that the change carries. Only an insert has the key columns.
    package var columns: [String: Value]
    let keyColumns: Set<String>
    package let known: VersionVector

    package var name: String { "\(origin.short):\(version)" }

    func saw(_ other: ReferenceWrite) -> Bool {
        other.origin == origin ? other.version < version : known[other.origin] >= other.version
    }

    /// True when neither writer had seen the other change.
    func isConcurrent(with other: ReferenceWrite) -> Bool { self != other && !saw(other) && !other.saw(self) }

    /// The order in which changes win.
    func isWeaker(than other: ReferenceWrite) -> Bool { (life, order) < (other.life, other.order) }

    /// A migration's change counts directly after what it found.
    var order: WriteOrder {
        WriteOrder(stamp: migration?.stamp ?? stamp, origin: origin, level: migration?.level ?? 0)
    }
}

/// A row after merging, before constraints.
struct ReferenceRow: Sendable {
    let id: ReferenceRowID
    /// The changes of the greatest life, weakest first.
    let writes: [ReferenceWrite]

    /// - Parameter all: Every delivered change of the row.
    init(_ id: ReferenceRowID, _ all: [ReferenceWrite]) {
        let life = all.map(\.life).max()
        self.id = id
        writes = all.filter { $0.life == life }.sorted { $0.isWeaker(than: $1) }
    }

    var isAlive: Bool { writes.allSatisfy { $0.life % 2 == 1 } }
    var hasInsert: Bool { writes.contains { $0.operation == .insert } }

    /// In each column the change with the greatest order wins.
    var values: [String: Value] {
        writes.reduce(into: [:]) { $0.merge($1.columns) { _, later in later } }
    }

    /// The greatest order of the changes that carry one of `columns`; nil when no change does.
    func claim(on columns: Set<String>) -> WriteOrder? {
        writes.last { !columns.isDisjoint(with: $0.columns.keys) }.map(\.order)
    }
}

/// A change that lost against concurrent changes.
package struct ReferenceConflict: Hashable, Sendable {
    package let lost: ReferenceWrite
    package let kind: String
    /// The lost columns, without the key.
    let columns: Set<String>
    /// The strongest change that won against it.
    let kept: ReferenceWrite
    /// The key that the change lost, when it lost nothing else.
    var lostKey: Int64?
}

enum ReferenceMerge {
    static func rows(_ writes: [ReferenceWrite]) -> [ReferenceRow] {
        Dictionary(grouping: writes, by: \.row).map { ReferenceRow($0, $1) }
    }

    static func conflicts(_ writes: [ReferenceWrite]) -> [ReferenceConflict] {
        Dictionary(grouping: writes, by: \.row).values.flatMap { group in
            group.compactMap { conflict(of: $0, among: group) }
        }
    }

    private static func conflict(of write: ReferenceWrite, among others: [ReferenceWrite]) -> ReferenceConflict? {
        // A delete has no value to lose, and a migration's update is nobody's edit.
        guard write.operation != .delete, write.migration == nil else { return nil }
        let own = Set(write.columns.keys).subtracting(write.keyColumns)
        var columns: Set<String> = []
        var winners: [ReferenceWrite] = []
        for other in others where write.isConcurrent(with: other) && write.isWeaker(than: other) {
            if other.life > write.life {
                columns.formUnion(own)
                winners.append(other)
            } else {
                let lost = own.filter { name in other.columns[name].map { $0 != write.columns[name] } ?? false }
                columns.formUnion(lost)
                if !lost.isEmpty { winners.append(other) }
            }
        }
        guard let kept = winners.max(by: { $0.isWeaker(than: $1) }) else { return nil }
        let kind =
            kept.life > write.life
            ? kept.isKeyChange ? "key change" : "update/delete"
            : write.operation == .insert && kept.operation == .insert ? "insert/insert" : "update/update"
        return ReferenceConflict(lost: write, kind: kind, columns: columns, kept: kept)
    }
}
