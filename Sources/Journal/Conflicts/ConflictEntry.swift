/// One entry of the ledger: a change that lost against another that it had not seen, with the values of both sides.
///
/// The ledger is the same on every replica, but for ``id``, ``time`` and ``state``, which are this file's own.
public struct ConflictEntry: Sendable {
    /// What the two sides had done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Both changed the same columns.
        case updateUpdate = "update/update"
        /// One changed or made the row, the other deleted it, or deleted it and made it anew.
        case updateDelete = "update/delete"
        /// Both made a row with this key.
        case insertInsert = "insert/insert"
        /// One changed the row, the other gave it another key.
        case keyChange = "key change"
    }

    /// What became of the entry on this replica.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Nobody has decided.
        case open
        /// Its values were written back.
        case restored
        /// Somebody looked at it and let it be.
        case dismissed
    }

    /// A column with its value.
    public typealias Column = (column: String, value: Value)

    /// The number in this file's ledger. Never given to another entry.
    public let id: Int64
    /// The row's table, as it is called here.
    public let table: String
    /// The row's primary key, in key order.
    public let key: [Column]
    /// What the two sides had done.
    public let kind: Kind
    /// What became of the entry on this replica.
    public let state: State

    /// What lost: the columns whose values differ, all of the change's when a delete or a new life won.
    public let lost: [Column]
    /// What the winner wrote to the same columns; empty when it deleted the row.
    public let kept: [Column]
    /// The key under which the row went on, when a key change won.
    public let movedTo: [Column]?

    /// What the losing change did.
    public let lostOperation: Operation
    /// What the winning change did.
    public let keptOperation: Operation
    /// Who wrote the losing change.
    public let lostOrigin: OriginID
    /// Who wrote the winning change.
    public let keptOrigin: OriginID
    /// The losing change's version of ``lostOrigin``, 1 or more.
    public let lostVersion: Int64
    /// The winning change's version of ``keptOrigin``, 1 or more.
    public let keptVersion: Int64
    /// When the losing change was written, by its writer's clock.
    public let lostStamp: Stamp
    /// When the winning change was written, by its writer's clock.
    public let keptStamp: Stamp

    /// When the conflict was noticed here, in seconds since 1970.
    public let time: Double
    /// When it was restored or dismissed here.
    public let closedTime: Double?

    /// Where the losing change stands in this file's journal.
    let lostSeq: Int64
}
