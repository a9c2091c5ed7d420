import Journal

/// What a daemon may do at any moment, and does seldom by itself: a life with whims has the rare moments that a short one never comes to.
enum Whim: Sendable, Hashable {
    /// Moves the write-ahead log into the database.
    case checkpoint(Checkpoint.Mode)
    /// The n-th commit from now on, 1 or more, is refused and rolled back: whatever was kept in memory goes, and the contact with it.
    case refuseCommit(Int)
}
