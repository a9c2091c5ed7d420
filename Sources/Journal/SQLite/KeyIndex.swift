import GRDB

/// The index that tells the rows of a table apart.
///
/// It is that of the primary key. In a table without one, it is that of the first UNIQUE constraint whose
/// columns are all NOT NULL: old schemas declare their keys in this way.
struct KeyIndex {
    /// A column of the index.
    struct Column {
        let name: String
        /// The collation by which the index compares the column.
        let collation: String
    }

    /// The name of the index; nil when the key is the rowid.
    let name: String?
    /// The columns in the order of the key; empty when there is no key.
    let columns: [Column]
    /// True when the columns are those of a primary key.
    let isPrimary: Bool

    /// - Parameter columns: The columns of the table, from `pragma_table_xinfo`.
    /// - Throws: Errors of SQLite.
    init(_ db: Database, table: String, columns: [Row]) throws {
        let primary = columns.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
        let indexes = try Row.fetchAll(
            db,
            sql: """
                SELECT name, origin, partial FROM pragma_index_list(?, 'main') WHERE "unique"
                ORDER BY origin <> 'u', length(name), name
                """, arguments: [table])
        isPrimary = !primary.isEmpty
        if isPrimary {
            name = indexes.first { $0["origin"] == "pk" }?["name"]
            let collations = try name.map { try KeyIndex.columns(db, index: $0) } ?? []
            self.columns = primary.enumerated().map { index, row in
                Column(name: row["name"], collation: index < collations.count ? collations[index].collation : "BINARY")
            }
            return
        }
        let required = Set(
            columns.filter { ($0["notnull"] as Bool) && ($0["hidden"] as Int) == 0 }.map {
                SQLText.foldedName($0["name"])
            })
        for index in indexes where index["origin"] != "pk" && (index["partial"] as Bool) == false {
            let found = try KeyIndex.columns(db, index: index["name"])
            guard !found.isEmpty, found.allSatisfy({ required.contains(SQLText.foldedName($0.name)) }) else { continue }
            name = index["name"]
            self.columns = found
            return
        }
        name = nil
        self.columns = []
    }

    /// Returns the name of the index of a table's key; nil when the key is the rowid or there is none.
    ///
    /// - Throws: Errors of SQLite.
    static func name(_ db: Database, table: String) throws -> String? {
        try KeyIndex(db, table: table, columns: Row.fetchAll(db, sql: TableInspection.columnsSQL, arguments: [table]))
            .name
    }

    /// The columns of an index. An expression has the empty name.
    private static func columns(_ db: Database, index: String) throws -> [Column] {
        try Row.fetchAll(
            db, sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno", arguments: [index]
        ).map { Column(name: $0["name"] ?? "", collation: $0["coll"] ?? "BINARY") }
    }
}
