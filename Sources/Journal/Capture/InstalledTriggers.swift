import GRDB

/// The triggers of Tandem on a table.
struct InstalledTriggers {
    let sqlByName: [String: String]
    /// Triggers of Tandem with another table id in their names, which exist after a table was renamed.
    let foreign: [String]
    /// True when no trigger of the user is newer than Tandem's. SQLite runs the newest trigger first.
    let areYoungest: Bool
    /// True when a trigger of the user that is newer than Tandem's can keep Tandem's from running for a row, by
    /// RAISE(IGNORE) (https://sqlite.org/lang_createtrigger.html#raise).
    let areIgnored: Bool

    init(_ db: Database, table: String, tableID: Int64) throws {
        let prefix = CaptureTriggers.namePrefix(tableID: tableID)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?) ORDER BY rowid
                """, arguments: [table])
        var ours: [String: String] = [:]
        var foreign: [String] = []
        var areYoungest = true
        var areIgnored = false
        for row in rows {
            let name: String = row["name"]
            if name.hasPrefix(prefix) {
                ours[name] = row["sql"]
            } else if name.hasPrefix(JournalSchema.prefix + "_") {
                foreign.append(name)
            } else if !ours.isEmpty {
                areYoungest = false
                let words = SQLToken.scan(row["sql"] ?? "").map { SQLText.foldedName($0.text) }
                if words.contains("ignore") { areIgnored = true }
            }
        }
        sqlByName = ours
        self.foreign = foreign
        self.areYoungest = areYoungest
        self.areIgnored = areIgnored
    }

    func match(_ wanted: [CaptureTriggers.Trigger]) -> Bool {
        foreign.isEmpty && sqlByName == Dictionary(uniqueKeysWithValues: wanted.map { ($0.name, $0.sql) })
    }

    /// True when triggers for every kind of write are installed, for any shape of the table.
    var areComplete: Bool {
        ["_insert", "_delete", "_key"].allSatisfy { suffix in sqlByName.keys.contains { $0.hasSuffix(suffix) } }
    }

    /// True when a trigger of the user may have run before Tandem's, so that the journal has the changes of a
    /// statement in another order, or lacks some.
    ///
    /// - Parameter sealed: A position up to which all changes are from the time of the last contact or earlier, when
    ///   no such trigger was there.
    /// - Throws: Errors of SQLite.
    func wereLate(table: Int64, _ registry: ShapeRegistry, since sealed: Int64, _ db: Database) throws -> Bool {
        guard !areYoungest, !areIgnored else { return !areYoungest }
        // Without a captured change, no row of the table was written since.
        let shapes = registry.entries.values.filter { $0.table == table }.map { String($0.id) }
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM _journal
                    WHERE seq > ? AND origin IS NULL AND shape IN (\(shapes.joined(separator: ", "))))
                """, arguments: [sealed]) ?? true
    }

    /// The columns of the new row that the insert trigger names, in its order, under their present names; nil
    /// without that trigger.
    var columns: [String]? {
        guard let sql = sqlByName.first(where: { $0.key.hasSuffix("_insert") && !$0.key.hasSuffix("_evict_insert") })
        else { return nil }
        return SQLToken.newColumns(in: sql.value).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
