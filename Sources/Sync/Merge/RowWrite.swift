import Journal

/// One change of one row as merging sees it: a value whose columns are positions in the table's common column
/// space.
package struct RowWrite: Hashable, Sendable {
    /// The replica that wrote the change.
    package let origin: OriginID
    /// The change's number among those of ``origin``, 1 or more. Not part of the write order.
    package let version: Int64
    /// When it was written, by its writer's hybrid logical clock. The pair (stamp, ``origin``) is the write
    /// order.
    package let stamp: Stamp
    /// The life of the key after the change, 1 or more: odd alive, even dead.
    package let life: Int64
    /// What the change did. ``life`` alone says whether the row is alive.
    package let operation: Journal.Operation
    /// The columns that the change sets. An insert also sets the key columns when the key's spelling is part
    /// of the merged row.
    package let columns: ColumnMask

    /// - Parameters:
    ///   - origin: The replica that wrote the change.
    ///   - version: Its number among those of `origin`, 1 or more.
    ///   - stamp: When it was written, by its writer's hybrid logical clock.
    ///   - life: The life of the key after the change, 1 or more.
    ///   - operation: What it did.
    ///   - columns: The columns that it sets, in the numbering that all writes of the row share.
    package init(
        origin: OriginID, version: Int64, stamp: Stamp, life: Int64, operation: Journal.Operation, columns: ColumnMask
    ) {
        self.origin = origin
        self.version = version
        self.stamp = stamp
        self.life = life
        self.operation = operation
        self.columns = columns
    }

    var isAlive: Bool { life % 2 == 1 }

    /// The write order: the later stamp is greater, and the greater origin breaks ties. Total over different
    /// origins.
    static func < (a: RowWrite, b: RowWrite) -> Bool {
        (a.stamp, a.origin) < (b.stamp, b.origin)
    }
}
