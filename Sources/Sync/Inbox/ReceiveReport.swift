/// What became of a received batch.
public struct ReceiveReport: Sendable, Hashable {
    /// Changes that are in tables and journal now.
    public var applied = 0
    /// Changes that were here already.
    public var duplicates = 0
    /// Changes of a transaction whose end has not come: kept in memory or in the file, not visible.
    public var staged = 0
    /// Values that lost, or won against others, without having seen each other.
    public var conflicts = 0
    /// True when changes were left out because their stamps lie too far ahead of the local clock.
    public var isDeferred = false
    /// Entries that the ledger dropped, because they were too old or too many for one row.
    public var droppedConflicts = 0

    /// Nothing was received.
    public init() {}

    /// What became of two batches together.
    public static func + (a: ReceiveReport, b: ReceiveReport) -> ReceiveReport {
        var sum = ReceiveReport()
        sum.applied = a.applied + b.applied
        sum.duplicates = a.duplicates + b.duplicates
        sum.staged = a.staged + b.staged
        sum.conflicts = a.conflicts + b.conflicts
        sum.isDeferred = a.isDeferred || b.isDeferred
        sum.droppedConflicts = a.droppedConflicts + b.droppedConflicts
        return sum
    }
}
