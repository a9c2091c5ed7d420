import Foundation
import GRDB
import Journal

/// Why a row of the merged state is not shown in its table.
public enum HoldReason: String, Sendable, Hashable {
    /// Another row holds one of its UNIQUE values by an earlier claim.
    case unique
    /// The row that one of its foreign keys names is not there.
    case foreignKey = "foreign_key"
    case notNull = "not_null"
    case check
    /// A value of a type that the table does not store.
    case datatype
    /// An update arrived before the insert of its row.
    case incomplete
}

/// A row that is set aside, with all that merging has made of it so far.
struct HeldRow {
    var reason: HoldReason
    var detail: String
    /// The last change that went into the row: its claim when rows compete for a UNIQUE value.
    var stamp: Stamp
    var origin: OriginID
    var image: RowImage
}

/// `_journal_held`, read once a transaction and written through.
final class HeldRows {
    private let db: Database
    private(set) var rows: [ConcurrentChanges.TableKey: HeldRow] = [:]

    init(_ db: Database) throws {
        self.db = db
        let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM _journal_held")
        while let row = try cursor.next() {
            let key: Data = row["key"]
            let image: Data = row["image"]
            let origin: Data = row["origin"]
            guard let image = RowImage(encoded: Array(image)[...]), let origin = OriginID(bytes: origin),
                let reason = HoldReason(rawValue: row["reason"])
            else { throw JournalError(.corrupt, "a row of _journal_held cannot be read") }
            rows[.init(table: row["tbl"], key: Key(bytes: Array(key)))] = HeldRow(
                reason: reason, detail: row["detail"], stamp: Stamp(rawValue: row["stamp"]), origin: origin,
                image: image)
        }
    }

    var isEmpty: Bool { rows.isEmpty }

    subscript(key: ConcurrentChanges.TableKey) -> HeldRow? { rows.isEmpty ? nil : rows[key] }

    func hold(_ key: ConcurrentChanges.TableKey, _ row: HeldRow) throws {
        rows[key] = row
        try db.cachedStatement(
            sql: """
                INSERT INTO _journal_held (tbl, key, reason, detail, stamp, origin, image) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (tbl, key) DO UPDATE SET reason = excluded.reason, detail = excluded.detail,
                  stamp = excluded.stamp, origin = excluded.origin, image = excluded.image
                """
        ).execute(arguments: [
            key.table, Data(key.key.bytes), row.reason.rawValue, row.detail, row.stamp.rawValue,
            Data(row.origin.bytes), Data(row.image.encoded()),
        ])
    }

    func release(_ key: ConcurrentChanges.TableKey) throws {
        guard rows.removeValue(forKey: key) != nil else { return }
        try db.cachedStatement(sql: "DELETE FROM _journal_held WHERE tbl = ? AND key = ?")
            .execute(arguments: [key.table, Data(key.key.bytes)])
    }

    /// The held rows with the earliest claim first: the order in which they may return.
    var byClaim: [(key: ConcurrentChanges.TableKey, row: HeldRow)] {
        rows.map { (key: $0.key, row: $0.value) }.sorted {
            ($0.row.stamp, $0.row.origin) != ($1.row.stamp, $1.row.origin)
                ? ($0.row.stamp, $0.row.origin) < ($1.row.stamp, $1.row.origin)
                : $0.key.key.bytes.lexicographicallyPrecedes($1.key.key.bytes)
        }
    }
}
