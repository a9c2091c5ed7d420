import Journal

/// A rare event of a daemon that the simulator makes likely (FoundationDB's BUGGIFY): a short scenario would
/// seldom reach it otherwise. Small pages and small steps, which such a scenario has throughout, are drawn
/// with its plan.
enum BuggifyPoint: Sendable, Hashable {
    /// A checkpoint of the write-ahead log.
    case checkpoint(Checkpoint.Mode)
    /// The n-th commit, 1 for the next one, is refused and rolled back. The daemon drops its state in memory
    /// and the contact.
    case refuseCommit(Int)
}
