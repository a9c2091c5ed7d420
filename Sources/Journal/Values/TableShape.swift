/// One table as journal entries describe it: its name and its columns, primary key first.
///
/// A shape never changes. After a schema change the table gets a new one, and older entries keep the one they were
/// written with. Columns are matched between machines by name, so two machines may differ in the order of columns.
public struct TableShape: Hashable, Sendable {
    /// The name as the schema spells it.
    public let table: String

    /// The names of the stored columns: the `keyCount` primary key columns in key order, then the others in table order.
    public let columns: [String]

    /// How many of ``columns`` form the primary key, 1 or more.
    public let keyCount: Int

    /// - Parameters:
    ///   - table: The name as the schema spells it.
    ///   - columns: Key columns in key order, then the others.
    ///   - keyCount: How many of `columns` form the key, 1 or more.
    public init(table: String, columns: [String], keyCount: Int) {
        self.table = table
        self.columns = columns
        self.keyCount = keyCount
    }

    /// The columns of the primary key, in key order.
    public var keyColumns: ArraySlice<String> { columns.prefix(keyCount) }
    /// The other columns.
    public var valueColumns: ArraySlice<String> { columns.dropFirst(keyCount) }

    /// True when both have the same key columns, in the same order.
    func hasKey(of other: TableShape) -> Bool {
        keyColumns.map(SQLText.foldedName) == other.keyColumns.map(SQLText.foldedName)
    }
}
