import GRDB

/// The shapes that a file's journal has ever used, and which of them the triggers write now.
public struct ShapeRegistry: Sendable {
    /// One shape, with what this file knows of its table.
    public struct Entry: Sendable {
        /// The number by which journal entries name the shape, from 1 on.
        public let id: Int64
        /// Shared by all shapes of one table, under whatever name of ``TableNames``; stable until another name is declared.
        public fileprivate(set) var table: Int64
        /// With the name that the table has here; that under which its changes came, when there is no such table.
        public fileprivate(set) var shape: TableShape
        /// The name under which the entries travel. It never changes, so that a version never has two contents.
        public fileprivate(set) var wireName: String
        /// Of the key columns, in key order; missing ones are BINARY. All shapes of one table with one key have the same: those of the
        /// table here, also for what came before there was one.
        public fileprivate(set) var collations: [KeyCollation]
        /// True for the shape that the triggers of a table here write now.
        public var isTracked: Bool
        /// The columns that rows here show as entries of this shape have them; nil when no entry of others has come yet. Empty where
        /// rows cannot show any: there is no such table, it has another key, or only its own program can write it.
        public var shownColumns: [String]?

        /// Stands in ``shownColumns``, beside what rows show, until they are joined once more with what the journal holds: the table has just come
        /// here, has got another name, or compares its keys otherwise. No column has such a name.
        package static let isDueMark = "\u{0}"
    }

    /// The shapes by their ids.
    public private(set) var entries: [Int64: Entry] = [:]
    /// Which names mean one table.
    public let names: TableNames
    /// The most key columns of a shape.
    private(set) var widestKey = 1

    /// Reads what the snapshot of `db` holds.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a list of names that cannot be read; errors of SQLite.
    public init(_ db: Database) throws {
        try self.init(db, names: TableNames(db))
    }

    init(_ db: Database, names: TableNames) throws {
        self.names = names
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT * FROM _journal_tables"))
        while let row = try rows.next() {
            let name: String = row["name"]
            let entry = Entry(
                id: row["shape"], table: row["tbl"],
                shape: TableShape(
                    table: name, columns: try NameList.decode(row["columns"]), keyCount: row["key_count"]),
                wireName: row["wire"] ?? name,
                collations: try NameList.decode(row["collations"]).map { KeyCollation(rawValue: $0) ?? .binary },
                isTracked: row["tracked"], shownColumns: try (row["joined"] as String?).map { try NameList.decode($0) })
            entries[entry.id] = entry
            widestKey = max(widestKey, entry.shape.keyCount)
        }
        // Most files have never renamed a table, and this runs for every reader.
        guard !names.isEmpty else { return }
        for entry in entries.values where entry.isTracked { name(table: entry.table, entry.shape.table) }
    }

    /// The shape with this id; nil when there is none.
    public subscript(id: Int64) -> Entry? { entries[id] }

    /// The shape that the triggers of the table write now, by any name of the table.
    public func tracked(table name: String) -> Entry? {
        let folded = names.folded(name)
        return entries.values.first { $0.isTracked && names.folded($0.shape.table) == folded }
    }

    /// The shape that the triggers of the table with the id `table` write now.
    public func tracked(tableID table: Int64) -> Entry? {
        entries.values.first { $0.isTracked && $0.table == table }
    }

    /// The id that all shapes of the table share, by any name of the table; nil when the journal does not know it.
    public func tableID(named name: String) -> Int64? {
        let folded = names.folded(name)
        return entries.values.first { names.folded($0.wireName) == folded }?.table
    }

    /// The registered shape equal to that of a peer, added when there is none.
    ///
    /// - Throws: Errors of SQLite; nothing is registered in memory then.
    public mutating func register(_ shape: TableShape, in db: Database) throws -> Entry {
        try register(shape, wireName: shape.table, collations: nil, in: db)
    }

    /// The registered shape of a table of this file, added when there is none.
    mutating func register(_ table: TableInspection, in db: Database) throws -> Entry {
        let entry = try register(
            table.shape, wireName: names.wireName(of: table.name), collations: table.keyCollations, in: db)
        try adopt(table.keyCollations, of: entry, in: db)
        return entries[entry.id] ?? entry
    }

    /// - Parameter collations: Of the key columns; nil takes those of the other shapes of the table.
    private mutating func register(
        _ shape: TableShape, wireName: String, collations: [KeyCollation]?, in db: Database
    ) throws -> Entry {
        let folded = names.folded(wireName)
        let siblings = entries.values.filter { names.folded($0.wireName) == folded }
        let tracked = siblings.first { $0.isTracked }
        let alike = siblings.filter { $0.shape.hasKey(of: shape) }
        let known = alike.filter { $0.wireName == wireName && $0.shape.columns == shape.columns }
        // A file of an earlier release may have the same shape with several collations.
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

    /// Gives all shapes of a table the collations that its key has here, and all that the file remembers by key the keys that follow.
    ///
    /// Changes may come before their table does, and a migration may change how its key compares. Local entries must be sealed.
    private mutating func adopt(_ collations: [KeyCollation], of entry: Entry, in db: Database) throws {
        // Missing ones are BINARY.
        func folding(_ collations: [KeyCollation]) -> [KeyCollation] {
            collations.contains { $0 != .binary } ? collations : []
        }
        let others = entries.values.filter {
            $0.table == entry.table && folding($0.collations) != folding(collations)
                && $0.shape.hasKey(of: entry.shape)
        }
        guard !others.isEmpty else { return }
        for other in others {
            entries[other.id]?.collations = collations
            try db.execute(
                sql: "UPDATE _journal_tables SET collations = ? WHERE shape = ?",
                arguments: [NameList.encode(collations.map(\.rawValue)), other.id])
            // Rows are to show what is one row now.
            try backfillAgain(other.id, in: db)
        }
        try KeyRenewal(db: db, entry: entries[entry.id] ?? entry).run()
    }

    /// Notes which columns of a shape rows here show as its entries have them.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back, and the registry read anew.
    public mutating func show(_ columns: [String], of id: Int64, in db: Database) throws {
        guard entries[id]?.shownColumns != columns else { return }
        entries[id]?.shownColumns = columns
        try db.execute(
            sql: "UPDATE _journal_tables SET joined = ? WHERE shape = ?", arguments: [NameList.encode(columns), id])
    }

    /// Lets rows be joined once more with the entries of a shape; what they show already is not forgotten.
    mutating func backfillAgain(_ id: Int64, in db: Database) throws {
        guard let shown = entries[id]?.shownColumns, !shown.contains(Entry.isDueMark) else { return }
        try show(shown + [Entry.isDueMark], of: id, in: db)
    }

    /// Makes `id` the one shape that the triggers of its table write; nil stops tracking `table`.
    mutating func track(_ id: Int64?, table: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET tracked = (shape IS ?) WHERE tbl = ? AND tracked <> (shape IS ?)",
            arguments: [id, table, id])
        for entry in entries.values where entry.table == table && entry.isTracked != (entry.id == id) {
            entries[entry.id]?.isTracked = entry.id == id
            if entry.id == id, entry.shownColumns == [] { try backfillAgain(entry.id, in: db) }
        }
    }

    /// Notes what the table of a shape is called here now.
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
    /// The same columns under another name.
    fileprivate func named(_ name: String) -> TableShape {
        TableShape(table: name, columns: columns, keyCount: keyCount)
    }
}

extension ShapeRegistry.Entry {
    /// The shape as it travels.
    public var wireShape: TableShape { shape.named(wireName) }
}
