import GRDB

extension TableInspection {
    /// Returns what is listed in the main schema like a table and can never be tracked, by name: views;
    /// virtual tables and the shadow tables that hold their content; tables of the user whose names are
    /// reserved for Tandem. Tables of Tandem and SQLite are not listed.
    ///
    /// - Throws: Errors of SQLite.
    package static func untrackable(_ db: Database) throws -> [CaptureReport.Untracked] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type FROM pragma_table_list
                WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                  AND (type <> 'table' OR name LIKE '\\_journal\\_%' ESCAPE '\\')
                ORDER BY name
                """)
        let virtual = rows.filter { ($0["type"] as String) == "virtual" }.map { $0["name"] as String }
        var untrackable: [CaptureReport.Untracked] = []
        for row in rows {
            let name: String = row["name"]
            guard let reason = reason(untrackable: name, type: row["type"], virtual: virtual) else { continue }
            untrackable.append(CaptureReport.Untracked(table: name, reason: reason))
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
    ///   - virtual: The names of the virtual tables.
    /// - Returns: The reason why the table cannot be tracked; nil for a table of Tandem.
    private static func reason(untrackable name: String, type: String, virtual: [String]) -> String? {
        switch type {
        case "view": return "it is a view, which has no rows of its own"
        case "virtual": return "it is a virtual table, whose content stays on this machine"
        case "shadow":
            // Its name is `<virtual table>_<suffix>` (https://sqlite.org/vtab.html#the_xshadowname_method).
            let owners = virtual.filter { SQLText.foldedName(name).hasPrefix(SQLText.foldedName($0) + "_") }
            let owner = owners.max { $0.count < $1.count }
            return "it holds the content of the virtual table" + (owner.map { " \($0)" } ?? "")
        default: return isTandems(name) ? nil : "its name is one of Tandem's own, which begin with _journal_"
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
