import GRDB
import Journal

/// How the columns that a model does not have can be dropped, and what keeps the others.
struct ColumnRemoval {
    /// A column that other parts of the schema name.
    struct Kept {
        let column: TableInspection.Column
        /// The constraints, generated columns, indexes and foreign keys that name it.
        let by: [String]
    }

    /// Columns that ALTER TABLE can drop; generated columns come first, because they may name the others.
    private(set) var plain: [TableInspection.Column] = []
    /// Columns with a constraint that SQLite drops only with a rebuild
    /// (https://sqlite.org/lang_altertable.html#altertabdropcol).
    private(set) var constrained: [TableInspection.Column] = []
    private(set) var kept: [Kept] = []
    /// The indexes of automatic schemas that name a dropped column.
    private(set) var indexes: [String] = []

    /// The folded names of all columns that can be dropped.
    var dropped: Set<String> { Set((plain + constrained).map { SQLText.foldedName($0.name) }) }

    /// Nothing to drop.
    init() {}

    /// - Parameter columns: The columns to drop, as far as nothing else names them.
    init(
        _ columns: [TableInspection.Column], of table: TableInspection, _ definition: TableDefinition,
        _ db: GRDB.Database
    ) throws {
        let indexes = try IndexText.all(of: table.name, db)
        let references = try IncomingReference.all(of: table.name, db)
        func users(of name: String, dropping dropped: Set<String>) -> [String] {
            ColumnRemoval.users(of: name, dropping: dropped, definition, indexes)
                + references.filter { reference in
                    guard reference.parents?.contains(name) == true else { return false }
                    // A foreign key of the table itself goes with its columns.
                    return !SQLText.same(reference.child, table.name)
                        || !dropped.isSuperset(of: reference.columns.map(SQLText.foldedName))
                }.map(\.description)
        }
        var dropped = Set(columns.map { SQLText.foldedName($0.name) })
        // A column that is kept may keep others: each constraint must lose all of its columns, or none.
        while true {
            let named = columns.filter { column in
                let name = SQLText.foldedName(column.name)
                return dropped.contains(name) && !users(of: name, dropping: dropped).isEmpty
            }
            if named.isEmpty { break }
            dropped.subtract(named.map { SQLText.foldedName($0.name) })
        }
        for column in columns.sorted(by: { $0.isGenerated && !$1.isGenerated }) {
            let name = SQLText.foldedName(column.name)
            if !dropped.contains(name) {
                kept.append(Kept(column: column, by: users(of: name, dropping: dropped)))
            } else if ColumnRemoval.isConstrained(name, definition) {
                constrained.append(column)
            } else {
                plain.append(column)
            }
        }
        self.indexes = indexes.filter { $0.isOurs && !$0.names.isDisjoint(with: dropped) }.map(\.name)
    }

    /// The parts of the schema that name this column and that would not go with the dropped columns.
    private static func users(
        of name: String, dropping dropped: Set<String>, _ definition: TableDefinition, _ indexes: [IndexText]
    ) -> [String] {
        let columns = definition.names
        let constraints = definition.constraints.filter { clause in
            clause.kind != .primaryKey && clause.names.contains(name)
                && !clause.names.intersection(columns).isSubset(of: dropped.union([name]))
        }
        let clauses = definition.columns.flatMap { column -> [String] in
            let isSelf = SQLText.foldedName(column.name) == name
            // The clauses of a dropped column go with it. Only its CHECK can be about other columns too.
            guard isSelf || !dropped.contains(SQLText.foldedName(column.name)) else { return [] }
            return column.clauses.filter { clause in
                guard isSelf else { return [.check, .generated].contains(clause.kind) && clause.names.contains(name) }
                return clause.kind == .check
                    && !clause.names.intersection(columns).isSubset(of: dropped.union([name]))
            }.map { "\($0.sql) of \(column.name)" }
        }
        return constraints.map(\.sql) + clauses
            + indexes.filter { !$0.isOurs && $0.names.contains(name) }.map { "the index \($0.name)" }
    }

    private static func isConstrained(_ name: String, _ definition: TableDefinition) -> Bool {
        let own = definition.columns.first { SQLText.foldedName($0.name) == name }?.clauses ?? []
        return own.contains { [.unique, .check, .reference, .primaryKey].contains($0.kind) }
            || definition.constraints.contains { $0.names.contains(name) }
    }
}

/// The text of an index, for the names in it: PRAGMAs do not report those in expressions and conditions.
private struct IndexText {
    let name: String
    let isOurs: Bool
    let names: Set<String>

    static func all(of table: String, _ db: GRDB.Database) throws -> [IndexText] {
        let ours = Set(try IndexSync.indexes(of: table, db).filter(\.isOurs).map(\.name))
        return try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM main.sqlite_master
                WHERE type = 'index' AND lower(tbl_name) = lower(?) AND sql IS NOT NULL ORDER BY rowid
                """, arguments: [table]
        ).map { row in
            let tokens = SQLToken.scan(row["sql"])
            let open = tokens.firstIndex { $0.text == "(" } ?? tokens.endIndex
            return IndexText(
                name: row["name"], isOurs: ours.contains(row["name"]), names: TableClause.names(in: tokens[open...]))
        }
    }
}
