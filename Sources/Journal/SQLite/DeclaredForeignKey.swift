import GRDB

/// A foreign key as `PRAGMA foreign_key_list` describes it.
package struct DeclaredForeignKey: Sendable, Hashable {
    /// The parent's table as the child's schema spells it; it may be missing.
    package let parent: String
    /// The columns of the child.
    package let from: [String]
    /// The columns of the parent. Empty when the key names none and so refers to the parent's primary key.
    package let to: [String]
    /// The action when the parent is deleted, such as `SET NULL`.
    package let onDelete: String

    /// Returns the foreign keys of a table in the order in which SQLite numbers them.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database, of table: TableInspection) throws -> [DeclaredForeignKey] {
        let rows = try Row.fetchAll(
            db,
            sql:
                #"SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq"#,
            arguments: [table.name])
        let groups = Dictionary(grouping: rows) { $0["id"] as Int64 }
        return groups.sorted { $0.key < $1.key }.map { _, rows in
            DeclaredForeignKey(
                parent: rows[0]["table"], from: rows.map { $0["from"] }, to: rows.compactMap { $0["to"] as String? },
                onDelete: rows[0]["on_delete"])
        }
    }

    /// The columns of the parent that the key refers to, by name.
    package func parentColumns(of parentTable: TableInspection) -> [String] {
        to.isEmpty ? parentTable.stored.prefix(parentTable.keyCount).map(\.name) : to
    }
}

extension TableInspection {
    /// The position of a column in ``stored``; nil when there is none. Names compare as SQLite compares them.
    package func position(of column: String) -> Int? {
        let name = SQLText.foldedName(column)
        return stored.firstIndex { SQLText.foldedName($0.name) == name }
    }
}
