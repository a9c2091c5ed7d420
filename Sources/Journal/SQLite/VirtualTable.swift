import GRDB

/// What the statement that creates a virtual table says of it.
package struct VirtualTable {
    /// True when the table has no rows of its own: a full-text index of another table, or of texts that are
    /// stored elsewhere (https://sqlite.org/fts5.html, section 4.4; https://sqlite.org/fts3.html, section
    /// 6.2), or a view of such an index.
    let isDerived: Bool
    /// True for a full-text or spatial index, which a trigger can keep for an ordinary table.
    let isIndex: Bool
    /// True for a full-text index that can be built again from the table with the texts.
    let canRebuild: Bool

    /// - Parameter sql: `CREATE VIRTUAL TABLE … USING module(…)`.
    init(sql: String) {
        let words = SQLToken.scan(sql).map { SQLText.foldedName($0.text) }
        let module = words.firstIndex(of: "using").map { words[($0 + 1)...].first ?? "" }
        let hasContent = zip(words, words.dropFirst()).contains { $0 == "content" && $1 == "=" }
        isIndex = ["fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"].contains(module)
        // content='' keeps no text at all.
        let keepsNone = zip(words, words.dropFirst(2)).contains { $0 == "content" && ["''", "\"\""].contains($1) }
        canRebuild = hasContent && !keepsNone && ["fts4", "fts5"].contains(module)
        switch module {
        case "fts3", "fts4", "fts5": isDerived = hasContent
        case "fts5vocab", "fts4aux", "fts3tokenize": isDerived = true
        default: isDerived = false
        }
    }
}

extension VirtualTable {
    /// Returns the folded names of the full-text indexes that can be built again from the tables with the
    /// texts.
    ///
    /// - Throws: Errors of SQLite.
    package static func rebuildable(_ db: Database) throws -> Set<String> { try names(db, where: \.canRebuild) }

    /// Returns the folded names of the virtual tables that are indexes.
    static func indexes(_ db: Database) throws -> Set<String> { try names(db, where: \.isIndex) }

    private static func names(_ db: Database, where isWanted: (VirtualTable) -> Bool) throws -> Set<String> {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'create virtual%'")
        return Set(rows.filter { isWanted(VirtualTable(sql: $0["sql"])) }.map { SQLText.foldedName($0["name"]) })
    }
}
