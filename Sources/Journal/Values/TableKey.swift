/// A row of any table: the table's id and the canonical key.
package struct TableKey: Hashable, Comparable, Sendable {
    /// The id that all shapes of the table share (`_journal_tables.tbl`).
    package let table: Int64
    /// The canonical primary key.
    package let key: Key

    /// - Parameters:
    ///   - table: The id that all shapes of the table share.
    ///   - key: The canonical primary key.
    package init(table: Int64, key: Key) {
        self.table = table
        self.key = key
    }

    /// Orders by table, then by the bytes of the key. The order is the same in every process.
    package static func < (a: TableKey, b: TableKey) -> Bool {
        a.table == b.table ? a.key.bytes.lexicographicallyPrecedes(b.key.bytes) : a.table < b.table
    }
}
