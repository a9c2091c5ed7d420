import GRDB
import GRDBSQLite
import Journal

/// Rebuilds a table by another definition, with its rows, indexes and triggers, because SQLite's ALTER TABLE
/// can change neither a type nor NOT NULL nor a constraint nor the primary key. The order of the steps
/// follows https://sqlite.org/lang_altertable.html#otheralter.
///
/// Foreign keys must be off, or the table empty: dropping a table deletes its rows, and foreign-key actions
/// then delete or change the rows that refer to them.
struct TableRebuild {
    let db: GRDB.Database
    let table: TableInspection
    let definition: TableDefinition
    /// The table's name afterwards, which may differ in case.
    let name: String
    /// The values of new columns that have no DEFAULT.
    let initial: [(column: String, value: Value)]

    /// Capture ignores tables with this prefix.
    private static let temporaryName = "_journal_rebuilt"

    /// Rebuilds the table.
    ///
    /// - Returns: The number of rows that were dropped because the new table does not admit them.
    /// - Throws: ``StoreError/Code/invalidRow`` for such rows with ``InvalidRows/fail``;
    ///   ``StoreError/Code/invalidSchema`` when an index, a trigger or a view does not fit the new table. The
    ///   caller must undo the transaction then.
    func run(_ policy: InvalidRows) throws -> Int {
        let dependents = try DependentObjects(of: table, db)
        let sequence = try lastGeneratedKey()
        try execute(definition.sql(as: TableRebuild.temporaryName))
        let lost = try copy(policy)
        try execute("DROP TABLE \(SQLText.quote(identifier: table.name))")
        // Without this, the rename fails when a view names the table, which does not exist at this moment.
        try execute("PRAGMA legacy_alter_table = ON")
        try execute("ALTER TABLE \(TableRebuild.temporaryName) RENAME TO \(SQLText.quote(identifier: name))")
        try execute("PRAGMA legacy_alter_table = OFF")
        db.clearSchemaCache()
        try restore(sequence)
        let broken = try dependents.recreate()
        if !broken.isEmpty {
            throw StoreError(
                .invalidSchema,
                "The table cannot be rebuilt, because these do not fit the new one: "
                    + broken.joined(separator: ", "),
                hint: "Drop or change them in a version of the schema.", table: table.name)
        }
        return lost
    }

    /// Copies row by row, to find the rows that the new table refuses.
    private func copy(_ policy: InvalidRows) throws -> Int {
        let kept = definition.columns.filter { !$0.has(.generated) && table.has($0.name) }.map(\.name)
        let selection = kept.map { SQLText.quote(identifier: $0) }
        let columns = selection + initial.map { SQLText.quote(identifier: $0.column) }
        let rows = try PreparedStatement(
            db, "SELECT \(selection.joined(separator: ", ")) FROM \(SQLText.quote(identifier: table.name))",
            cached: false)
        // ABORT overrides a conflict clause of a constraint, by which a row could replace another one.
        let insert = try PreparedStatement(
            db,
            "INSERT OR ABORT INTO \(TableRebuild.temporaryName) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))",
            cached: false)
        var refused: StoreError?
        var (lost, total) = (0, 0)
        try rows.run { rows in
            while try rows.step() {
                total += 1
                do {
                    try insert.run { insert in
                        for (position, value) in (rows.values + initial.map(\.value)).enumerated() {
                            try insert.parameters.bind(value: value, at: position)
                        }
                        _ = try insert.step()
                    }
                } catch let error as StoreError where error.isConstraint {
                    refused = refused ?? error
                    lost += 1
                }
            }
        }
        if policy == .fail, let refused { throw refusal(refused, lost: lost, of: total) }
        return lost
    }

    private func refusal(_ error: StoreError, lost: Int, of total: Int) -> StoreError {
        StoreError(
            .invalidRow,
            "\(lost) of \(StoreError.count(total, "row")) \(lost == 1 ? "does" : "do") not fit the changed table: \(error.message)"
                .replacing(
                    TableRebuild.temporaryName, with: table.name),
            hint: InvalidRows.hint(losing: lost, of: total), table: table.name, column: error.column,
            sqliteCode: error.sqliteCode)
    }

    // MARK: - AUTOINCREMENT

    /// The greatest key that AUTOINCREMENT has generated; nil for other tables. No later row may have it
    /// (https://sqlite.org/autoinc.html).
    private func lastGeneratedKey() throws -> Int64? {
        guard try db.tableExists("sqlite_sequence") else { return nil }
        return try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table.name])
    }

    private func restore(_ sequence: Int64?) throws {
        let keeps = definition.columns.contains { column in
            column.clauses.contains { $0.sql.uppercased().hasSuffix("AUTOINCREMENT") }
        }
        guard let sequence, keeps else { return }
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [name, sequence])
    }

    private func execute(_ sql: String) throws {
        do { try db.execute(sql: sql) } catch { throw StoreError.wrapping(error, operation: "rebuilding a table") }
    }
}

extension InvalidRows {
    /// Advice for rows that a change does not admit. Deleting them is no advice when none would remain.
    static func hint(losing lost: Int, of total: Int) -> String {
        lost < total
            ? "Correct the rows in a version of the schema, or let invalid rows be deleted."
            : "Correct the rows in a version of the schema."
    }
}
