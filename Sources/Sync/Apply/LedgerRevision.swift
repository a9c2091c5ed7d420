import Foundation
import GRDB
import Journal

/// Decides again which changes of some rows lost, after entries have moved from one row to another.
///
/// The result is what the ledger would hold if each entry had arrived under the key that it has now.
struct LedgerRevision {
    let db: Database
    let session: ApplySession
    let time: Double

    /// What the owner of the file has done with an entry.
    private struct Handling {
        let id: Int64
        let seq: Int64
        let columns: String
        let state: String
        let closed: Double?
        let time: Double
    }

    /// - Parameter keys: The rows that have other entries, or entries with other values, than before.
    func run(_ keys: Set<TableKey>) throws {
        let reader = try JournalReader(db)
        var changes: [TableKey: [ScannedChange]] = [:]
        try reader.scan(tables: Set(keys.map(\.table))) { change in
            let key = TableKey(table: change.shape.table, key: change.key)
            if keys.contains(key) { changes[key, default: []].append(change) }
        }
        // An entry gets its number back in the end, so no other entry may have it meanwhile.
        try ConflictLedger.reserveIDs(db)
        let ledger = ConflictRecorder(db)
        let values = JournalValues(db)
        for (key, changes) in changes.sorted(by: { $0.key < $1.key }) {
            let before = try changes.compactMap { try take($0.seq) }
            let context = session.context(of: changes[0].shape)
            for loss in try MetRows.losses(among: changes, arrived: changes.count, context, values) {
                try ledger.record(
                    kind: loss.kind.entryKind, table: key.table, key: key.key, columns: loss.columns, lost: loss.lost,
                    kept: loss.kept, origins: reader.origins, time: time)
            }
            for handling in before { try put(handling) }
        }
    }

    // MARK: - What the owner has done

    private func take(_ seq: Int64) throws -> Handling? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT id, columns, state, closed, time FROM _journal_conflicts WHERE lost_seq = ?"),
            arguments: [seq])
        guard let row else { return nil }
        try db.cachedStatement(sql: "DELETE FROM _journal_conflicts WHERE lost_seq = ?").execute(arguments: [seq])
        return Handling(
            id: row["id"], seq: seq, columns: row["columns"], state: row["state"], closed: row["closed"],
            time: row["time"])
    }

    /// Gives the new entry about the same change the id, the time and the state that the former one had.
    private func put(_ handling: Handling) throws {
        try db.cachedStatement(sql: "UPDATE _journal_conflicts SET id = ?, time = ? WHERE lost_seq = ?")
            .execute(arguments: [handling.id, handling.time, handling.seq])
        // What was dismissed is not what is lost now when other columns are.
        try db.cachedStatement(
            sql: "UPDATE _journal_conflicts SET state = ?, closed = ? WHERE lost_seq = ? AND columns = ?"
        ).execute(arguments: [handling.state, handling.closed, handling.seq, handling.columns])
    }
}
