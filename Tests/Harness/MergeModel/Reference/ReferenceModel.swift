import Journal

/// What a replica must hold, as a function of the changes that it knows and its schema.
///
/// The model follows the definition of merging and of visible rows, and shares no code with the engine that
/// it checks. It loops over everything; histories are short.
package struct ReferenceModel {
    package let writes: [ReferenceWrite]
    package let schema: ReferenceSchema

    /// The visible rows, each with all its columns.
    package let shown: [ReferenceRowID: [String: Value]]
    /// The rows that are alive and not visible, with the reason.
    package let held: [ReferenceRowID: String]
    package let conflicts: [ReferenceConflict]
    private let keys: ReferenceKeys
    private static let shortHistory = 200

    /// - Parameter writes: In any order.
    package init(_ writes: [ReferenceWrite], schema: ReferenceSchema) {
        self.writes = writes
        self.schema = schema
        keys = ReferenceKeys(writes, schema: schema)
        let view = ReferenceView(ReferenceMerge.rows(keys.writes), schema: schema)
        shown = view.shown
        held = view.held
        // A change that lost values has one entry, which is about them.
        let lost = ReferenceMerge.conflicts(keys.writes)
        let names = Set(lost.map(\.lost.name))
        conflicts = lost + keys.moves.filter { !names.contains($0.lost.name) }
    }

    /// The latest write of its columns that an update of a migration found, after which it must count. nil for a user's
    /// change, and where keys that several machines gave make the row another one than its writer's.
    private func latestFound(by write: ReferenceWrite, _ seen: [ReferenceWrite]) -> WriteOrder? {
        guard write.migration != nil, !keys.isContested(write.row), !write.isCovering else { return nil }
        let row = seen.filter { $0.row == write.row && $0.life == write.life }
        let found = row.filter { !Set($0.columns.keys).subtracting($0.keyColumns).isDisjoint(with: write.columns.keys) }
        return found.map(\.order).max() ?? WriteOrder(stamp: .zero, origin: write.origin)
    }

    /// Levels rise by as much as a writer knows: a compacted journal does not have all earlier ones.
    private func isRanked(_ write: ReferenceWrite, after found: WriteOrder) -> Bool {
        write.order.stamp == found.stamp && write.order.level > found.level
    }

    /// A column in which an update of a migration changes a value that came from the migration of that name on another
    /// machine; nil when there is none.
    private func columnThatRepeats(_ write: ReferenceWrite, _ seen: [ReferenceWrite]) -> String? {
        guard let name = write.migration?.name, !keys.isContested(write.row) else { return nil }
        let row = seen.filter { $0.row == write.row && $0.life == write.life }
        // The journal of its writer may hold a reference with another value.
        return write.columns.keys.sorted().filter { !$0.hasPrefix("f") }.first { column in
            let found = row.filter { $0.columns[column] != nil }
            guard let latest = found.max(by: { $0.isWeaker(than: $1) }), latest.origin != write.origin else {
                return false
            }
            // What was written over it may be all that a compacted journal has.
            return latest.migration?.name == name && latest.columns[column] != write.columns[column]
        }
    }

    /// Broken rules of stamps and lives, as text: a stamp is greater than all that its writer knew, and a
    /// life follows from the lives that its writer knew.
    ///
    /// Lives can only be checked once everything is here that the writer knew. A writer that lost a part of
    /// it with a restored file may get later changes before it gets that part again.
    package var brokenRules: [String] {
        let latest = Dictionary(writes.map { ($0.origin, $0.version) }, uniquingKeysWith: max)
        return writes.flatMap { write -> [String] in
            var broken: [String] = []
            let seen = writes.filter { write.saw($0) }
            if let later = seen.first(where: { $0.stamp >= write.stamp }) {
                broken.append("\(write.name) has no later stamp than \(later.name), which it had seen")
            }
            guard write.known.entries.allSatisfy({ latest[$0.origin, default: 0] >= $0.version }) else { return broken }
            // A replica without the table does not tell which rows moved there.
            guard schema.table(write.row.table) != nil else { return broken }
            if let found = latestFound(by: write, seen), !isRanked(write, after: found) {
                broken.append("\(write.name) is not ranked after \(found.stamp.plain) with level \(found.level)")
            }
            if let column = columnThatRepeats(write, seen) {
                broken.append("\(write.name) repeats in \(column) what its migration had done elsewhere")
            }
            // A key means what it meant on the writer's machine. That is computed for each writer, so only in the short
            // histories of `merge-random`.
            guard !keys.isContested(write.row) || writes.count <= ReferenceModel.shortHistory else { return broken }
            // An insert that took a held row's key goes on with the life of that row, which then leaves the key.
            let here = write.isCovering ? seen : seen + [write]
            let meant = keys.isContested(write.row) ? ReferenceKeys(here, schema: schema).writes : here
            let row = write.isCovering ? write.row : meant.last?.row
            let before = zip(here, meant).filter { $0 != write && $1.row == row }.map(\.1.life).max() ?? 1
            let isAlive = before % 2 == 1
            let expected =
                switch write.operation {
                // An update of a dead key comes from a row that takes this key; its insert follows.
                case .insert, .update: isAlive ? before : before + 1
                case .delete: isAlive ? before + 1 : before
                }
            if write.life != expected {
                broken.append("\(write.name) has life \(write.life); by what it had seen, \(expected)")
            }
            return broken
        }
    }
}
