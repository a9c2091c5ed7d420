extension ArchiveCollector {
    /// What was found and done.
    package struct Report: Sendable, Hashable {
        /// The packs that are newly marked, or would be.
        package var markedPacks = 0
        /// The snapshots that are newly marked, or would be.
        package var markedSnapshots = 0
        /// The size of those packs and snapshots.
        package var markedBytes: Int64 = 0
        /// The packs that were marked long enough ago, and are removed, or would be.
        package var removedPacks = 0
        package var removedSnapshots = 0
        /// The size of what is removed, with parts of snapshots that were never finished.
        package var removedBytes: Int64 = 0
        /// The objects that were marked lately, and wait.
        package var waitingMarks = 0
        /// When the next of them may go, in milliseconds since 1970 by the store's clock; nil when none waits.
        package var nextMilliseconds: Int64?
        /// Why objects stay, in sentences.
        package var obstacles: [String] = []

        /// What was done, for a log.
        var sentence: String {
            "a collection removed \(removedPacks) packs and \(removedSnapshots) snapshots (\(removedBytes) bytes), "
                + "and marked \(markedPacks) packs and \(markedSnapshots) snapshots"
                + obstacles.map { "; \($0)" }.joined()
        }

        package init(obstacles: [String] = []) { self.obstacles = obstacles }
    }
}
