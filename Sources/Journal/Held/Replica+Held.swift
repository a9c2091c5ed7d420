import GRDB

// Decisions about held rows (``HeldEntry/row``), all of one call or none. What they write is captured and
// replicated like any write. Rows that may be shown then return at the next merge.

extension Replica {
    /// Deletes held rows. A row that is shown with a substitute stays, and the substitute becomes its value.
    ///
    /// - Parameter ids: The numbers of the held rows in this file.
    /// - Returns: The rows as they were held.
    /// - Throws: ``JournalError``: `unknownHeldRow`, `unknownTable`, and those of ``write(enforcingForeignKeys:_:)``;
    ///   the file is then unchanged.
    package func dropHeldRows(_ ids: [Int64]) throws -> [HeldEntry] {
        try deciding(ids) { decisions, id in try decisions.drop(id) }.map(\.entry)
    }

    /// Inserts the missing parents of held rows again, as they were when they were deleted, and the missing
    /// parents of those.
    ///
    /// - Parameter ids: The numbers of the held rows in this file.
    /// - Returns: The rows as they were held, each with the rows that were inserted for it.
    /// - Throws: ``JournalError``: `unknownHeldRow`, `unknownTable`; `refused` when a row is held for another
    ///   reason, when the journal has no such parent, and when a constraint refuses the parent. The file is
    ///   then unchanged.
    package func restoreHeldRows(_ ids: [Int64]) throws -> [(entry: HeldEntry, restored: [RestoredParent])] {
        try deciding(ids) { decisions, id in try decisions.restore(id) }.map { (entry: $0.entry, restored: $0.outcome) }
    }

    /// Makes a held row refer to a row that is there.
    ///
    /// - Parameters:
    ///   - id: The number of the held row in this file.
    ///   - key: The primary key of the row to refer to. A text that names no row also counts as the number
    ///     that it spells.
    ///   - column: A column of the foreign key to change; nil when one parent only is missing.
    /// - Returns: The row as it was held.
    /// - Throws: ``JournalError``: `unknownHeldRow`, `unknownTable`, `invalid` for a key with another number of
    ///   columns; `refused` when there is no such row, when the held row lacks no parent or several, and when
    ///   the reference is part of its key. The file is then unchanged.
    package func reparentHeldRow(_ id: Int64, to key: [Value], column: String? = nil) throws -> HeldEntry {
        let decided = try deciding([id]) { decisions, id in try decisions.reparent(id, to: key, column: column) }
        guard let entry = decided.first?.entry else { throw JournalError(.invalid, "No row was given") }
        return entry
    }

    private func deciding<T>(
        _ ids: [Int64], _ decide: (HeldDecisions, Int64) throws -> T
    ) throws -> [(entry: HeldEntry, outcome: T)] {
        try refreshDerivedState()
        return try write(enforcingForeignKeys: false) { db in
            let decisions = try HeldDecisions(db)
            let entries = HeldEntries(db, reader: try JournalReader(db))
            return try ids.map { id in
                guard let entry = try entries.row(id) else {
                    throw JournalError(
                        .unknownHeldRow, "No held row has the number \(id)", hint: "`syncd held` lists them.")
                }
                return (entry, try decide(decisions, id))
            }
        }
    }
}
