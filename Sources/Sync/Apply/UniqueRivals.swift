import GRDB
import Journal

/// Finds the visible rows that hold a UNIQUE value of a row that is not in its table.
///
/// The index's own terms and condition are evaluated over the row's values by SQLite, so collations, affinities, expressions and
/// partial indexes count as they do in the index. An index over a generated column cannot be asked so, and finds nothing.
final class UniqueRivals {
    private let statement: RawStatement
    private let columns: [Int]
    private let keyCount: Int

    init?(_ db: Database, index: UniqueIndex, table: TableInspection) throws {
        let isGenerated = index.terms.contains { term in
            term.column.map { name in
                !table.stored.contains { SQLText.foldedName($0.name) == SQLText.foldedName(name) }
            } ?? false
        }
        guard !isGenerated else { return nil }
        columns = table.stored.indices.filter { index.depends(on: table.stored[$0].name, of: table) }
        keyCount = table.keyCount
        // The row in the form of the table: columns of a compound SELECT have affinity and collation of its first part, and UNION
        // keeps SQLite from putting the bare values in their place (https://sqlite.org/optoverview.html#flattening, rule 17a).
        let names = columns.map { SQLText.quote(identifier: table.stored[$0].name) }.joined(separator: ", ")
        let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let quotedTable = SQLText.quote(identifier: table.name)
        let row = "(SELECT \(names) FROM \(quotedTable) WHERE 0 UNION SELECT \(values)) AS \(quotedTable)"
        var conditions = index.terms.map { term in
            "(\(term.sql)) = (SELECT \(term.sql) FROM \(row)) COLLATE \(SQLText.quote(identifier: term.collation))"
        }
        if let condition = index.condition {
            conditions += ["(\(condition))", "(SELECT \(condition) FROM \(row))"]
        }
        let keys = table.stored.prefix(table.keyCount).map { SQLText.quote(identifier: $0.name) }
        statement = try RawStatement(
            db,
            "SELECT \(keys.joined(separator: ", ")) FROM \(quotedTable) "
                + "WHERE \(conditions.joined(separator: " AND "))")
    }

    /// The keys of the rows in the way of one with the values `row`.
    func keys(of row: (Int) -> Value?) throws -> [[Value]] {
        for (position, column) in columns.enumerated() {
            try statement.bind(row(column) ?? .null, at: Int32(position + 1))
        }
        var keys: [[Value]] = []
        defer { statement.reset() }
        while try statement.step() { keys.append((0..<keyCount).map { statement.column(Int32($0)) }) }
        return keys
    }
}
