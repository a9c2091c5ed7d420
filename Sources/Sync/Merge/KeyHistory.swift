import Journal

/// The changes of one key in its present life, and the row that they make under a policy other than last-writer-wins per column.
///
/// Pure: the row depends on the set of changes only. The *past* of a change is what its writer had seen of the key. A past holds with each
/// change the whole past of that change, and of each origin the changes up to some version: so it is told by the newest change of
/// each origin, and is never written out. Thousands of changes of one row cost a step each, and no depth of the stack.
struct KeyHistory {
    struct Change {
        let claim: WriteOrder
        let version: Int64
        /// What the writer had merged.
        let known: VersionVector
        /// By position in the table's common column space, without the key.
        let values: [Int: Value]

        func knows(_ other: Change) -> Bool {
            let origin = other.claim.origin
            return origin == claim.origin ? version > other.version : known[origin] >= other.version
        }
    }

    typealias Image = [Int: Value]

    /// The earliest claim first. Who has seen a change has a later claim (the stamps of a hybrid clock), so each stands behind its past.
    let changes: [Change]
    /// Positions in ``changes`` by origin, the oldest version first.
    private let byOrigin: [OriginID: [Int]]

    init(changes: [Change]) {
        let changes = changes.sorted {
            $0.claim == $1.claim ? $0.version < $1.version : $0.claim < $1.claim
        }
        self.changes = changes
        byOrigin = Dictionary(grouping: changes.indices) { changes[$0].claim.origin }
            .mapValues { $0.sorted { changes[$0].version < changes[$1].version } }
    }

    /// True when two of the changes have not seen each other; else each knows the one with the claim before.
    var hasConflict: Bool {
        zip(changes.dropFirst(), changes).contains { !$0.knows($1) }
    }

    /// Last writer wins by the row: the row as the writer of the latest change saw it.
    ///
    /// That is the change over the row of its past, where in turn the latest change counts, and so on.
    func latestRow() -> Image {
        let columns = changes.reduce(into: Set<Int>()) { $0.formUnion($1.values.keys) }
        var image: Image = [:]
        var latest = changes.indices.last
        while let index = latest, image.count < columns.count {
            image.merge(changes[index].values) { newer, _ in newer }
            latest = newestOfEachOrigin(seenBy: index).max()
        }
        return image
    }

    /// The row that `resolve` makes of versions that have not seen each other, from the earlier claim to the later.
    ///
    /// A change by a writer who had seen several versions stands over what `resolve` made of them, so nothing is resolved twice.
    func row(resolvedBy resolve: (_ earlier: Image, _ later: Image) -> Image) -> Image {
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
            versions.append(past.merging(changes[index].values) { $1 })
        }
        return row(of: heads(among: byOrigin.values.compactMap(\.last)))
    }

    /// Those of `candidates` that no other of them has seen, the earliest claim first.
    private func heads(among candidates: [Int]) -> [Int] {
        var heads: [Int] = []
        for candidate in candidates.sorted(by: >)
        where !heads.contains(where: { changes[$0].knows(changes[candidate]) }) {
            heads.append(candidate)
        }
        return heads.reversed()
    }

    /// Of each origin the newest change that the writer of the one at `index` had seen.
    private func newestOfEachOrigin(seenBy index: Int) -> [Int] {
        byOrigin.values.compactMap { positions in
            // The first that it had not seen: versions of one origin are seen in their order.
            var range = positions.startIndex..<positions.endIndex
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range =
                    changes[index].knows(changes[positions[middle]])
                    ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            // A claim of knowledge that contradicts the clock, which no honest writer makes, counts for nothing.
            return positions[..<range.lowerBound].last { $0 < index }
        }
    }
}
