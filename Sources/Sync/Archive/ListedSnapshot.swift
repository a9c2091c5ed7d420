import Journal

/// A snapshot, and when the archive's store got it.
struct ListedSnapshot: Sendable, Hashable, DatedSnapshot {
    let snapshot: ArchivedSnapshot
    /// When its manifest was written, in milliseconds since 1970 by the store's clock.
    let stored: Int64

    var vector: VersionVector { snapshot.manifest.vector }

    func isDatedBefore(_ other: ListedSnapshot) -> Bool {
        // A store may tell whole seconds only.
        (stored, snapshot.milliseconds, snapshot.manifest.id)
            < (other.stored, other.snapshot.milliseconds, other.snapshot.manifest.id)
    }
}
