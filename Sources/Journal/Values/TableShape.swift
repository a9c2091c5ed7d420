/// One version of a table's schema as journal entries carry it: its name and its columns, primary key first.
///
/// A shape never changes. After a schema change the table gets a new shape, and older entries keep the shape
/// with which they were written. Columns are matched between machines by name, so the order of columns may
/// differ.
public struct TableShape: Hashable, Sendable {
    /// The name as the schema spells it.
    public let table: String

    /// The names of the stored columns: the `keyCount` primary key columns in key order, then the others in
    /// table order.
    public let columns: [String]

    /// The number of columns in the primary key, 1 or more.
    public let keyCount: Int

    /// - Parameters:
    ///   - table: The name as the schema spells it.
    ///   - columns: The key columns in key order, then the others.
    ///   - keyCount: The number of columns in the primary key, 1 or more.
    public init(table: String, columns: [String], keyCount: Int) {
        self.table = table
        self.columns = columns
        self.keyCount = keyCount
    }

    /// The columns of the primary key, in key order.
    public var keyColumns: ArraySlice<String> { columns.prefix(keyCount) }
    /// The other columns.
    public var valueColumns: ArraySlice<String> { columns.dropFirst(keyCount) }
}
