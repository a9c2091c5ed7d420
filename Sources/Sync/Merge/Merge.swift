import Journal

/// The rules of `docs/CONFLICTS.md` for one key, as pure functions: what a change does to its row
/// (``effect(of:against:)``), and what is lost (``losses(among:arrived:keyCount:losesWhole:value:)``).
///
/// The effect is correct because of the choice of the unseen writes: they are all changes of the key in this
/// file that the incoming change's writer had not merged. That writer had merged every other change of the
/// key here before it wrote. The incoming stamp is therefore greater than theirs and its life at least as
/// great (see ``Stamp/next(after:now:)`` and ``LocalFold``), so the incoming change wins against them without
/// a comparison. A migration's change comes later in the write order than what its writer had seen of the same
/// columns (``MigrationRank``), which is as much as is needed. Hence the result depends only on the set of
/// changes, and the cost only on the concurrent ones.
package enum Merge {
    /// What becomes of a row in its table.
    package enum Effect: Hashable, Sendable {
        /// The row stays as it is.
        case none
        /// The row is deleted.
        case delete
        /// These columns of the change are written. The row is inserted when it is not there.
        case write(ColumnMask)
    }

    /// Decides what `incoming` does to its row.
    ///
    /// - Parameter unseenWrites: All changes of the key in this file that the writer of `incoming` had not
    ///   merged.
    package static func effect(of incoming: RowWrite, against unseenWrites: Contenders) -> Effect {
        if incoming.life > unseenWrites.greatestLife || (incoming.life == unseenWrites.greatestLife && incoming.isAlive)
        {
            var columns = incoming.columns
            columns.subtract(unseenWrites.columns(writtenAfter: incoming))
            return incoming.isAlive ? .write(columns) : .delete
        }
        return .none
    }
}

/// Concurrent changes of one row, sorted once so that each of many incoming changes finds what wins against it.
package struct Contenders: Sendable {
    /// By life, then by the write order.
    private let writes: [RowWrite]
    /// For each of ``writes``, the columns that it and the later ones of its life set.
    private let later: [ColumnMask]

    /// - Parameter writes: The changes, in any order.
    package init(_ writes: [RowWrite] = []) {
        let sorted = writes.sorted { $0.life == $1.life ? $0 < $1 : $0.life < $1.life }
        var later = sorted.map(\.columns)
        for index in sorted.indices.dropLast().reversed() where sorted[index].life == sorted[index + 1].life {
            later[index].formUnion(later[index + 1])
        }
        self.writes = sorted
        self.later = later
    }

    /// 0 when there are no changes.
    package var greatestLife: Int64 { writes.last?.life ?? 0 }

    /// The columns that changes of the same life set with a later write order than `write`.
    func columns(writtenAfter write: RowWrite) -> ColumnMask {
        var (low, high) = (0, writes.count)
        while low < high {
            let middle = (low + high) / 2
            let other = writes[middle]
            let isLater = other.life == write.life ? write < other : other.life > write.life
            if isLater { high = middle } else { low = middle + 1 }
        }
        return low < writes.count && writes[low].life == write.life ? later[low] : ColumnMask()
    }
}
