import Journal

/// One change of one row as merging sees it: a value whose columns are positions in the table's common column
/// space.
package struct RowWrite: Hashable, Sendable {
    /// The replica that wrote the change.
    package var origin: OriginID { order.origin }
    /// The change's number among those of ``origin``, 1 or more. Not part of the write order.
    package let version: Int64
    /// The place in the write order.
    package let order: WriteOrder
    /// The life of the key after the change, 1 or more: odd alive, even dead.
    package let life: Int64
    /// What the change did. ``life`` alone says whether the row is alive.
    package let operation: Journal.Operation
    /// The columns that the change sets. An insert also sets the key columns when the key's spelling is part
    /// of the merged row.
    package let columns: ColumnMask

    /// - Parameters:
    ///   - order: The place in the write order, with the replica that wrote the change.
    ///   - version: Its number among those of that replica, 1 or more.
    ///   - life: The life of the key after the change, 1 or more.
    ///   - operation: What it did.
    ///   - columns: The columns that it sets, in the numbering that all writes of the row share.
    package init(
        order: WriteOrder, version: Int64, life: Int64, operation: Journal.Operation, columns: ColumnMask
    ) {
        self.order = order
        self.version = version
        self.life = life
        self.operation = operation
        self.columns = columns
    }

    var isAlive: Bool { life % 2 == 1 }
    /// True for a change that a migration made to a row that it found.
    var isMigration: Bool { order.level > 0 }

    /// As ``WriteOrder``. Total over the changes of one column.
    static func < (a: RowWrite, b: RowWrite) -> Bool { a.order < b.order }
}
