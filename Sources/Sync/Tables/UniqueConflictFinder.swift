import GRDB
import GRDBSQLite
import Journal

/// Finds the visible rows that hold a UNIQUE value of a row that is not in its table.
///
/// SQLite evaluates the index's own terms and condition over the row's values, so collations, affinities,
/// expressions and partial indexes count as they do in the index. If generated columns are among the terms,
/// the row is inserted into a temporary copy of the table during the query, so that SQLite computes them too.
final class UniqueConflictFinder {
    private let statement: RawStatement
    /// The statements of the temporary copy; nil without one.
    private let copy: (insert: RawStatement, delete: RawStatement)?
    /// The positions in ``TableInspection/stored`` of the values to bind.
    private let columns: [Int]
    private let keyCount: Int

    /// Prepares the query for one index.
    ///
    /// - Returns: nil when the temporary copy cannot be created, because the table's definition compiles only
    ///   under its own name. No row is reported as a conflict then.
    init?(_ db: Database, index: UniqueIndex, table: TableInspection, tableID: Int64) throws {
        keyCount = table.keyCount
        let isGenerated = table.columns.contains { $0.isGenerated && index.depends(on: $0.name, of: table) }
        let quotedTable = SQLText.quote(identifier: table.name)
        let row: String
        if isGenerated {
            guard let name = try table.makeTemporaryCopy(db, number: tableID) else { return nil }
            columns = Array(table.stored.indices)
            let names = columns.map { SQLText.quote(identifier: table.stored[$0].name) }
            copy = (
                insert: try RawStatement(
                    db,
                    "INSERT OR REPLACE INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
                ),
                delete: try RawStatement(db, "DELETE FROM \(name)")
            )
            row = name
        } else {
            columns = table.stored.indices.filter { index.depends(on: table.stored[$0].name, of: table) }
            copy = nil
            // The row with the affinities and collations of the table. The columns of a compound SELECT have
            // those of its first part, and UNION keeps SQLite from replacing the subquery with the bare
            // values (https://sqlite.org/optoverview.html#flattening, rule 17a).
            let names = columns.map { SQLText.quote(identifier: table.stored[$0].name) }.joined(separator: ", ")
            let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            row = "(SELECT \(names) FROM main.\(quotedTable) WHERE 0 UNION SELECT \(values)) AS \(quotedTable)"
        }
        var conditions = index.terms.map { term in
            "(\(term.sql)) = (SELECT \(term.sql) FROM \(row)) COLLATE \(SQLText.quote(identifier: term.collation))"
        }
        if let condition = index.condition {
            conditions += ["(\(condition))", "(SELECT \(condition) FROM \(row))"]
        }
        let keys = table.stored.prefix(table.keyCount).map { SQLText.quote(identifier: $0.name) }
        statement = try RawStatement(
            db,
            "SELECT \(keys.joined(separator: ", ")) FROM main.\(quotedTable) "
                + "WHERE \(conditions.joined(separator: " AND "))")
    }

    /// The keys of the visible rows that conflict with a row of the values `row`.
    func keys(of row: (Int) -> Value?) throws -> [[Value]] {
        let bound = copy?.insert ?? statement
        for (position, column) in columns.enumerated() {
            try bound.bind(row(column) ?? .null, at: Int32(position + 1))
        }
        if let code = copy?.insert.runForResult(), code != SQLITE_DONE { return [] }
        var keys: [[Value]] = []
        do {
            defer { statement.reset() }
            while try statement.step() { keys.append((0..<keyCount).map { statement.column(Int32($0)) }) }
        }
        try copy?.delete.run()
        return keys
    }
}
