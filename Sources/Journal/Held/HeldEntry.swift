import Foundation
import GRDB

/// Something in the journal that tables do not show: a held row, or changes of a table or column that is not
/// in this file.
public struct HeldEntry: Sendable {
    /// What an entry is about. Later releases may add more.
    public enum Subject: Sendable {
        /// A row that its table does not show, or shows with substitutes.
        case row(Row)
        /// Changes that wait in the journal for their table or columns.
        case changes(Changes)
    }

    /// A held row.
    public struct Row: Sendable {
        /// The number of the held row in this file.
        public let id: Int64
        /// The primary key.
        public let key: [ConflictEntry.Column]
        /// The merged values of the row, without its key.
        public let columns: [ConflictEntry.Column]
        /// True for a row that its table shows with a substitute for a missing parent; ``columns`` then holds
        /// the values that the substitute replaces.
        public let isShown: Bool
    }

    /// Changes of the journal that this file cannot show.
    public struct Changes: Sendable {
        /// The number of changes.
        public let count: Int
        /// The names of the columns that are not in this file; empty unless ``HeldEntry/reason`` is
        /// `missing_column`.
        public let columns: [String]
    }

    /// The table's name in this file, or the name that its changes carry when this file does not have the
    /// table.
    public let table: String
    /// The text of a ``HoldReason``. Later releases may add more.
    public let reason: String
    /// The reason as a phrase for people.
    public let detail: String
    /// The row, or the changes.
    public let subject: Subject

    /// The held row; nil for changes of an unknown table or column.
    public var row: Row? {
        guard case .row(let row) = subject else { return nil }
        return row
    }

    /// The waiting changes; nil for a held row.
    public var changes: Changes? {
        guard case .changes(let changes) = subject else { return nil }
        return changes
    }

    /// The primary key of the held row; empty for changes.
    public var key: [ConflictEntry.Column] { row?.key ?? [] }
}

extension HeldEntry {
    /// The entry as listings show it, without the values of secret columns.
    package func hiding(_ secrets: SecretColumns) -> HeldEntry {
        guard let row else { return self }
        let shown = HeldEntry.Row(
            id: row.id, key: row.key, columns: secrets.shown(row.columns, in: table), isShown: row.isShown)
        return HeldEntry(table: table, reason: reason, detail: detail, subject: .row(shown))
    }
}

/// Reads the held rows of a file and its changes of unknown tables and columns.
public struct HeldEntries {
    private let db: Database
    private let reader: JournalReader

    /// - Throws: As ``JournalReader/init(_:)``.
    public init(_ db: Database) throws {
        self.db = db
        reader = try JournalReader(db)
    }

    /// - Parameter reader: A reader of the same snapshot.
    init(_ db: Database, reader: JournalReader) {
        self.db = db
        self.reader = reader
    }

    /// Returns the held row with a number; nil when there is none.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when it cannot be read; errors of SQLite.
    func row(_ id: Int64) throws -> HeldEntry? {
        try Row.fetchOne(
            db, sql: "SELECT id, tbl, key, reason, detail, image, shown FROM _journal_held WHERE id = ?",
            arguments: [id]
        ).map(entry)
    }

    /// Returns the held rows in the order in which they were set aside; then one entry for each unknown
    /// table, and one for the unknown columns of each table.
    ///
    /// - Parameters:
    ///   - table: Returns only entries of this table; names compare as SQLite compares them.
    ///   - reason: Returns only entries with this ``HeldEntry/reason``.
    /// - Throws: ``JournalError/Code/corrupt`` when a held row cannot be read; errors of SQLite.
    public func all(table: String? = nil, reason: String? = nil) throws -> [HeldEntry] {
        var entries: [HeldEntry] = []
        try forEach(table: table, reason: reason) { entries.append($0) }
        return entries
    }

    /// Calls `body` with the entries that ``all(table:reason:)`` returns, one after another: there may be
    /// many.
    ///
    /// - Throws: What `body` throws; otherwise as ``all(table:reason:)``.
    public func forEach(table: String? = nil, reason: String? = nil, _ body: (HeldEntry) throws -> Void) throws {
        let folded = table.map(SQLText.foldedName)
        try forEachRow(reason: reason) { entry in
            if folded == nil || folded == SQLText.foldedName(entry.table) { try body(entry) }
        }
        for entry in try UnknownChanges(db, reader.registry).all() {
            guard reason == nil || reason == entry.reason else { continue }
            if folded == nil || folded == SQLText.foldedName(entry.table) { try body(entry) }
        }
    }

    /// Returns the held rows in the order in which they were set aside. Unlike ``all(table:reason:)``, it does
    /// not read the journal.
    ///
    /// - Throws: As ``all(table:reason:)``.
    package func rows() throws -> [HeldEntry] {
        var entries: [HeldEntry] = []
        try forEachRow(reason: nil) { entries.append($0) }
        return entries
    }

    private func forEachRow(reason: String?, _ body: (HeldEntry) throws -> Void) throws {
        let cursor = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, tbl, key, reason, detail, image, shown FROM _journal_held
                WHERE ?1 IS NULL OR reason = ?1 ORDER BY id
                """, arguments: [reason])
        while let row = try cursor.next() { try body(entry(row)) }
    }

    /// Returns the number of held rows by reason. Changes of unknown tables and columns are not counted,
    /// because that takes a walk over the journal.
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
        else { throw JournalError(.corrupt, "A row of _journal_held cannot be read") }
        let folded = Dictionary(
            image.columns.map { (SQLText.foldedName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        let keys = shape.keyColumns.compactMap { name in
            folded[SQLText.foldedName(name)].map { (column: name, value: $0) }
        }
        let isKey = Set(shape.keyColumns.map(SQLText.foldedName))
        let columns = image.columns.filter { !isKey.contains(SQLText.foldedName($0.key)) }
            .sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) }
        return HeldEntry(
            table: shape.table, reason: row["reason"], detail: row["detail"],
            subject: .row(HeldEntry.Row(id: row["id"], key: keys, columns: columns, isShown: row["shown"])))
    }
}
