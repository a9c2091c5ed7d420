import GRDB

extension TableInspection {
    /// Returns what is listed in the main schema like a table and can never be tracked, by name: views;
    /// virtual tables and the shadow tables that hold their content; tables of the user whose names are
    /// reserved for Tandem. Tables of Tandem and SQLite are not listed.
    ///
    /// - Throws: Errors of SQLite.
    package static func untrackable(_ db: Database) throws -> [CaptureReport.Untracked] {
        let isReplica = try Identity.isThere(db)
        return try untrackable(db, policy: isReplica ? TrackingPolicy(db) : nil)
    }

    /// - Parameter policy: What the operator excluded; nil for nothing.
    static func untrackable(_ db: Database, policy: TrackingPolicy?) throws -> [CaptureReport.Untracked] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type,
                  (SELECT sql FROM main.sqlite_master AS m WHERE m.type = 'table' AND m.name = t.name) AS sql
                FROM pragma_table_list AS t
                WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                  AND (type <> 'table' OR name LIKE '\\_journal\\_%' ESCAPE '\\')
                ORDER BY name
                """)
        let kept = Set(try IndexTrigger.all(db).flatMap(\.indexes).map(SQLText.foldedName))
        let virtual = rows.filter { ($0["type"] as String) == "virtual" }.map { $0["name"] as String }
        var untrackable: [CaptureReport.Untracked] = []
        for row in rows {
            let name: String = row["name"]
            guard
                let refusal = refusal(
                    untrackable: name, type: row["type"], sql: row["sql"] ?? "", virtual: virtual, kept: kept)
            else { continue }
            let decided = policy?.refusal(of: name).flatMap { $0.cause == .excluded ? $0 : nil }
            untrackable.append(CaptureReport.Untracked(table: name, decided ?? refusal))
        }
        return untrackable
    }

    /// Returns the names of Tandem's own tables in the main schema.
    ///
    /// - Throws: Errors of SQLite.
    static func tandems(_ db: Database) throws -> [String] {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE '\\_journal%' ESCAPE '\\'")
        return names.filter(isTandems)
    }

    /// - Parameters:
    ///   - name: The name of the table.
    ///   - type: The type that `pragma_table_list` reports.
    ///   - sql: The statement that creates it.
    ///   - virtual: The names of the virtual tables.
    ///   - kept: The folded names of those that triggers keep as indexes of other tables.
    /// - Returns: Why the table cannot be tracked; nil for a table of Tandem.
    private static func refusal(
        untrackable name: String, type: String, sql: String, virtual: [String], kept: Set<String>
    ) -> TableRefusal? {
        switch type {
        case "view": return TableRefusal(.view, "it is a view, which has no rows of its own")
        case "virtual" where VirtualTable(sql: sql).isDerived || kept.contains(SQLText.foldedName(name)):
            return TableRefusal(.derivedTable, "it is an index of other rows, which each machine keeps for itself")
        case "virtual":
            return TableRefusal(.virtualTable, "it is a virtual table, whose content stays on this machine")
        case "shadow":
            // Its name is `<virtual table>_<suffix>` (https://sqlite.org/vtab.html#the_xshadowname_method).
            let owners = virtual.filter { SQLText.foldedName(name).hasPrefix(SQLText.foldedName($0) + "_") }
            let owner = owners.max { $0.count < $1.count }
            return TableRefusal(
                .shadowTable, "it holds the content of the virtual table" + (owner.map { " \($0)" } ?? ""))
        default:
            if isTandems(name) { return nil }
            return TableRefusal(.reservedName, "its name is one of Tandem's own, which begin with _journal_")
        }
    }

    private static func isTandems(_ name: String) -> Bool {
        let name = SQLText.foldedName(name)
        return ownTables.contains(name) || name.hasPrefix("_journal_docs_")
    }

    /// The folded names of the journal's tables and of Store's tables. Each text index of Store also has a
    /// table `_journal_docs_…`.
    private static let ownTables = Set(
        JournalSchema.tables.map(\.key) + ["_journal_text", "_journal_maintenance", "_journal_rebuilt"])
}
