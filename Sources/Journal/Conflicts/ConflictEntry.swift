/// One entry of the conflict ledger: a change that lost against a concurrent change, with the values of both
/// sides.
///
/// The ledger is the same on every replica except for ``id``, ``time`` and ``state``, which belong to this
/// file.
public struct ConflictEntry: Sendable {
    /// What the two sides had done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Both changed the same columns.
        case updateUpdate = "update/update"
        /// One changed or inserted the row; the other deleted it, or deleted it and inserted it again.
        case updateDelete = "update/delete"
        /// Both inserted a row with this key.
        case insertInsert = "insert/insert"
        /// One changed the row; the other changed its key.
        case keyChange = "key change"
        /// Two machines chose this key for a row each. Both rows stand: the one that lost has another key.
        case rekeyed = "rekeyed"
    }

    /// What this replica has done with the entry.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It is neither restored nor dismissed.
        case open
        /// Its lost values were written back.
        case restored
        /// It was dismissed: the lost values stay lost.
        case dismissed
    }

    /// A column with its value.
    public typealias Column = (column: String, value: Value)

    /// The number in this file's ledger. A number is never used again.
    public let id: Int64
    /// The row's table, as it is called here.
    public let table: String
    /// The row's primary key, in key order.
    public let key: [Column]
    /// What the two sides had done.
    public let kind: Kind
    /// What this replica has done with the entry.
    public let state: State

    /// The columns and values that lost: those whose values differ; all columns of the losing change when a
    /// delete or a greater life won.
    public internal(set) var lost: [Column]
    /// What the winner wrote to the same columns; empty when it deleted the row.
    public internal(set) var kept: [Column]
    /// The row's new key, when a key change won.
    public let movedTo: [Column]?

    /// What the losing change did.
    public let lostOperation: Operation
    /// What the winning change did.
    public let keptOperation: Operation
    /// The replica that wrote the losing change.
    public let lostOrigin: OriginID
    /// The replica that wrote the winning change.
    public let keptOrigin: OriginID
    /// The losing change's version of ``lostOrigin``, 1 or more.
    public let lostVersion: Int64
    /// The winning change's version of ``keptOrigin``, 1 or more.
    public let keptVersion: Int64
    /// The stamp of the losing change.
    public let lostStamp: Stamp
    /// The stamp of the winning change.
    public let keptStamp: Stamp

    /// When this replica recorded the conflict, in seconds since 1970.
    public let time: Double
    /// When this replica restored or dismissed the entry, in seconds since 1970; nil for an open entry.
    public let closedTime: Double?

    /// The position of the losing change in this file's journal.
    let lostSeq: Int64
}

extension ConflictEntry {
    /// The entry as listings show it, without the values of secret columns.
    package func hiding(_ secrets: SecretColumns) -> ConflictEntry {
        var shown = self
        shown.lost = secrets.shown(lost, in: table)
        shown.kept = secrets.shown(kept, in: table)
        return shown
    }
}
