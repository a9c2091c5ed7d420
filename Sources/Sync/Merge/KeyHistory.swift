import Journal

/// The changes of one key in its present life, and the row that they make under a policy other than last-writer-wins per column.
///
/// Pure: the row depends on the set of changes only. `past` of a change is what its writer had seen of the key.
struct KeyHistory {
    struct Change {
        let claim: Claim
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

    let changes: [Change]

    /// Last writer wins by the row: the row as the writer of the latest change saw it.
    ///
    /// That is the change over the row of its past, where in turn the latest change counts, and so on.
    func latestRow() -> Image {
        var image: Image = [:]
        var past = changes
        while let latest = past.max(by: { $0.claim < $1.claim }) {
            image.merge(latest.values) { newer, _ in newer }
            past = past.filter(latest.knows)
        }
        return image
    }

    /// The row that `resolve` makes of versions that have not seen each other, from the earlier claim to the later.
    ///
    /// A change by a writer who had seen several versions stands over what `resolve` made of them, so nothing is resolved twice.
    func row(resolvedBy resolve: (_ earlier: Image, _ later: Image) -> Image) -> Image {
        var known: [[Int]: Image] = [:]
        func row(of members: [Int]) -> Image {
            let heads = members.filter { member in
                !members.contains { $0 != member && changes[$0].knows(changes[member]) }
            }.sorted { changes[$0].claim < changes[$1].claim }
            if let image = known[heads] { return image }
            let versions = heads.map { head -> Image in
                let past = members.filter { changes[head].knows(changes[$0]) }
                return row(of: past).merging(changes[head].values) { $1 }
            }
            let image = versions.dropFirst().reduce(versions.first ?? [:], resolve)
            known[heads] = image
            return image
        }
        return row(of: Array(changes.indices))
    }
}
