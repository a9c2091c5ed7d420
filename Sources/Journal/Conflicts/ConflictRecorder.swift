import Foundation
import GRDB

/// Records what lost in the conflict ledger, `_journal_conflicts`.
///
/// An entry names the losing and the winning journal entry; their values are in the journal. Each change that
/// lost has one entry. Of several winners, it names the one with the greatest (life, stamp, origin), so the
/// ledger depends on the set of changes and not on the order of their arrival.
package struct ConflictRecorder {
    private let db: Database

    package init(_ db: Database) { self.db = db }

    /// One of the two changes of a conflict, with its position in this file.
    package struct Side {
        let origin: OriginID
        let version: Int64
        let life: Int64
        /// The place in the write order. Its stamp is the change's, except where a migration wrote it.
        let order: WriteOrder
        /// The position in this file.
        package let seq: Int64

        package init(version: Int64, life: Int64, order: WriteOrder, seq: Int64) {
            origin = order.origin
            self.version = version
            self.life = life
            self.order = order
            self.seq = seq
        }
    }

    /// Records that `lost` lost the values of `columns` to `kept`.
    ///
    /// - Parameters:
    ///   - kind: What the two had done. A winner that changed the row's key makes it a key change.
    ///   - table: The id of the table.
    ///   - columns: The names of the columns; not the key's.
    ///   - origins: The origins that the file knows, the loser's among them.
    ///   - time: The time of the record, in seconds since 1970.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package func record(
        kind: ConflictEntry.Kind, table: Int64, key: Key, columns: [String], lost: Side, kept: Side,
        origins: OriginTable,
        time: Double
    ) throws {
        guard let number = origins.numbers[lost.origin] else { return }
        let kind = try isKeyChange(kept) ? ConflictEntry.Kind.keyChange.rawValue : kind.rawValue
        let known = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT id, kind, columns, kept_life, kept_stamp, kept_level, kept_origin FROM _journal_conflicts
                    WHERE lost_origin = ? AND lost_version = ?
                    """), arguments: [number, lost.version])
        let keptOrigin = Data(kept.origin.bytes)
        guard let known else {
            try db.cachedStatement(
                sql: """
                    INSERT INTO _journal_conflicts
                      (id, tbl, key, columns, lost_origin, lost_version, lost_seq, lost_stamp, time, kind, kept_seq,
                       kept_life, kept_stamp, kept_level, kept_origin)
                    VALUES ((SELECT 1 + \(ConflictLedger.lastIDExpression)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                table, Data(key.bytes), NameList.encode(columns.sorted()), number,
                lost.version, lost.seq,
                lost.order.stamp.rawValue, time, kind, kept.seq, kept.life, kept.order.stamp.rawValue,
                kept.order.level, keptOrigin,
            ])
            return
        }
        let id: Int64 = known["id"]
        // Values are more than a key: the entry then tells what became of them.
        let lostItsKey = known["kind"] == ConflictEntry.Kind.rekeyed.rawValue
        let before = lostItsKey ? [] : Set(try NameList.decode(known["columns"]))
        let union = before.union(columns)
        if union.count > before.count {
            // An operator may have dismissed the loss of the earlier columns, but not of the new ones.
            try db.cachedStatement(
                sql: "UPDATE _journal_conflicts SET columns = ?, state = 'open', closed = NULL WHERE id = ?"
            ).execute(arguments: [NameList.encode(union.sorted()), id])
        }
        let bytes: Data = known["kept_origin"]
        let winner = WriteOrder(
            stamp: Stamp(rawValue: known["kept_stamp"]), origin: OriginID(bytes: bytes) ?? kept.origin,
            level: known["kept_level"])
        let life: Int64 = known["kept_life"]
        guard lostItsKey || (life == kept.life ? winner < kept.order : life < kept.life) else { return }
        try db.cachedStatement(
            sql: """
                UPDATE _journal_conflicts
                SET kind = ?, kept_seq = ?, kept_life = ?, kept_stamp = ?, kept_level = ?, kept_origin = ? WHERE id = ?
                """
        ).execute(arguments: [
            kind, kept.seq, kept.life, kept.order.stamp.rawValue, kept.order.level, keptOrigin, id,
        ])
    }

    /// Records that the row of the insert `lost` has another key, because the row of the insert `kept` has
    /// the key that both machines chose.
    ///
    /// - Parameters:
    ///   - table: The id of the table.
    ///   - key: The key that the row has now.
    ///   - column: The name of the key column.
    ///   - origins: The origins that the file knows, the loser's among them.
    ///   - time: The time of the record, in seconds since 1970.
    /// - Returns: False when the ledger had an entry about that insert.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package func recordNewKey(
        table: Int64, key: Key, column: String, lost: Side, kept: Side, origins: OriginTable, time: Double
    ) throws -> Bool {
        guard let number = origins.numbers[lost.origin] else { return false }
        let known = try String.fetchOne(
            db.cachedStatement(
                sql: "SELECT kind FROM _journal_conflicts WHERE lost_origin = ? AND lost_version = ?"),
            arguments: [number, lost.version])
        // An entry about lost values stays: values are more than a key.
        if let known, known != ConflictEntry.Kind.rekeyed.rawValue { return false }
        guard known != nil else {
            try record(
                kind: .rekeyed, table: table, key: key, columns: [column], lost: lost, kept: kept, origins: origins,
                time: time)
            return true
        }
        // An earlier claim may have arrived since.
        try db.cachedStatement(
            sql: """
                UPDATE _journal_conflicts SET key = ?, kept_seq = ?, kept_stamp = ?, kept_origin = ?
                WHERE lost_origin = ? AND lost_version = ?
                """
        ).execute(arguments: [
            Data(key.bytes), kept.seq, kept.order.stamp.rawValue, Data(kept.origin.bytes), number, lost.version,
        ])
        return false
    }

    /// Drops the entry of that kind about a change.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package func forget(_ kind: ConflictEntry.Kind, of lost: Side, origins: OriginTable) throws {
        guard let number = origins.numbers[lost.origin] else { return }
        try db.cachedStatement(
            sql: "DELETE FROM _journal_conflicts WHERE kind = ? AND lost_origin = ? AND lost_version = ?"
        ).execute(arguments: [kind.rawValue, number, lost.version])
    }

    /// True when the winner is the delete with which a key change removed the row.
    private func isKeyChange(_ side: Side) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT op = 3 AND mask IS NOT NULL FROM _journal WHERE seq = ?"),
            arguments: [side.seq]) ?? false
    }
}
