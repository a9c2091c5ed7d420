import GRDB
import Journal

/// A foreign key of some table that names a table of which a migration changes the key, an index or a column. SQLite
/// asks for a unique index on exactly the columns that it names (https://sqlite.org/foreignkeys.html#fk_indexes).
/// Without one, every write of the two tables fails.
struct IncomingReference {
    /// The table with the foreign key.
    let child: String
    /// Its columns, in the order of the key.
    let columns: [String]
    /// The folded names of the columns that it names in the other table; nil for that table's primary key.
    let parents: Set<String>?

    var description: String { "the reference \(columns.map { "\(child).\($0)" }.joined(separator: ", "))" }

    /// The foreign keys of all tables that name `table`, its own included.
    static func all(of table: String, _ db: GRDB.Database) throws -> [IncomingReference] {
        let rows = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT child.name AS child, key.id AS id, key."from" AS "from", key."to" AS "to"
                FROM main.sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table' AND lower(key."table") = lower(?) ORDER BY child.rowid, key.id, key.seq
                """, arguments: [table])
        var keys: [(child: String, id: Int, columns: [String], parents: [String]?)] = []
        for row in rows {
            let parent: String? = row["to"]
            if let last = keys.last, last.child == row["child"], last.id == row["id"] {
                keys[keys.count - 1].columns.append(row["from"])
                if let parent { keys[keys.count - 1].parents?.append(parent) }
            } else {
                keys.append((row["child"], row["id"], [row["from"]], parent.map { [$0] }))
            }
        }
        return keys.map { key in
            IncomingReference(
                child: key.child, columns: key.columns, parents: key.parents.map { Set($0.map(SQLText.foldedName)) })
        }
    }

    /// True when the reference stands on a unique index of exactly these columns.
    func needs(_ columns: [String]) -> Bool { parents == Set(columns.map(SQLText.foldedName)) }
}
