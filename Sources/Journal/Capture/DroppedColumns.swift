import GRDB

/// The columns that programs dropped while the triggers named them.
///
/// The triggers then give a new row a marker in place of the column's value: SQL has no value that means
/// "none", and NULL would replace the column's default on machines that still have it. Such rows get a shape
/// without the column, before anything reads them.
enum DroppedColumns {
    /// The marker, as SQL: a blob that no program writes by chance.
    static let markerSQL = "x'5F6A6F75726E616CFB1E8D2C94A7360D'"

    /// Gives marked rows a shape of the columns that they have.
    ///
    /// - Parameter sealed: `sealed_seq` at the last contact, after which the schema changed: no earlier row
    ///   is marked.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func settle(after sealed: Int64, _ registry: inout ShapeRegistry, _ db: Database) throws {
        for entry in registry.entries.values where entry.isTracked {
            let columns = entry.shape.columns.indices.dropFirst(entry.shape.keyCount)
            guard !columns.isEmpty else { continue }
            let flags = columns.map { "v\($0) IS \(markerSQL)" }
            let source = """
                FROM _journal WHERE seq > ? AND origin IS NULL AND shape = ? AND op = \(Operation.insert.rawValue)
                  AND \(markerSQL) IN (\(columns.map { "v\($0)" }.joined(separator: ", ")))
                """
            let sets = try Row.fetchAll(
                db, sql: "SELECT DISTINCT \(flags.joined(separator: ", ")) \(source)", arguments: [sealed, entry.id])
            for set in sets {
                let isMarked = zip(columns, set.databaseValues.map { Bool.fromDatabaseValue($0) ?? false })
                let marked = Set(isMarked.filter(\.1).map(\.0))
                let kept = entry.shape.columns.indices.filter { !marked.contains($0) }
                let shape = try registry.register(columns: kept.map { entry.shape.columns[$0] }, of: entry, in: db)
                let isMarkedSo =
                    marked.map { "v\($0) IS \(markerSQL)" } + [
                        "\(markerSQL) IN (\(kept.map { "v\($0)" }.joined(separator: ", "))) IS NOT TRUE"
                    ]
                let moves =
                    kept.enumerated().map { "v\($0) = v\($1)" }
                    + (kept.count..<entry.shape.columns.count).map { "v\($0) = NULL" }
                try db.execute(
                    sql: """
                        UPDATE _journal SET shape = ?, \(moves.joined(separator: ", "))
                        WHERE seq IN (SELECT seq \(source) AND \(isMarkedSo.joined(separator: " AND ")))
                        """, arguments: [shape.id, sealed, entry.id])
            }
        }
    }
}
