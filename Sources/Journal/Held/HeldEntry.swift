import Foundation
import GRDB

/// Something that was received and is not shown: a row that a constraint refuses, or the changes of a table or column that is
/// not in this file.
public struct HeldEntry: Sendable {
    /// The number in this file; nil for changes that stand in the journal only.
    public let id: Int64?
    /// The table's name, as it is called here, or as its changes call it when it is not here.
    public let table: String
    /// The primary key; empty where ``id`` is nil.
    public let key: [ConflictEntry.Column]
    /// Why: `unique`, `foreign_key`, `not_null`, `check`, `datatype`, `key`, `incomplete`, `policy`, `missing_table`, `missing_column`,
    /// `different_key`, `needs_program`; more may come.
    public let reason: String
    /// The same for a person.
    public let detail: String
    /// The row as merging has made it so far, without its key; the names of the unknown columns with NULL for
    /// `missing_column`.
    public let columns: [ConflictEntry.Column]
    /// True for a row that stands in its table with a substitute for a parent that is not there; ``columns`` are those it lacks.
    public let isShown: Bool
    /// How many changes of the journal are concerned, where ``id`` is nil.
    public let changes: Int?
}

/// Reads what is set aside in a file.
public struct HeldEntries {
    private let db: Database
    private let reader: JournalReader

    /// - Throws: As ``JournalReader/init(_:)``.
    public init(_ db: Database) throws {
        self.db = db
        reader = try JournalReader(db)
    }

    /// Rows in the order in which they were set aside, then a line for each unknown table, and for the unknown columns of each
    /// table.
    ///
    /// - Parameters:
    ///   - table: Only of this table, compared as SQLite compares names.
    ///   - reason: Only with this ``HeldEntry/reason``.
    /// - Throws: ``JournalError/Code/corrupt`` when a held row cannot be read; errors of SQLite.
    public func all(table: String? = nil, reason: String? = nil) throws -> [HeldEntry] {
        var entries: [HeldEntry] = []
        try forEach(table: table, reason: reason) { entries.append($0) }
        return entries
    }

    /// As ``all(table:reason:)``, one after the other: held rows may be many.
    ///
    /// - Throws: What `body` throws; otherwise as ``all(table:reason:)``.
    public func forEach(table: String? = nil, reason: String? = nil, _ body: (HeldEntry) throws -> Void) throws {
        let folded = table.map(SQLText.foldedName)
        let cursor = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, tbl, key, reason, detail, image, shown FROM _journal_held
                WHERE ?1 IS NULL OR reason = ?1 ORDER BY id
                """, arguments: [reason])
        while let row = try cursor.next() {
            let entry = try entry(row)
            if folded == nil || folded == SQLText.foldedName(entry.table) { try body(entry) }
        }
        for entry in try UnknownChanges(db: db, registry: reader.registry).all() {
            guard reason == nil || reason == entry.reason else { continue }
            if folded == nil || folded == SQLText.foldedName(entry.table) { try body(entry) }
        }
    }

    /// How many rows are held, by reason. Does not look for unknown tables and columns, which costs a walk.
    ///
    /// - Throws: Errors of SQLite.
    public static func counts(_ db: Database) throws -> [(reason: String, rows: Int)] {
        try Row.fetchAll(
            db, sql: "SELECT reason, count(*) AS n FROM _journal_held GROUP BY reason ORDER BY reason"
        ).map { (reason: $0["reason"], rows: $0["n"]) }
    }

    private func entry(_ row: Row) throws -> HeldEntry {
        let table: Int64 = row["tbl"]
        let bytes: Data = row["image"]
        let shapes = reader.registry.entries.values.filter { $0.table == table }
        guard let image = RowImage(encoded: Array(bytes)[...]),
            let shape = (shapes.first { $0.isTracked } ?? shapes.max { $0.id < $1.id })?.shape
        else { throw JournalError(.corrupt, "a row of _journal_held cannot be read") }
        let folded = Dictionary(
            image.columns.map { (SQLText.foldedName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        let keys = shape.keyColumns.compactMap { name in
            folded[SQLText.foldedName(name)].map { (column: name, value: $0) }
        }
        let isKey = Set(shape.keyColumns.map(SQLText.foldedName))
        return HeldEntry(
            id: row["id"], table: shape.table, key: keys, reason: row["reason"], detail: row["detail"],
            columns: image.columns.filter { !isKey.contains(SQLText.foldedName($0.key)) }
                .sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) },
            isShown: row["shown"], changes: nil)
    }
}
