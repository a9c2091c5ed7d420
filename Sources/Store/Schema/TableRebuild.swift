import GRDB
import GRDBSQLite
import Journal

/// Rebuilds a table under its own name, with its rows, indexes and triggers, because SQLite's ALTER TABLE can
/// change neither a type nor NOT NULL nor the primary key. The order of the steps follows
/// https://sqlite.org/lang_altertable.html#otheralter.
///
/// Foreign keys must be off, or the table empty: dropping a table deletes its rows, and foreign-key actions
/// then delete or change the rows that refer to them.
struct TableRebuild {
    let db: GRDB.Database
    let table: TableInspection
    let declared: DeclaredTable
    /// Columns that the model does not have and that are kept.
    let kept: [TableInspection.Column]
    /// Indexes and triggers that could not be recreated.
    private(set) var lostObjects: [String] = []

    /// Capture ignores tables with this prefix.
    private static let temporaryName = "_journal_rebuilt"

    init(db: GRDB.Database, table: TableInspection, declared: DeclaredTable, keeping kept: [TableInspection.Column]) {
        self.db = db
        self.table = table
        self.declared = declared
        self.kept = kept.filter { !$0.isGenerated }
    }

    /// Rebuilds the table.
    ///
    /// - Returns: The number of rows that were dropped because the new table does not admit them.
    mutating func run(_ policy: InvalidRows) throws -> Int {
        let objects = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT type, name, sql FROM sqlite_master WHERE lower(tbl_name) = lower(?) AND type IN ('index', 'trigger')
                  AND sql IS NOT NULL AND name NOT LIKE '\\_journal\\_%' ESCAPE '\\' ORDER BY rowid
                """, arguments: [table.name])
        try execute(declared.create(as: TableRebuild.temporaryName, extra: kept.map(TableRebuild.definition)))
        let lost = try copy(policy)
        try execute("DROP TABLE \(SQLText.quote(identifier: table.name))")
        // Without this, the rename fails when a view names the table, which does not exist at this moment.
        try execute("PRAGMA legacy_alter_table = ON")
        try execute(
            "ALTER TABLE \(TableRebuild.temporaryName) RENAME TO \(SQLText.quote(identifier: declared.name))")
        try execute("PRAGMA legacy_alter_table = OFF")
        db.clearSchemaCache()
        for object in objects {
            let (type, name, sql): (String, String, String) = (object["type"], object["name"], object["sql"])
            do { try db.execute(sql: sql) } catch { lostObjects.append("the \(type) \(name)") }
        }
        return lost
    }

    private static func definition(_ column: TableInspection.Column) -> String {
        // A STRICT table allows six types; columns of other types become ANY, which keeps their values.
        let types: Set<String> = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
        let type = column.declaredType.uppercased()
        return "\(SQLText.quote(identifier: column.name)) \(types.contains(type) ? type : "ANY")"
            + (column.isNotNull ? " NOT NULL" : "") + (column.defaultSQL.map { " DEFAULT (\($0))" } ?? "")
            + (["BINARY", ""].contains(column.collation.uppercased()) ? "" : " COLLATE \(column.collation)")
    }

    /// Copies row by row, to find the rows that the new table refuses.
    private func copy(_ policy: InvalidRows) throws -> Int {
        let names = declared.columns.map(\.name).filter { table.has($0) } + kept.map(\.name)
        let columns = names.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")
        let rows = try PreparedStatement(
            db, "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name))", cached: false)
        let insert = try PreparedStatement(
            db,
            "INSERT INTO \(TableRebuild.temporaryName) (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))",
            cached: false)
        var lost = 0
        try rows.run { rows in
            while try rows.step() {
                do {
                    try insert.run { insert in
                        for (position, value) in rows.values.enumerated() {
                            try insert.parameters.bind(value: value, at: position)
                        }
                        _ = try insert.step()
                    }
                } catch let error as StoreError where error.isConstraint {
                    guard policy == .delete else { throw refusal(error) }
                    lost += 1
                }
            }
        }
        return lost
    }

    private func refusal(_ error: StoreError) -> StoreError {
        StoreError(
            .invalidRow,
            "A row does not fit the changed table: \(error.message)".replacing(
                TableRebuild.temporaryName, with: table.name),
            hint: "Correct the rows in a version of the schema, or let invalid rows be deleted.", table: table.name,
            column: error.column, sqliteCode: error.sqliteCode)
    }

    private func execute(_ sql: String) throws {
        do { try db.execute(sql: sql) } catch { throw StoreError.wrapping(error, operation: "rebuilding a table") }
    }
}
