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

    public init(table: String, columns: [String], keyCount: Int) {
        self.table = table
        self.columns = columns
        self.keyCount = keyCount
    }

    public var keyColumns: ArraySlice<String> { columns.prefix(keyCount) }
    public var valueColumns: ArraySlice<String> { columns.dropFirst(keyCount) }
}
