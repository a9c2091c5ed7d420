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

/// The held rows, `_journal_held`. A row is read when a transaction asks for it or for its table, so rows
/// that a transaction has nothing to do with cost it nothing. Changes are written at its end.
final class HeldRows {
    private let db: Database
    /// The tables of the held rows: those of the file, and those of rows that this transaction has held.
    private(set) var tables: Set<Int64>
    /// The tables of the file's held rows, by reason, and all of them.
    private let tablesByReason: [HoldReason: Set<Int64>]
    private let tablesInFile: Set<Int64>
    /// The rows that were read, as the file has them.
    private var stored: [TableKey: HeldRow] = [:]
    /// The rows that were read, with the changes of this transaction.
    private var rows: [TableKey: HeldRow] = [:]
    /// The keys and the tables that were looked up.
    private var readKeys: Set<TableKey> = []
    private var readTables: Set<Int64> = []

    /// - Throws: ``JournalError/Code/corrupt`` for a reason that cannot be read; errors of SQLite.
    init(_ db: Database) throws {
        self.db = db
        tablesByReason = try HeldRows.tables(db)
        tablesInFile = tablesByReason.values.reduce(into: []) { $0.formUnion($1) }
        tables = tablesInFile
    }

    /// The tables of the held rows in the file, by reason. The cost does not depend on the number of rows.
    ///
    /// - Throws: As ``init(_:)``.
    static func tables(_ db: Database) throws -> [HoldReason: Set<Int64>] {
        // One search for each answer. A comparison of the pair would walk through all rows of one reason.
        let nextReason = try db.cachedStatement(sql: "SELECT min(reason) FROM _journal_held WHERE reason > ?")
        let nextTable = try db.cachedStatement(sql: "SELECT min(tbl) FROM _journal_held WHERE reason = ? AND tbl > ?")
        var tables: [HoldReason: Set<Int64>] = [:]
        var last = ""
        while let text = try String.fetchOne(nextReason, arguments: [last]) {
            guard let reason = HoldReason(rawValue: text), reason.isOfRow else { throw HeldRows.isCorrupt }
            var table = Int64.min
            while let next = try Int64.fetchOne(nextTable, arguments: [text, table]) {
                tables[reason, default: []].insert(next)
                table = next
            }
            last = text
        }
        return tables
    }

    /// True when the file held no row when the transaction began.
    var wereEmpty: Bool { tablesInFile.isEmpty }

    /// The rows that this transaction has changed.
    var changedKeys: [TableKey] {
        rows.keys.filter { stored[$0] != rows[$0] } + stored.keys.filter { rows[$0] == nil }
    }

    subscript(key: TableKey) -> HeldRow? {
        get throws {
            try read(key)
            return rows[key]
        }
    }

    /// The row as the file has it; nil when it does not hold the row, or nobody has asked for the row.
    func before(_ key: TableKey) -> HeldRow? { stored[key] }

    func hold(_ key: TableKey, _ row: HeldRow) throws {
        try read(key)
        rows[key] = row
        tables.insert(key.table)
    }

    func release(_ key: TableKey) throws {
        try read(key)
        rows[key] = nil
    }

    /// The held rows of some tables, in the order of their keys.
    func rows(of wanted: Set<Int64>) throws -> [(key: TableKey, row: HeldRow)] {
        for table in wanted where tablesInFile.contains(table) && readTables.insert(table).inserted {
            try read(
                Row.fetchCursor(
                    db.cachedStatement(sql: HeldRows.selection + "WHERE tbl = ?"), arguments: [table]))
        }
        return sorted { key, _ in wanted.contains(key.table) }
    }

    /// The rows that are held for `reason`, in the order of their keys.
    func rows(for reason: HoldReason) throws -> [(key: TableKey, row: HeldRow)] {
        if tablesByReason[reason] != nil {
            try read(
                Row.fetchCursor(
                    db.cachedStatement(sql: HeldRows.selection + "WHERE reason = ?"), arguments: [reason.rawValue]))
        }
        return sorted { _, row in row.reason == reason }
    }

    /// The number of held rows in the file.
    static func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM _journal_held")) ?? 0
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

    // MARK: - Reading

    private static let selection = "SELECT tbl, key, reason, detail, image, shown FROM _journal_held "

    private static var isCorrupt: JournalError { JournalError(.corrupt, "A row of _journal_held cannot be read") }

    private func sorted(_ isWanted: (TableKey, HeldRow) -> Bool) -> [(key: TableKey, row: HeldRow)] {
        rows.filter { isWanted($0.key, $0.value) }.sorted { $0.key < $1.key }.map { (key: $0.key, row: $0.value) }
    }

    private func read(_ key: TableKey) throws {
        guard tablesInFile.contains(key.table), !readTables.contains(key.table), !readKeys.contains(key) else { return }
        try read(
            Row.fetchCursor(
                db.cachedStatement(sql: HeldRows.selection + "WHERE tbl = ? AND key = ?"),
                arguments: [key.table, Data(key.key.bytes)]))
        readKeys.insert(key)
    }

    private func read(_ cursor: RowCursor) throws {
        while let row = try cursor.next() {
            let bytes: Data = row["key"]
            let key = TableKey(table: row["tbl"], key: Key(bytes: Array(bytes)))
            // This transaction may have changed a row that it has read before.
            guard readKeys.insert(key).inserted else { continue }
            let image: Data = row["image"]
            guard let image = RowImage(encoded: Array(image)[...]), let reason = HoldReason(rawValue: row["reason"]),
                reason.isOfRow
            else { throw HeldRows.isCorrupt }
            let held = HeldRow(reason: reason, detail: row["detail"], image: image, isShown: row["shown"])
            stored[key] = held
            rows[key] = held
        }
    }
}
