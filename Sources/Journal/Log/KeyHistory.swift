/// The changes of one key in its present life, and their merged row under a policy other than
/// ``MergePolicy/column``.
///
/// It is pure: the row depends only on the set of changes. The *past* of a change is the set of changes of
/// the key that its writer had seen. A past that contains a change also contains that change's past, and of
/// each origin it contains all changes up to one version. So the newest change of each origin describes a
/// past, and no past is stored. Thousands of changes of one row cost one step each, without recursion.
///
/// `Cell` is a value, or the place where one is stored.
package struct KeyHistory<Cell> {
    package struct Change {
        package let order: WriteOrder
        /// The version of the change. The base of a row has version 0, which every writer knows.
        package let version: Int64
        /// The causal context: what the writer had merged.
        package let known: VersionVector
        /// The values by column of the table's ``ColumnSpace``, without the key.
        package let cells: [Int: Cell]

        package init(order: WriteOrder, version: Int64, known: VersionVector, cells: [Int: Cell]) {
            self.order = order
            self.version = version
            self.known = known
            self.cells = cells
        }

        package func knows(_ other: Change) -> Bool {
            let origin = other.order.origin
            return origin == order.origin ? version > other.version : known[origin] >= other.version
        }
    }

    package typealias Image = [Int: Cell]

    /// The changes, earliest first. The stamp of a change is later than those that its writer had seen, so
    /// each change comes after its past.
    package let changes: [Change]
    /// The indices in ``changes`` by origin, in order of version.
    private let byOrigin: [OriginID: [Int]]

    /// - Parameter changes: In any order, each once.
    package init(changes: [Change]) {
        let changes = changes.sorted {
            $0.order == $1.order ? $0.version < $1.version : $0.order < $1.order
        }
        self.changes = changes
        byOrigin = Dictionary(grouping: changes.indices) { changes[$0].order.origin }
            .mapValues { $0.sorted { changes[$0].version < changes[$1].version } }
    }

    /// True when two of the changes are concurrent. Without a conflict, the writer of each change had seen
    /// the change before it.
    package var hasConflict: Bool {
        zip(changes.dropFirst(), changes).contains { !$0.knows($1) }
    }

    /// Returns the same changes with transformed cells.
    package func map<Other>(_ transform: (Cell) throws -> Other) rethrows -> KeyHistory<Other> {
        KeyHistory<Other>(
            changes: try changes.map {
                .init(order: $0.order, version: $0.version, known: $0.known, cells: try $0.cells.mapValues(transform))
            })
    }

    /// Returns the row by last writer wins for whole rows: as the writer of the latest change saw it.
    ///
    /// The latest change overwrites the row of its past, which follows from the same rule.
    package func latestRow() -> Image {
        let columns = changes.reduce(into: Set<Int>()) { $0.formUnion($1.cells.keys) }
        var image: Image = [:]
        var latest = changes.indices.last
        while let index = latest, image.count < columns.count {
            image.merge(changes[index].cells) { newer, _ in newer }
            latest = newestOfEachOrigin(seenBy: index).max()
        }
        return image
    }

    /// Returns the row that results when `resolve` merges concurrent versions, from the earliest to the
    /// latest.
    ///
    /// A change whose writer had seen several versions overwrites the result of `resolve` for them. So no
    /// pair is resolved twice.
    package func row(resolvedBy resolve: (_ earlier: Image, _ later: Image) -> Image) -> Image {
        var versions: [Image] = []
        var resolved: [[Int]: Image] = [:]
        func row(of heads: [Int]) -> Image {
            guard heads.count > 1 else { return heads.first.map { versions[$0] } ?? [:] }
            if let image = resolved[heads] { return image }
            let image = heads.dropFirst().reduce(versions[heads[0]]) { resolve($0, versions[$1]) }
            resolved[heads] = image
            return image
        }
        for index in changes.indices {
            let past = row(of: heads(among: newestOfEachOrigin(seenBy: index)))
            versions.append(past.merging(changes[index].cells) { $1 })
        }
        return row(of: heads(among: byOrigin.values.compactMap(\.last)))
    }

    /// Returns the candidates that no other candidate's writer had seen, the earliest first.
    private func heads(among candidates: [Int]) -> [Int] {
        var heads: [Int] = []
        for candidate in candidates.sorted(by: >)
        where !heads.contains(where: { changes[$0].knows(changes[candidate]) }) {
            heads.append(candidate)
        }
        return heads.reversed()
    }

    /// Returns the newest change of each origin that the writer of the change at `index` had seen.
    private func newestOfEachOrigin(seenBy index: Int) -> [Int] {
        byOrigin.values.compactMap { positions in
            // A writer sees the versions of one origin in order, so a binary search finds the first one that
            // it had not seen.
            var range = positions.startIndex..<positions.endIndex
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range =
                    changes[index].knows(changes[positions[middle]])
                    ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            // A causal context that contradicts the stamps, which no honest writer has, is ignored.
            return positions[..<range.lowerBound].last { $0 < index }
        }
    }
}
