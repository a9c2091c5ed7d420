import GRDB
import Journal

/// Makes the indexes that a model declares, and drops those of earlier declarations.
///
/// An index of the same columns under any other name serves as well, and is left alone, as is every index that was not made here.
struct IndexSync {
    struct Present {
        let name: String
        let columns: [String]
        let isUnique: Bool
        let isPartial: Bool
        /// True for one that an automatic schema made.
        var isOurs: Bool { name.hasPrefix(Index.prefix) }
    }

    let db: GRDB.Database
    let schema: ModelSchema

    func run(_ indexes: [Index], report: inout SchemaReport) throws {
        let present = try IndexSync.indexes(of: schema.table, db)
        var wanted: Set<String> = []
        for index in indexes {
            guard !index.columns.isEmpty else {
                throw StoreError(.invalidSchema, "an index of the model has no column", table: schema.table)
            }
            let columns = try index.columns.map { try schema.columnName(of: $0) }
            let name = index.name(table: schema.table, columns: columns)
            wanted.insert(name)
            let folded = columns.map(SQLText.foldedName)
            let serves = present.contains { other in
                other.name == name
                    || (!other.isOurs && index.condition == nil && !other.isPartial
                        && other.columns.map(SQLText.foldedName) == folded && other.isUnique == index.isUnique)
            }
            if serves { continue }
            do {
                try db.execute(sql: index.sql(table: schema.table, columns: columns))
            } catch {
                throw IndexSync.failure(error, columns)
            }
            report.did(.createdIndex(name), schema.table)
        }
        for index in present where index.isOurs && !wanted.contains(index.name) {
            try db.execute(sql: "DROP INDEX \(SQLText.quote(identifier: index.name))")
            report.did(.droppedIndex(index.name), schema.table)
        }
    }

    private static func failure(_ error: any Error, _ columns: [String]) -> any Error {
        guard let failure = StoreError.wrapping(error, operation: "making an index") as? StoreError,
            failure.code == .unique
        else { return StoreError.wrapping(error, operation: "making an index") }
        return StoreError(
            .unique, "rows with equal values stand against a unique index on \(columns.joined(separator: ", "))",
            hint: "Make them different in a version of the schema first.", table: failure.table,
            column: columns.count == 1 ? columns[0] : nil, operation: "making an index",
            sqliteCode: failure.sqliteCode)
    }

    static func indexes(of table: String, naming column: String? = nil, _ db: GRDB.Database) throws -> [Present] {
        let rows = try GRDB.Row.fetchAll(
            db, sql: "SELECT name, \"unique\", partial FROM pragma_index_list(?, 'main') WHERE origin = 'c'",
            arguments: [table])
        return try rows.map { row in
            let name: String = row["name"]
            let columns = try String?.fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [name])
            return Present(
                name: name, columns: columns.map { $0 ?? "" }, isUnique: row["unique"], isPartial: row["partial"])
        }.filter { index in column.map { name in index.columns.contains { SQLText.same($0, name) } } ?? true }
    }
}
