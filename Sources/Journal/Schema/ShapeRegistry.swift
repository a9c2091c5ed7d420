import GRDB

/// All shapes that a file's journal has used, and which of them the triggers write.
package struct ShapeRegistry: Sendable {
    /// One shape, with this file's data about its table.
    package struct Entry: Sendable {
        /// The number by which journal entries refer to the shape, from 1 on.
        package let id: Int64
        /// The id of the table, which all its shapes share under all names of ``TableNames``. It changes only
        /// when another name is declared.
        package fileprivate(set) var table: Int64
        /// The shape, with the table's name in this file, or the name that its changes carry when this file
        /// has no such table.
        package fileprivate(set) var shape: TableShape
        /// The name under which peers receive the entries. It never changes, so a version always has the same
        /// content.
        package fileprivate(set) var wireName: String
        /// The collations of the key columns, in key order; missing ones are BINARY. All shapes of a table
        /// with the same key columns share the local table's collations, including shapes that were received
        /// before the table existed.
        package fileprivate(set) var collations: [KeyCollation]
        /// True for the shape that the triggers of a table in this file write.
        package var isTracked: Bool
        /// The columns of this shape whose merged values the rows here show; nil until merging records them.
        /// Empty when rows can show none: this file has no such table, the table has another key, or only its
        /// own program can write it. While a backfill is due, the list also contains ``isDueMark``.
        package var shownColumns: [String]?

        /// The position of the last change that rows here showed when a column of the shape was last dropped or got
        /// another name; 0 when none was. What replicas are told of this file (``ShownKnowledge``) counts the entries up
        /// to it as seen.
        package fileprivate(set) var shownUntil: Int64 = 0

        /// An element of ``shownColumns`` that marks the shape for another backfill: the table is new in this
        /// file, was renamed, or compares its keys differently. No column has this name.
        package static let isDueMark = "\u{0}"
    }

    /// The shapes by their ids.
    package private(set) var entries: [Int64: Entry] = [:]
    /// The declared names of tables.
    package let names: TableNames
    /// The greatest number of key columns that a shape has.
    private(set) var widestKey = 1
    /// The shapes that the file had when the registry was read.
    private var wasKnown: Set<Int64> = []

    /// Reads what the snapshot of `db` holds.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a list of names that cannot be read; errors of SQLite.
    package init(_ db: Database) throws {
        try self.init(db, names: TableNames(db))
    }

    init(_ db: Database, names: TableNames) throws {
        self.names = names
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT * FROM _journal_tables"))
        while let row = try rows.next() {
            let entry = try Entry(row)
            entries[entry.id] = entry
            widestKey = max(widestKey, entry.shape.keyCount)
        }
        wasKnown = Set(entries.keys)
        // Most files have no renamed table, and this runs for every reader.
        guard !names.isEmpty else { return }
        for entry in entries.values where entry.isTracked { name(table: entry.table, entry.shape.table) }
    }

    /// Reads the shape that the triggers of a table write, without the others. The table can be given by any of its
    /// names.
    ///
    /// - Throws: As ``init(_:)``.
    package static func tracked(table name: String, _ db: Database) throws -> Entry? {
        let names = try TableNames(db)
        if names.isEmpty,
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM _journal_tables WHERE tracked AND name = ?"), arguments: [name])
        {
            return try Entry(row)
        }
        return try ShapeRegistry(db, names: names).tracked(table: name)
    }

    /// The shape with the id `id`; nil when there is none.
    package subscript(id: Int64) -> Entry? { entries[id] }

    /// Returns the shape that the triggers of a table write. The table can be given by any of its names.
    package func tracked(table name: String) -> Entry? {
        let folded = names.folded(name)
        return entries.values.first { $0.isTracked && names.folded($0.shape.table) == folded }
    }

    /// Returns the shape that the triggers of the table with the id `table` write.
    package func tracked(tableID table: Int64) -> Entry? {
        entries.values.first { $0.isTracked && $0.table == table }
    }

    /// Returns the id that all shapes of a table share, by any of its names; nil when the journal does not
    /// know the table.
    package func tableID(named name: String) -> Int64? {
        let folded = names.folded(name)
        return entries.values.first { names.folded($0.wireName) == folded }?.table
    }

    /// Returns the registered shape equal to a peer's shape, and adds it when there is none.
    ///
    /// - Throws: Errors of SQLite; nothing is registered in memory then.
    package mutating func register(_ shape: TableShape, in db: Database) throws -> Entry {
        try register(shape, wireName: shape.table, collations: nil, in: db)
    }

    /// Returns the registered shape of a table of this file, and adds it when there is none.
    ///
    /// - Returns: The shape, and whether the keys that the file stores for the table were made with other
    ///   collations. ``KeyRenewal`` must then rewrite them.
    mutating func register(_ table: TableInspection, in db: Database) throws -> (entry: Entry, hasOldKeys: Bool) {
        let entry = try register(
            table.shape, wireName: names.wireName(of: table.name), collations: table.keyCollations, in: db)
        let hasOldKeys = try adopt(table.keyCollations, of: entry, in: db)
        return (entries[entry.id] ?? entry, hasOldKeys)
    }

    /// Returns the registered shape with `columns`, which begin with the key, of the table of `entry`, and
    /// adds it when there is none.
    ///
    /// - Throws: Errors of SQLite; nothing is registered in memory then.
    mutating func register(columns: [String], of entry: Entry, in db: Database) throws -> Entry {
        let shape = TableShape(table: entry.shape.table, columns: columns, keyCount: entry.shape.keyCount)
        return try register(shape, wireName: entry.wireName, collations: entry.collations, in: db)
    }

    /// - Parameter collations: The collations of the key columns; nil for those of the table's other shapes.
    private mutating func register(
        _ shape: TableShape, wireName: String, collations: [KeyCollation]?, in db: Database
    ) throws -> Entry {
        let folded = names.folded(wireName)
        let siblings = entries.values.filter { names.folded($0.wireName) == folded }
        let tracked = siblings.first { $0.isTracked }
        let alike = siblings.filter { $0.shape.hasKey(of: shape) }
        let known = alike.filter { $0.wireName == wireName && $0.shape.columns == shape.columns }
        // A file of an earlier release may have several equal shapes with different collations.
        if let known = known.first(where: \.isTracked) ?? known.min(by: { $0.id < $1.id }) { return known }
        let collations = collations ?? alike.first?.collations ?? []
        let id = (entries.keys.max() ?? 0) + 1
        var entry = Entry(
            id: id, table: siblings.first?.table ?? id, shape: shape, wireName: wireName, collations: collations,
            isTracked: false, shownColumns: nil)
        try db.execute(
            sql: """
                INSERT INTO _journal_tables (shape, tbl, name, columns, key_count, collations, tracked, wire)
                VALUES (?, ?, ?, ?, ?, ?, 0, ?)
                """,
            arguments: [
                id, entry.table, shape.table, NameList.encode(shape.columns), shape.keyCount,
                NameList.encode(collations.map(\.rawValue)), wireName == shape.table ? nil : wireName,
            ])
        try JournalSchema.widen(db, toColumns: shape.columns.count)
        if let tracked, !names.isEmpty { entry.shape = entry.shape.named(tracked.shape.table) }
        entries[id] = entry
        widestKey = max(widestKey, shape.keyCount)
        return entry
    }

    /// True when the journal may hold values of columns that are new to a table here: another shape with the
    /// table's key has one of them.
    ///
    /// - Parameters:
    ///   - columns: The columns, as indices of ``TableInspection/stored``.
    ///   - entry: The table's present shape, which was just registered for these columns.
    func hasHistory(of columns: Set<Int>, in table: TableInspection, entry: Entry) -> Bool {
        let names = Set(columns.map { SQLText.foldedName(table.stored[$0].name) })
        return entries.values.contains { other in
            other.table == entry.table && (other.id != entry.id || wasKnown.contains(entry.id))
                && other.shape.hasKey(of: entry.shape)
                && other.shape.columns.contains { names.contains(SQLText.foldedName($0)) }
        }
    }

    /// Updates the collations of all shapes of the table.
    ///
    /// The collations differ when changes arrived before their table existed, and when a migration changed
    /// how the key compares. Derived state must be materialized.
    ///
    /// - Returns: True when a shape had other collations.
    private mutating func adopt(_ collations: [KeyCollation], of entry: Entry, in db: Database) throws -> Bool {
        // Missing collations are BINARY.
        func folding(_ collations: [KeyCollation]) -> [KeyCollation] {
            collations.contains { $0 != .binary } ? collations : []
        }
        let others = entries.values.filter {
            $0.table == entry.table && folding($0.collations) != folding(collations)
                && $0.shape.hasKey(of: entry.shape)
        }
        guard !others.isEmpty else { return false }
        for other in others {
            entries[other.id]?.collations = collations
            try db.execute(
                sql: "UPDATE _journal_tables SET collations = ? WHERE shape = ?",
                arguments: [NameList.encode(collations.map(\.rawValue)), other.id])
            // Entries of rows that have become one row must be merged again.
            try backfillAgain(other.id, in: db)
        }
        return true
    }

    /// Records which columns of a shape the rows here show.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back, and the registry read again.
    package mutating func show(_ columns: [String], of id: Int64, in db: Database) throws {
        guard entries[id]?.shownColumns != columns else { return }
        entries[id]?.shownColumns = columns
        try db.execute(
            sql: "UPDATE _journal_tables SET joined = ? WHERE shape = ?", arguments: [NameList.encode(columns), id])
    }

    /// Records that rows here showed the columns up to now, and do not have them any more under these names.
    ///
    /// - Parameters:
    ///   - columns: Columns of `former`, the shape that the triggers have written so far. What a shape with other columns
    ///     besides has brought was not shown before either.
    ///   - last: The position of the newest entry.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back, and the registry read again.
    mutating func noteGone(_ columns: [String], of former: Entry, after last: Int64, in db: Database) throws {
        let gone = Set(columns.map(SQLText.foldedName))
        guard !gone.isEmpty else { return }
        let shown = Set(former.shape.columns.map(SQLText.foldedName))
        for (id, entry) in entries where entry.table == former.table {
            let names = Set(entry.shape.columns.map(SQLText.foldedName))
            guard names.isSubset(of: shown), !names.isDisjoint(with: gone) else { continue }
            entries[id]?.shownUntil = last
            try db.execute(sql: "UPDATE _journal_tables SET gone = ? WHERE shape = ?", arguments: [last, id])
        }
    }

    /// Marks a shape for another backfill. The record of the columns that rows show stays.
    mutating func backfillAgain(_ id: Int64, in db: Database) throws {
        guard let shown = entries[id]?.shownColumns, !shown.contains(Entry.isDueMark) else { return }
        try show(shown + [Entry.isDueMark], of: id, in: db)
    }

    /// Marks all shapes of a table for another backfill.
    ///
    /// - Parameter columns: The columns of the table that rows do not show from now on until then.
    mutating func backfillAgain(table: Int64, hiding columns: [String], in db: Database) throws {
        let hidden = Set(columns.map(SQLText.foldedName))
        for (id, entry) in entries where entry.table == table {
            // Before the first merge, rows show all columns of the shapes that were captured here.
            let shown = entry.shownColumns ?? entry.shape.columns
            try show(shown.filter { !hidden.contains(SQLText.foldedName($0)) }, of: id, in: db)
            try backfillAgain(id, in: db)
        }
    }

    /// Returns the columns of a table that rows do not show yet, because a backfill is due: as indices of
    /// ``TableInspection/stored``.
    func hiddenColumns(of table: TableInspection, entry: Entry) -> Set<Int> {
        let hidden = entries.values.filter { $0.table == entry.table && $0.shape.hasKey(of: entry.shape) }.flatMap {
            shape in
            let shown = shape.shownColumns.map(Set.init)
            return shape.shape.valueColumns.filter { shown?.contains($0) == false }.map(SQLText.foldedName)
        }
        return Set(
            table.stored.indices.dropFirst(table.keyCount).filter {
                hidden.contains(SQLText.foldedName(table.stored[$0].name))
            })
    }

    /// Makes `id` the only shape that the triggers of its table write; nil ends the tracking of `table`.
    mutating func track(_ id: Int64?, table: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET tracked = (shape IS ?) WHERE tbl = ? AND tracked <> (shape IS ?)",
            arguments: [id, table, id])
        for entry in entries.values where entry.table == table && entry.isTracked != (entry.id == id) {
            entries[entry.id]?.isTracked = entry.id == id
            if entry.id == id, entry.shownColumns == [] { try backfillAgain(entry.id, in: db) }
        }
    }

    /// Records the name that the table of a shape has in this file.
    mutating func name(_ id: Int64, _ name: String, in db: Database) throws {
        guard let entry = entries[id] else { return }
        try db.execute(
            sql: "UPDATE _journal_tables SET name = ?, wire = ? WHERE shape = ? AND name <> ?",
            arguments: [name, entry.wireName == name ? nil : entry.wireName, id, name])
        self.name(table: entry.table, name)
    }

    private mutating func name(table: Int64, _ name: String) {
        for entry in entries.values where entry.table == table && entry.shape.table != name {
            entries[entry.id]?.shape = entry.shape.named(name)
        }
    }
}

extension TableShape {
    /// True when both have the same key columns, in the same order.
    func hasKey(of other: TableShape) -> Bool {
        keyColumns.map(SQLText.foldedName) == other.keyColumns.map(SQLText.foldedName)
    }

    /// The same shape under another table name.
    fileprivate func named(_ name: String) -> TableShape {
        TableShape(table: name, columns: columns, keyCount: keyCount)
    }
}

extension ShapeRegistry.Entry {
    /// The shape as peers receive it.
    package var wireShape: TableShape { shape.named(wireName) }
}

extension ShapeRegistry.Entry {
    /// Reads a row of `_journal_tables`.
    fileprivate init(_ row: Row) throws {
        let name: String = row["name"]
        self.init(
            id: row["shape"], table: row["tbl"],
            shape: TableShape(table: name, columns: try NameList.decode(row["columns"]), keyCount: row["key_count"]),
            wireName: row["wire"] ?? name,
            collations: try NameList.decode(row["collations"]).map { KeyCollation(rawValue: $0) ?? .binary },
            isTracked: row["tracked"], shownColumns: try (row["joined"] as String?).map { try NameList.decode($0) })
        shownUntil = row["gone"] ?? 0
    }
}
