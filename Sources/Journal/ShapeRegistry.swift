import GRDB

/// The shapes that a file's journal has ever used, and which of them the triggers write now.
public struct ShapeRegistry: Sendable {
    public struct Entry: Sendable {
        public let id: Int64
        /// Shared by all shapes of one table name; stable for the life of the file.
        public let table: Int64
        public let shape: TableShape
        public let collations: [KeyCollation]
        public var isTracked: Bool
        /// The columns that rows here show as entries of this shape have them; nil when nobody has looked yet.
        public var joined: [String]?
    }

    public private(set) var entries: [Int64: Entry] = [:]

    public init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT shape, tbl, name, columns, key_count, collations, tracked, joined FROM _journal_tables")
        for row in rows {
            let entry = Entry(
                id: row["shape"], table: row["tbl"],
                shape: TableShape(
                    table: row["name"], columns: try NameList.decode(row["columns"]), keyCount: row["key_count"]),
                collations: try NameList.decode(row["collations"]).map { KeyCollation(rawValue: $0) ?? .binary },
                isTracked: row["tracked"], joined: try (row["joined"] as String?).map { try NameList.decode($0) })
            entries[entry.id] = entry
        }
    }

    public subscript(id: Int64) -> Entry? { entries[id] }

    /// The shape that the triggers of the table write now.
    public func tracked(table name: String) -> Entry? {
        let folded = SQLText.foldedName(name)
        return entries.values.first { $0.isTracked && SQLText.foldedName($0.shape.table) == folded }
    }

    /// The shape that the triggers of the table with the id `table` write now.
    public func tracked(tableID table: Int64) -> Entry? {
        entries.values.first { $0.isTracked && $0.table == table }
    }

    public func tableID(named name: String) -> Int64? {
        let folded = SQLText.foldedName(name)
        return entries.values.first { SQLText.foldedName($0.shape.table) == folded }?.table
    }

    /// The registered shape equal to `shape`, added when there is none.
    ///
    /// - Parameter collations: Of the key columns; nil takes those that this file's own table of that name has.
    public mutating func register(
        _ shape: TableShape, collations: [KeyCollation]? = nil, in db: Database
    ) throws -> Entry {
        let folded = SQLText.foldedName(shape.table)
        let siblings = entries.values.filter { SQLText.foldedName($0.shape.table) == folded }
        let collations = collations ?? siblings.first { $0.isTracked }?.collations ?? []
        if let known = siblings.first(where: { $0.shape == shape && $0.collations == collations }) { return known }
        let id = (entries.keys.max() ?? 0) + 1
        let entry = Entry(
            id: id, table: siblings.first?.table ?? id, shape: shape, collations: collations, isTracked: false,
            joined: nil)
        try db.execute(
            sql: """
                INSERT INTO _journal_tables (shape, tbl, name, columns, key_count, collations, tracked)
                VALUES (?, ?, ?, ?, ?, ?, 0)
                """,
            arguments: [
                id, entry.table, shape.table, NameList.encode(shape.columns), shape.keyCount,
                NameList.encode(collations.map(\.rawValue)),
            ])
        try JournalSchema.widen(db, toColumns: shape.columns.count)
        entries[id] = entry
        return entry
    }

    /// Notes which columns of a shape rows here show as its entries have them.
    public mutating func join(_ columns: [String], of id: Int64, in db: Database) throws {
        guard entries[id]?.joined != columns else { return }
        entries[id]?.joined = columns
        try db.execute(
            sql: "UPDATE _journal_tables SET joined = ? WHERE shape = ?", arguments: [NameList.encode(columns), id])
    }

    /// Makes `id` the one shape that the triggers of its table write; nil stops tracking `table`.
    mutating func track(_ id: Int64?, table: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET tracked = (shape IS ?) WHERE tbl = ? AND tracked <> (shape IS ?)",
            arguments: [id, table, id])
        for entry in entries.values where entry.table == table && entry.isTracked != (entry.id == id) {
            entries[entry.id]?.isTracked = entry.id == id
        }
    }
}
