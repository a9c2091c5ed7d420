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

/// How two concurrent changes of one row conflict.
package enum ConflictKind: String, Sendable, Hashable {
    /// Both wrote different values to the same columns, and at most one of them inserted the row.
    case updateUpdate = "update/update"
    /// One wrote the row; the other deleted it, or deleted it and inserted it again.
    case updateDelete = "update/delete"
    /// Both inserted a row with the same key.
    case insertInsert = "insert/insert"

    /// What the conflict ledger calls it.
    var entryKind: ConflictEntry.Kind {
        switch self {
        case .updateUpdate: .updateUpdate
        case .updateDelete: .updateDelete
        case .insertInsert: .insertInsert
        }
    }
}

/// The result of merging one change into a row.
package struct Resolution: Hashable, Sendable {
    /// What becomes of the row in its table.
    package enum Effect: Hashable, Sendable {
        /// The row stays as it is.
        case none
        /// The row is deleted.
        case delete
        /// These columns of the change are written. The row is inserted when it is not there.
        case write(ColumnMask)
    }

    /// A pair of changes of which one lost values to the other.
    package struct Conflict: Hashable, Sendable {
        /// What the two changes did.
        package let kind: ConflictKind
        /// The position of the other change among the unseen writes.
        package let unseenWrite: Int
        /// True when the incoming change lost; false when the unseen write lost.
        package let incomingLost: Bool
        /// What was lost: the columns whose values differ, or all columns of the loser when the lives differ.
        package let columns: ColumnMask
    }

    /// What becomes of the row in its table.
    package var effect: Effect
    /// What was lost, in the order of the unseen writes, at most one entry for each; empty when nothing was
    /// lost.
    package var conflicts: [Conflict] = []
}

/// The rules of `docs/CONFLICTS.md` for one key, as a pure function.
///
/// The result is correct because of the choice of the unseen writes: they are all changes of the key in this
/// file that the incoming change's writer had not merged. That writer had merged every other change of the
/// key here before it wrote. The incoming stamp is therefore greater than theirs and its life at least as
/// great (see ``Stamp/next(after:now:)`` and ``LocalFold``), so the incoming change wins against them without
/// a comparison. Hence the result depends only on the set of changes, and the cost only on the concurrent
/// ones.
package enum Merge {
    /// Decides what `incoming` does to its row and which values are lost.
    ///
    /// - Parameters:
    ///   - unseenWrites: All changes of the key in this file that the writer of `incoming` had not merged, in
    ///     any order.
    ///   - losesWhole: True when the loser of two concurrent changes loses all its columns
    ///     (``MergePolicy/row``).
    ///   - isConcurrent: True when the writer of that unseen write had not seen `incoming` either. Only then
    ///     is a loss a conflict: a relay can deliver an overwrite before the change that it overwrote.
    ///   - differs: True when the two changes carry different values for a column that both have.
    package static func resolve(
        _ incoming: RowWrite, against unseenWrites: [RowWrite], losesWhole: Bool = false,
        isConcurrent: (Int) throws -> Bool, differs: (_ column: Int, _ unseenWrite: Int) throws -> Bool
    ) rethrows -> Resolution {
        let greatestLife = unseenWrites.reduce(0) { max($0, $1.life) }
        var resolution = Resolution(effect: .none)
        if incoming.life > greatestLife || (incoming.life == greatestLife && incoming.isAlive) {
            resolution.effect = incoming.isAlive ? .write(winningColumns(incoming, unseenWrites)) : .delete
        }
        for (index, unseenWrite) in unseenWrites.enumerated() {
            if let conflict = try conflict(
                incoming, unseenWrite, index: index, losesWhole: losesWhole, isConcurrent: isConcurrent,
                differs: differs
            ) {
                resolution.conflicts.append(conflict)
            }
        }
        return resolution
    }

    /// The columns of `incoming` that no unseen write of the same life sets with a later write order.
    private static func winningColumns(_ incoming: RowWrite, _ unseenWrites: [RowWrite]) -> ColumnMask {
        var columns = incoming.columns
        for unseenWrite in unseenWrites where unseenWrite.life == incoming.life && incoming < unseenWrite {
            columns.subtract(unseenWrite.columns)
        }
        return columns
    }

    private static func conflict(
        _ incoming: RowWrite, _ unseenWrite: RowWrite, index: Int, losesWhole: Bool,
        isConcurrent: (Int) throws -> Bool, differs: (Int, Int) throws -> Bool
    ) rethrows -> Resolution.Conflict? {
        if incoming.life != unseenWrite.life {
            let incomingLost = incoming.life < unseenWrite.life
            let loser = incomingLost ? incoming : unseenWrite
            // A delete loses nothing against a later life: the row was deleted, and then inserted again.
            guard loser.isAlive, try isConcurrent(index) else { return nil }
            return Resolution.Conflict(
                kind: .updateDelete, unseenWrite: index, incomingLost: incomingLost, columns: loser.columns)
        }
        guard incoming.isAlive else { return nil }
        let shared = incoming.columns.intersection(unseenWrite.columns)
        guard !shared.isEmpty || losesWhole, try isConcurrent(index) else { return nil }
        var columns = losesWhole ? (incoming < unseenWrite ? incoming : unseenWrite).columns : shared
        try shared.forEach { column in
            if try !differs(column, index) { columns.remove(column) }
        }
        guard !columns.isEmpty else { return nil }
        let bothInsert = incoming.operation == .insert && unseenWrite.operation == .insert
        return Resolution.Conflict(
            kind: bothInsert ? .insertInsert : .updateUpdate, unseenWrite: index, incomingLost: incoming < unseenWrite,
            columns: columns)
    }
}
