import Journal

/// Collects the ``CommitSummary`` of one transaction, or of one read of the journal.
///
/// The summary keeps changes that were rolled back to a savepoint. This only costs a needless drop of cached
/// results, and live queries find that nothing has changed.
struct CommitLog {
    private struct Pattern: Hashable {
        let shape: Int64
        let operation: Journal.Operation
        let mask: ColumnMask
    }

    private(set) var summary = CommitSummary()
    private var seen: Set<Pattern> = []
    private var last: Pattern?
    private var lastSave: (table: String, operation: Journal.Operation, columns: [String])?

    /// Notes an entry. A bulk update repeats one pattern for every row; only the first costs anything.
    mutating func note(_ entry: TailEntry) {
        let pattern = Pattern(shape: entry.shape.id, operation: entry.operation, mask: entry.mask)
        if pattern == last { return }
        last = pattern
        guard seen.insert(pattern).inserted, !entry.shape.shape.isHidden else { return }
        let table = entry.shape.shape.table
        if entry.operation == .update {
            summary.updated(table, entry.columns)
        } else {
            summary.insertedOrDeleted(table)
        }
    }

    /// Notes what the transaction itself did to one row.
    mutating func note(table: String, _ operation: Journal.Operation, columns: [String]) {
        if let lastSave, lastSave.operation == operation, lastSave.table == table, lastSave.columns == columns {
            return
        }
        lastSave = (table, operation, columns)
        if operation == .update { summary.updated(table, columns) } else { summary.insertedOrDeleted(table) }
    }

    mutating func noteUnknown() { summary.isUnknown = true }
}
