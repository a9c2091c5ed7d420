import GRDB
import Journal

/// The rows of one table in key order, between two keys, within one snapshot. Rows with NULL in their key are
/// left out, because they are not replicated. The order is the same in files of different text encodings.
struct TableRows {
    /// The columns that are read, key first, in the requested order.
    let shape: TableShape
    let collations: [KeyCollation]
    private let db: Database
    private let select: String
    private let key: String
    /// Conditions that leave out rows with NULL in their key; empty for a table that cannot have any.
    private let notNull: [String]

    /// - Parameter asked: The requested columns. The names are looked up in the tracked table of that name;
    ///   they never reach SQL themselves.
    /// - Throws: ``SyncError/Code/notFound`` when the table is not tracked here, or has another key or not
    ///   all columns.
    init(_ db: Database, asked: TableShape) throws {
        guard let tracked = try ShapeRegistry.tracked(table: asked.table, db) else {
            throw SyncError(
                .notFound, "There is no tracked table \(asked.table)",
                hint: "It may have been dropped meanwhile: verify again. `syncd init` lists the tracked tables.")
        }
        let own = tracked.shape
        let names = Dictionary(
            own.columns.map { (Array(SQLText.foldedName($0).utf8), $0) }, uniquingKeysWith: { first, _ in first })
        let columns = asked.columns.compactMap { names[Array(SQLText.foldedName($0).utf8)] }
        guard columns.count == asked.columns.count, asked.keyCount == own.keyCount,
            Array(columns.prefix(asked.keyCount)) == Array(own.keyColumns)
        else {
            throw SyncError(
                .notFound, "The table \(own.table) has another key or not all of those columns",
                hint: "Bring the schemas of both machines to the same state.")
        }
        self.db = db
        shape = TableShape(table: own.table, columns: columns, keyCount: own.keyCount)
        collations = tracked.collations
        let binary = try TextOrder.collation(db)
        key = own.keyColumns.enumerated().map { index, column in
            // A table whose changes came before it has none: missing ones are BINARY.
            let collation = index < tracked.collations.count ? tracked.collations[index] : .binary
            let name = collation == .binary ? binary : collation.rawValue
            return SQLText.quote(identifier: column) + (name.map { " COLLATE \($0)" } ?? "")
        }.joined(separator: ", ")
        select =
            "SELECT " + columns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ") + " FROM main."
            + SQLText.quote(identifier: own.table)
        notNull = try TableRows.nullableKeyColumns(of: own.table, db)
            .map { "\(SQLText.quote(identifier: $0)) IS NOT NULL" }
    }

    /// The key columns that SQLite allows to be NULL (https://sqlite.org/lang_createtable.html, section 3.5).
    /// An alias of the rowid is none of them; such a key has no index of its own.
    private static func nullableKeyColumns(of table: String, _ db: Database) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT name FROM pragma_table_xinfo(?, 'main') WHERE pk > 0 AND "notnull" = 0
                      AND EXISTS (SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk')
                    ORDER BY pk
                    """), arguments: [table, table])
    }

    /// Calls `body` with each row after the key `after` up to the key `through`, until it returns false.
    func forEach(after: [Value]?, through: [Value]?, _ body: ([Value]) throws -> Bool) throws {
        let marks = "(" + Array(repeating: "?", count: shape.keyCount).joined(separator: ", ") + ")"
        var conditions = notNull
        if after != nil { conditions.append("(\(key)) > \(marks)") }
        if through != nil { conditions.append("(\(key)) <= \(marks)") }
        var sql = select
        if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
        let statement = try RawStatement(db, sql + " ORDER BY " + key)
        for (index, value) in ((after ?? []) + (through ?? [])).enumerated() {
            try statement.bind(value, at: Int32(clamping: index + 1))
        }
        while try statement.step() {
            let row = shape.columns.indices.map { statement.column(Int32(clamping: $0)) }
            guard try body(row) else { return }
        }
    }

    /// The digest of the rows between two keys.
    func digest(after: [Value]?, through: [Value]?) throws -> (sha256: [UInt8], rows: Int) {
        var digest = RowDigest()
        try forEach(after: after, through: through) { row in
            digest.add(row)
            return true
        }
        return (digest.finish(), digest.rows)
    }
}
