import GRDB

/// A UNIQUE constraint or index of a table besides its primary key, in which rows with different keys can
/// clash.
package struct UniqueIndex: Sendable, Hashable {
    /// One column or expression of the index.
    package struct Term: Sendable, Hashable {
        /// The column's quoted name, or the text of the indexed expression, as SQL.
        package let sql: String
        /// The column, or nil for an expression.
        package let column: String?
        /// The collation by which the term compares text.
        package let collation: String
    }

    /// The name that `pragma_index_list` reports; SQLite generates names for constraints.
    package let name: String
    /// The terms in the order of the index.
    package let terms: [Term]
    /// The WHERE clause of a partial index.
    package let condition: String?

    /// True when a change of `column` can change which rows clash in the index.
    ///
    /// No PRAGMA reports the columns on which a generated column depends. So the result is always true for an
    /// index with a generated column.
    package func depends(on column: String, of table: TableInspection) -> Bool {
        let folded = SQLText.foldedName(column)
        for term in terms {
            guard let name = term.column else {
                if UniqueIndex.names(in: term.sql).contains(folded) { return true }
                continue
            }
            if SQLText.foldedName(name) == folded { return true }
            if table.columns.contains(where: {
                $0.isGenerated && SQLText.foldedName($0.name) == SQLText.foldedName(name)
            }) {
                return true
            }
        }
        return condition.map { UniqueIndex.names(in: $0).contains(folded) } ?? false
    }

    private static func names(in sql: String) -> Set<String> {
        Set(SQLToken.scan(sql).map { SQLText.foldedName($0.name) })
    }
}

extension UniqueIndex {
    /// Returns the unique indexes of `table` except that of its key (``KeyIndex``), by name.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database, table: String) throws -> [UniqueIndex] {
        let key = try KeyIndex.name(db, table: table)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT l.name, m.sql FROM pragma_index_list(?, 'main') AS l LEFT JOIN main.sqlite_master AS m
                  ON m.type = 'index' AND m.name = l.name
                WHERE l."unique" AND l.name IS NOT ? ORDER BY l.name
                """,
            arguments: [table, key]
        ).map { row in
            let name: String = row["name"]
            let definition = (row["sql"] as String?).map { IndexDefinition(sql: $0) }
            let columns = try Row.fetchAll(
                db, sql: "SELECT seqno, cid, name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
                arguments: [name])
            let terms = columns.enumerated().map { index, row in
                let column: String? = row["name"]
                let expression = definition.flatMap { index < $0.terms.count ? $0.terms[index] : nil }
                return Term(
                    sql: column.map { SQLText.quote(identifier: $0) } ?? expression ?? "NULL", column: column,
                    collation: row["coll"] ?? "BINARY")
            }
            return UniqueIndex(name: name, terms: terms, condition: definition?.condition)
        }
    }
}

/// The parts of a CREATE INDEX statement that no PRAGMA reports: the texts of its expressions and of its
/// WHERE clause.
///
/// SQLite has parsed the statement before it stored it. So the text is well-formed, and this type only splits
/// it at the top-level commas and parentheses, ignoring those in strings, quoted names and comments.
struct IndexDefinition {
    var terms: [String] = []
    var condition: String?

    init(sql: String) {
        let tokens = SQLToken.scan(sql)
        guard let open = tokens.firstIndex(where: { $0.text == "(" }) else { return }
        var depth = 0
        var current: [SQLToken] = []
        var index = open
        scan: while index < tokens.count {
            let token = tokens[index]
            index += 1
            switch token.text {
            case "(":
                depth += 1
                if depth > 1 { current.append(token) }
            case ")":
                depth -= 1
                if depth == 0 { break scan }
                current.append(token)
            case "," where depth == 1:
                terms.append(IndexDefinition.expression(current))
                current = []
            default: current.append(token)
            }
        }
        terms.append(IndexDefinition.expression(current))
        if index < tokens.count, tokens[index].text.uppercased() == "WHERE" {
            condition = tokens[(index + 1)...].map(\.text).joined(separator: " ")
        }
    }

    /// Returns the text of an indexed term without its sort order. A COLLATE clause stays.
    private static func expression(_ tokens: [SQLToken]) -> String {
        var tokens = tokens
        if let last = tokens.last?.text.uppercased(), last == "ASC" || last == "DESC" { tokens.removeLast() }
        return tokens.map(\.text).joined(separator: " ")
    }
}
