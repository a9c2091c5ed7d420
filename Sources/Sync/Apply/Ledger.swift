import Foundation
import GRDB
import Journal

/// The ledger of what lost: `_journal_conflicts`.
///
/// An entry names the losing and the winning journal entry; their values stand in the journal. There is one entry for each
/// change that lost, and of several winners it keeps the one with the greatest claim: so the ledger depends on the set of
/// changes, not on the order in which they came.
struct Ledger {
    let db: Database

    struct Side {
        let origin: OriginID
        let version: Int64
        let life: Int64
        let stamp: Stamp
        let seq: Int64
    }

    func record(
        kind: ConflictKind, table: Int64, key: Key, columns: [String], lost: Side, kept: Side, origins: OriginTable,
        time: Double
    ) throws {
        guard let number = origins.numbers[lost.origin] else { return }
        let known = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT id, columns, kept_life, kept_stamp, kept_origin FROM _journal_conflicts
                    WHERE lost_origin = ? AND lost_version = ?
                    """), arguments: [number, lost.version])
        let keptOrigin = Data(kept.origin.bytes)
        guard let known else {
            try db.cachedStatement(
                sql: """
                    INSERT INTO _journal_conflicts
                      (tbl, key, columns, lost_origin, lost_version, lost_seq, time, kind, kept_seq, kept_life, kept_stamp, kept_origin)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                table, Data(key.bytes), NameList.encode(columns.sorted()), number, lost.version, lost.seq, time,
                kind.rawValue, kept.seq, kept.life, kept.stamp.rawValue, keptOrigin,
            ])
            return
        }
        let id: Int64 = known["id"]
        let union = Set(try NameList.decode(known["columns"])).union(columns).sorted()
        try db.cachedStatement(sql: "UPDATE _journal_conflicts SET columns = ? WHERE id = ?")
            .execute(arguments: [NameList.encode(union), id])
        let bytes: Data = known["kept_origin"]
        let before = (known["kept_life"] as Int64, known["kept_stamp"] as Int64, OriginID(bytes: bytes) ?? kept.origin)
        guard before < (kept.life, kept.stamp.rawValue, kept.origin) else { return }
        try db.cachedStatement(
            sql: """
                UPDATE _journal_conflicts SET kind = ?, kept_seq = ?, kept_life = ?, kept_stamp = ?, kept_origin = ? WHERE id = ?
                """
        ).execute(arguments: [kind.rawValue, kept.seq, kept.life, kept.stamp.rawValue, keptOrigin, id])
    }
}

/// One entry of the ledger, with the values of both sides.
public struct ConflictEntry: Sendable {
    public let id: Int64
    public let table: String
    public let key: [(column: String, value: Value)]
    public let kind: String
    /// What lost; for a lost row all its columns, empty for the delete that won against it.
    public let lost: [(column: String, value: Value)]
    /// What stayed in the same columns; empty when a delete won.
    public let kept: [(column: String, value: Value)]
    public let lostOrigin: OriginID
    public let keptOrigin: OriginID
    /// When it was noticed here, in seconds since 1970.
    public let time: Double

    /// The entries, oldest first.
    ///
    /// - Parameters:
    ///   - table: Only those of this table; nil for all.
    ///   - limit: Only this many, and the newest first; nil for all.
    public static func all(
        _ db: Database, table: String? = nil, newest limit: Int? = nil
    ) throws -> [ConflictEntry] {
        let reader = try JournalReader(db)
        let order = limit.map { "DESC LIMIT \($0)" } ?? ""
        return try Row.fetchAll(db, sql: "SELECT * FROM _journal_conflicts ORDER BY id \(order)").compactMap { row in
            guard let lost = try reader.entry(at: row["lost_seq"]), let kept = try reader.entry(at: row["kept_seq"])
            else {
                return nil
            }
            if let table, SQLText.foldedName(table) != SQLText.foldedName(lost.shape.table) { return nil }
            let columns = Set(try NameList.decode(row["columns"]))
            let own = reader.identity.origin
            return ConflictEntry(
                id: row["id"], table: lost.shape.table,
                key: zip(lost.shape.keyColumns, lost.keyValues).map { (column: $0, value: $1) }, kind: row["kind"],
                lost: lost.columns.filter { columns.contains($0.name) }.map { (column: $0.name, value: $0.value) },
                kept: kept.columns.filter { columns.contains($0.name) }.map { (column: $0.name, value: $0.value) },
                lostOrigin: lost.origin ?? own, keptOrigin: kept.origin ?? own, time: row["time"])
        }
    }
}
