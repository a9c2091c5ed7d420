import GRDB

/// The triggers of Tandem on a table.
struct InstalledTriggers {
    let sqlByName: [String: String]
    /// Triggers of Tandem with another table id in their names, which exist after a table was renamed.
    let foreign: [String]
    /// True when no trigger of the user is newer than Tandem's. SQLite runs the newest trigger first.
    let areYoungest: Bool

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
        for row in rows {
            let name: String = row["name"]
            if name.hasPrefix(prefix) {
                ours[name] = row["sql"]
            } else if name.hasPrefix(JournalSchema.prefix + "_") {
                foreign.append(name)
            } else if !ours.isEmpty {
                areYoungest = false
            }
        }
        sqlByName = ours
        self.foreign = foreign
        self.areYoungest = areYoungest
    }

    func match(_ wanted: [CaptureTriggers.Trigger]) -> Bool {
        foreign.isEmpty && sqlByName == Dictionary(uniqueKeysWithValues: wanted.map { ($0.name, $0.sql) })
    }

    /// True when triggers for every kind of write are installed, for any shape of the table.
    var areComplete: Bool {
        ["_insert", "_delete", "_key"].allSatisfy { suffix in sqlByName.keys.contains { $0.hasSuffix(suffix) } }
    }

    /// The columns of the new row that the insert trigger names, in its order, under their present names; nil
    /// without that trigger.
    var columns: [String]? {
        guard let sql = sqlByName.first(where: { $0.key.hasSuffix("_insert") && !$0.key.hasSuffix("_evict_insert") })
        else { return nil }
        return SQLToken.newColumns(in: sql.value).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
