/// The result of receiving a batch.
public struct ReceiveReport: Sendable, Hashable {
    /// Changes that were applied to journal and tables.
    public var applied = 0
    /// Changes that were here already.
    public var duplicates = 0
    /// Changes of a transaction whose end has not arrived: kept in memory or in the file, not visible.
    public var staged = 0
    /// New entries of the conflict ledger: changes that lost values to concurrent ones.
    public var conflicts = 0
    /// True when changes were left out because their origin is deferred.
    public var isDeferred = false
    /// Entries that the conflict ledger dropped, because they were too old or too many for one row.
    public var droppedConflicts = 0

    /// Creates the report of an empty batch.
    public init() {}

    /// The results of two batches together.
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
