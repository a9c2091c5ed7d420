import Journal

@_exported import struct Journal.HeldEntry

extension Database {
    /// What was received and is not shown in its table now, and why: rows that a constraint refuses, and changes of tables and
    /// columns that this file does not have. They are not lost: they take part in merges and return by themselves.
    ///
    /// - Parameters:
    ///   - table: Only of this table.
    ///   - reason: Only for this `HeldEntry.reason`.
    public func heldRows(table: String? = nil, reason: String? = nil) throws -> [HeldEntry] {
        try access { context in try HeldEntries(context.db).all(table: table, reason: reason) }
    }
}
