/// Which parts of an archive's snapshots are there. Pure.
///
/// A manifest alone is no snapshot: nobody gets its changes by it once a part is gone. So what is only in snapshots
/// counts as held only when one of them is whole.
struct SnapshotParts: Sendable, Hashable {
    /// The number of parts that the store lists, by snapshot.
    var counts: [String: Int] = [:]
    /// The snapshots of which a reader found a part missing or damaged.
    var damaged: Set<String> = []

    /// True when nothing shows that a part is missing or damaged.
    func isWhole(_ manifest: SnapshotManifest) -> Bool {
        lack(of: manifest) == nil
    }

    /// What a snapshot lacks, in a sentence; nil for one that is whole.
    func lack(of manifest: SnapshotManifest) -> String? {
        let count = counts[manifest.id] ?? 0
        if count != manifest.parts.count {
            return "of the snapshot \(manifest.id), \(count) of \(manifest.parts.count) parts are there"
        }
        return damaged.contains(manifest.id)
            ? "a replica has found a part of the snapshot \(manifest.id) missing or damaged" : nil
    }
}
