import GRDB

/// The columns of a table whose text is compared by collations of its program.
package struct CollatedColumns {
    /// A column, and a collation by which the column or an index over it compares.
    package struct Column: Hashable {
        package let name: String
        package let collation: String
    }

    /// In the order of the table, then by collation.
    package let all: [Column]

    /// - Parameter db: A connection of the file with the table. It need not have the collations.
    /// - Throws: Errors of SQLite.
    package init(_ db: Database, _ table: TableInspection) throws {
        func isOfProgram(_ collation: String) -> Bool { KeyCollation(rawValue: collation.uppercased()) == nil }
        let stored = table.columns.filter { !$0.isGenerated }
        var found = Set(
            stored.filter { isOfProgram($0.collation) }.map { Column(name: $0.name, collation: $0.collation) })
        let terms = try Row.fetchAll(
            db,
            sql: """
                SELECT term.name, term.coll FROM pragma_index_list(?, 'main') AS list
                JOIN pragma_index_xinfo(list.name, 'main') AS term WHERE term.key
                """, arguments: [table.name])
        for term in terms {
            guard let collation: String = term["coll"], isOfProgram(collation) else { continue }
            // An expression, or a generated column, may be made of any column.
            let name: String? = term["name"]
            let columns = stored.filter { name == nil || $0.name == name }
            found.formUnion((columns.isEmpty ? stored : columns).map { Column(name: $0.name, collation: collation) })
        }
        all = stored.flatMap { column in
            found.filter { $0.name == column.name }.sorted { $0.collation < $1.collation }
        }
    }
}
