import Journal

/// What a daemon may do, or meet, at any moment, and seldom does by itself: a life with whims has the rare moments that a short one never
/// comes to. Small pages and steps, which such a life has all the time, are drawn with its plan.
enum BuggifyPoint: Sendable, Hashable {
    /// Moves the write-ahead log into the database.
    case checkpoint(Checkpoint.Mode)
    /// The n-th commit from now on, 1 or more, is refused and rolled back: whatever was kept in memory goes, and the contact with it.
    case refuseCommit(Int)
}
