/// A snapshot, and when the archive's store got it.
///
/// Which of two snapshots is newer, the store's clock tells: a machine whose clock is ahead would otherwise make a
/// snapshot that stays the newest one.
struct ListedSnapshot: Sendable, Hashable, Comparable {
    let snapshot: ArchivedSnapshot
    /// When its manifest was written, in milliseconds since 1970 by the store's clock.
    let stored: Int64

    static func < (a: ListedSnapshot, b: ListedSnapshot) -> Bool {
        // A store may tell whole seconds only.
        (a.stored, a.snapshot.milliseconds, a.snapshot.manifest.id)
            < (b.stored, b.snapshot.milliseconds, b.snapshot.manifest.id)
    }
}
