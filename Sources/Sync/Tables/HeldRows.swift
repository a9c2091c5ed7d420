import Foundation
import GRDB
import Journal

extension HoldReason {
    /// True when a change of other rows can make the row visible.
    var dependsOnOthers: Bool { self != .incomplete && self != .policy && self != .key }

    /// True when the table refuses the row regardless of other rows.
    var isOfTheRow: Bool { self == .notNull || self == .check || self == .datatype }
}

/// A held row, with everything that merging has made of it so far.
struct HeldRow: Hashable {
    var reason: HoldReason
    var detail: String
    /// The merged values of the whole row. When ``isShown`` is true, only the key and the columns that the
    /// table shows with other values.
    var image: RowImage
    /// True for a row that its table shows with a substitute for a missing parent.
    var isShown = false
}

/// The held rows, `_journal_held`. They are read once per transaction, and changes are written at its end.
final class HeldRows {
    private let db: Database
    /// The rows as the file has them.
    private(set) var stored: [TableKey: HeldRow] = [:]
    private(set) var rows: [TableKey: HeldRow] = [:]

    init(_ db: Database) throws {
        self.db = db
        let cursor = try Row.fetchCursor(
            db, sql: "SELECT tbl, key, reason, detail, image, shown FROM _journal_held")
        while let row = try cursor.next() {
            let key: Data = row["key"]
            let image: Data = row["image"]
            guard let image = RowImage(encoded: Array(image)[...]), let reason = HoldReason(rawValue: row["reason"]),
                reason.isOfRow
            else { throw JournalError(.corrupt, "A row of _journal_held cannot be read") }
            rows[.init(table: row["tbl"], key: Key(bytes: Array(key)))] = HeldRow(
                reason: reason, detail: row["detail"], image: image, isShown: row["shown"])
        }
        stored = rows
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The rows that differ from the file.
    var changedKeys: [TableKey] {
        rows.keys.filter { stored[$0] != rows[$0] } + stored.keys.filter { rows[$0] == nil }
    }

    subscript(key: TableKey) -> HeldRow? { rows.isEmpty ? nil : rows[key] }

    func hold(_ key: TableKey, _ row: HeldRow) { rows[key] = row }

    func release(_ key: TableKey) {
        if !rows.isEmpty { rows[key] = nil }
    }

    /// Writes the differences to the file.
    func write() throws {
        for key in stored.keys.sorted() where rows[key] == nil {
            try db.cachedStatement(sql: "DELETE FROM _journal_held WHERE tbl = ? AND key = ?")
                .execute(arguments: [key.table, Data(key.key.bytes)])
        }
        for (key, row) in rows.sorted(by: { $0.key < $1.key }) where stored[key] != row {
            try db.cachedStatement(
                sql: """
                    INSERT INTO _journal_held (tbl, key, reason, detail, image, shown) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (tbl, key) DO UPDATE SET reason = excluded.reason, detail = excluded.detail,
                      image = excluded.image, shown = excluded.shown
                    """
            ).execute(arguments: [
                key.table, Data(key.key.bytes), row.reason.rawValue, row.detail, Data(row.image.encoded()), row.isShown,
            ])
        }
        stored = rows
    }
}
