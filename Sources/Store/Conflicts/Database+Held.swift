import Journal

@_exported import struct Journal.HeldEntry

extension Database {
    /// Rows and changes that were received but that the tables do not show, and the reason for each: rows
    /// that a constraint forbids, and changes of tables and columns that this file does not have. They are
    /// not lost: they take part in merges and appear as soon as nothing forbids them.
    ///
    /// - Parameters:
    ///   - table: Only of this table.
    ///   - reason: Only for this `HeldEntry.reason`.
    /// - Returns: Rows in the order in which they were set aside, then unknown tables and columns; empty when
    ///   nothing is held.
    /// - Throws: ``StoreError``: `notAReplica` for a file without a journal, `unsupportedFormat`, `corrupt`,
    ///   `closed`.
    public func heldRows(table: String? = nil, reason: String? = nil) throws -> [HeldEntry] {
        try access { context in try HeldEntries(context.db).all(table: table, reason: reason) }
    }
}
