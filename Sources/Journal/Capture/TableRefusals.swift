import GRDB

/// The tables of a file that are not tracked, by name.
struct TableRefusals {
    private var byName: [String: TableRefusal] = [:]

    /// - Parameters:
    ///   - tables: All ordinary tables of the file.
    ///   - db: A connection as ``TableInspection/missing(_:)`` wants it.
    init(_ tables: [TableInspection], policy: TrackingPolicy, names: TableNames, _ db: Database) throws {
        for table in tables {
            byName[table.name] =
                try policy.refusal(of: table.name) ?? table.refusal ?? TableRefusals.twin(of: table, among: tables)
                ?? TableRefusals.olderName(table, among: tables, names)
                ?? table.missing(db).map { TableRefusal.needsProgram($0) }
        }
    }

    subscript(table: String) -> TableRefusal? { byName[table] }

    /// SQLite compares names byte by byte, and Swift by what they stand for: "é" is one code point or two.
    private static func twin(of table: TableInspection, among tables: [TableInspection]) -> TableRefusal? {
        let name = SQLText.foldedName(table.name)
        guard
            tables.contains(where: {
                Array($0.name.utf8) != Array(table.name.utf8) && SQLText.foldedName($0.name) == name
            })
        else {
            return nil
        }
        return TableRefusal(
            .ambiguousNames, "another table has the same name in another Unicode form (NFC and NFD)")
    }

    private static func olderName(
        _ table: TableInspection, among tables: [TableInspection], _ names: TableNames
    ) -> TableRefusal? {
        guard !names.isEmpty, let newer = tables.first(where: { names.isNewer($0.name, than: table.name) }) else {
            return nil
        }
        return TableRefusal(.olderName, "its name was declared an older name of \(newer.name)")
    }
}

extension TableInspection {
    /// Why the table's own definition forbids to track it; nil when it does not.
    var refusal: TableRefusal? {
        if keyCount == 0 {
            return TableRefusal(.noPrimaryKey, "it has no primary key, and no UNIQUE constraint over NOT NULL columns")
        }
        if stored.count > JournalLimits.columnsPerTable {
            return TableRefusal(
                .tooManyColumns,
                "it has \(stored.count) columns; at most \(JournalLimits.columnsPerTable) can be journalled")
        }
        if Set(columns.map { SQLText.foldedName($0.name) }).count < columns.count {
            return TableRefusal(
                .ambiguousNames, "two of its columns have one name in two Unicode forms (NFC and NFD)")
        }
        return nil
    }
}
