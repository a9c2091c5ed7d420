import GRDB
import Journal

/// Creates the indexes that a model declares, and drops those of earlier declarations.
///
/// An index is identified by what it indexes: an existing index on the same columns serves under any name,
/// even when it was created by hand. Only a partial index is identified by its name as well, because the name
/// encodes its condition. An index that was not created here is never dropped.
struct IndexSync {
    /// An index that the table has.
    struct Present {
        let name: String
        let columns: [String]
        let isUnique: Bool
        let isPartial: Bool
        /// True for an index that an automatic schema created.
        let isOurs: Bool
    }

    /// An index that the model declares, with the names of its columns.
    private struct Wanted {
        /// The properties that distinguish indexes.
        struct Definition: Hashable {
            let columns: [String]
            let isUnique: Bool
            let condition: String?
        }

        let index: Index
        let columns: [String]

        var definition: Definition {
            Definition(
                columns: columns.map(SQLText.foldedName), isUnique: index.isUnique, condition: index.condition)
        }
    }

    let db: GRDB.Database
    let schema: ModelSchema

    func run(_ indexes: [Index], report: inout SchemaReport) throws {
        let declared = try wanted(indexes)
        let present = try IndexSync.indexes(of: schema.table, db)
        let references = try IncomingReference.all(of: schema.table, db)
        // Drops come first, because an old index may have the name of a new one.
        for other in present where other.isOurs && !declared.contains(where: { serves(other, $0) }) {
            if other.isUnique, !other.isPartial, let reference = references.first(where: { $0.needs(other.columns) }) {
                report.notDone.append(
                    .init(
                        table: schema.table, column: other.columns.joined(separator: ", "),
                        reason: "kept the index \(other.name): \(reference.description) needs it",
                        remedy: "Change that table in a version of the schema, or declare the index."))
                continue
            }
            try db.execute(sql: "DROP INDEX \(SQLText.quote(identifier: other.name))")
            report.did(.droppedIndex(other.name), schema.table)
        }
        for wanted in declared where !present.contains(where: { serves($0, wanted) }) {
            let name = try freeName(for: wanted)
            do {
                try db.execute(sql: wanted.index.sql(name, table: schema.table, columns: wanted.columns))
            } catch {
                throw IndexSync.failure(error, wanted.columns)
            }
            report.did(.createdIndex(name), schema.table)
        }
    }

    /// The wanted indexes. A repeated declaration counts once.
    private func wanted(_ indexes: [Index]) throws -> [Wanted] {
        var definitions: Set<Wanted.Definition> = []
        let all = try indexes.map { index -> Wanted in
            guard !index.columns.isEmpty else {
                throw StoreError(
                    .invalidSchema, "An index of the model has no column",
                    hint: "Name a property in it: `Index(\"name\")`.", table: schema.table)
            }
            return Wanted(index: index, columns: try index.columns.map { try schema.columnName(of: $0) })
        }
        return all.filter { definitions.insert($0.definition).inserted }
    }

    private func serves(_ present: Present, _ wanted: Wanted) -> Bool {
        let index = wanted.index
        guard present.isUnique == index.isUnique, present.isPartial == (index.condition != nil),
            present.columns.map(SQLText.foldedName) == wanted.columns.map(SQLText.foldedName)
        else { return false }
        if index.condition == nil { return true }
        return present.isOurs && names(of: wanted).contains { SQLText.same($0, present.name) }
    }

    /// The possible names of the index, the usual one first.
    private func names(of wanted: Wanted) -> [String] {
        let name = wanted.index.name(table: schema.table, columns: wanted.columns)
        let parts = ([schema.table] + wanted.columns).map(SQLText.foldedName)
        let hash = Checksum.text(parts.joined(separator: "\0").utf8)
        return [name, "\(name)_\(hash)"]
    }

    /// The usual name, or the second one when the first is taken. All tables and indexes of a file share one
    /// namespace, in which column `b_c` of table `a` and column `c` of table `a_b` give the same usual name.
    private func freeName(for wanted: Wanted) throws -> String {
        let names = names(of: wanted)
        let taken = try String.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type <> 'trigger' AND name = ? COLLATE NOCASE",
            arguments: [names[0]])
        return taken.isEmpty ? names[0] : names[1]
    }

    private static func failure(_ error: any Error, _ columns: [String]) -> any Error {
        guard let failure = StoreError.wrapping(error, operation: "making an index") as? StoreError,
            failure.code == .unique
        else { return StoreError.wrapping(error, operation: "making an index") }
        return StoreError(
            .unique, "Rows with equal values prevent a unique index on \(columns.joined(separator: ", "))",
            hint: "Make the values different in a version of the schema first.", table: failure.table,
            column: columns.count == 1 ? columns[0] : nil, operation: "making an index",
            sqliteCode: failure.sqliteCode)
    }

    static func indexes(of table: String, _ db: GRDB.Database) throws -> [Present] {
        let rows = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT list.name, list."unique", list.partial, master.sql FROM pragma_index_list(?, 'main') AS list
                JOIN main.sqlite_master AS master ON master.type = 'index' AND master.name = list.name
                WHERE list.origin = 'c'
                """, arguments: [table])
        return try rows.map { row -> Present in
            let name: String = row["name"]
            let isUnique: Bool = row["unique"]
            let found = try String?.fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [name])
            // An expression has no name.
            let columns = found.map { $0 ?? "" }
            let sql: String? = row["sql"]
            return Present(
                name: name, columns: columns, isUnique: isUnique, isPartial: row["partial"],
                isOurs: Index.isOurs(sql ?? "", name: name, table: table, columns: columns, isUnique: isUnique))
        }
    }
}
