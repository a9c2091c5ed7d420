import Foundation
import GRDB

extension ConflictLedger {
    /// Writes what lost as rows of their own, beside the rows that won. SQLite chooses their keys. Triggers
    /// capture the writes, and peers receive them.
    ///
    /// Each row has the values that lost, and for the other columns those that the writer of the losing
    /// change had, as far as the journal holds them.
    ///
    /// Call it in a write of ``Replica/write(enforcingForeignKeys:_:)``, whose triggers capture the change.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``).
    ///   - time: The current time, in seconds since 1970.
    /// - Returns: The restored entries, each with the key of its new row.
    /// - Throws: ``JournalError``: `unknownConflict`, `unknownTable`, `unknownColumn`; `refused` when SQLite
    ///   does not choose keys for the table, when the loser had deleted the row, and with the message of a
    ///   constraint or trigger. The transaction must then be rolled back.
    package func restoreAsNewRows(_ ids: [Int64], time: Double) throws -> [RestoredRow] {
        try ids.map { id in
            let conflict = try known(id)
            let table = try table(of: conflict)
            guard table.hasRowidKey else {
                throw JournalError(
                    .refused,
                    "Conflict \(id) cannot be restored as a new row: SQLite does not choose the keys of \(table.name)",
                    hint: "Restore it without --as-new-row, or insert its values under a key of your own.")
            }
            guard conflict.lostOperation != .delete else {
                throw JournalError(
                    .refused, "Conflict \(id) cannot be restored as a new row: a delete lost, which has no values",
                    hint: "Dismiss the conflict.")
            }
            let target = try RestoreTarget(conflict, table: table, db)
            let row = try lostRow(of: conflict, in: target)
            let key = try target.insertNew(row)
            return RestoredRow(conflict: try close(conflict, .restored, time: time), key: key)
        }
    }

    /// True when SQLite chose the key of the row that is there now for another row than the one that lost:
    /// the loser's row was deleted before.
    ///
    /// It costs one pass over the journal.
    func isOfAnother(_ conflict: ConflictEntry, _ table: TableInspection) throws -> Bool {
        guard table.hasRowidKey, conflict.movedTo == nil, let loser = try reader.entry(at: conflict.lostSeq) else {
            return false
        }
        let latest = try RowHistory(db: db, reader: reader).latestInsert(ofKeyLike: loser)
        return latest.map { $0.life > loser.life && $0.isMinted } ?? false
    }
}

/// An entry of the ledger that was restored as a row of its own.
public struct RestoredRow: Sendable {
    /// The entry as it is now.
    public let conflict: ConflictEntry
    /// The key that SQLite chose for the new row.
    public let key: Int64
}
