import GRDB
import Journal

extension WriteContext {
    /// Adds the column to the error of a constraint whose message names none: CHECK and foreign keys.
    func located<M: Model>(_ error: any Error, _ type: M.Type, _ fields: M.Fields) -> any Error {
        guard let error = error as? StoreError else { return error }
        switch error.code {
        case .check: return error.at(column: checkedColumn(error.message, M.schema))
        case .foreignKey:
            guard let orphan = try? orphan(type, fields) else { return error }
            var located = StoreError(
                .foreignKey, "No row of \(orphan.parent) has the key in \(orphan.column)",
                hint: "Create that row first.", table: error.table, column: orphan.column, operation: error.operation,
                sqliteCode: error.sqliteCode, sql: error.sql)
            located.key = error.key
            return located
        default: return error
        }
    }

    /// The only column that the failed condition mentions; nil when the constraint has a name, or the
    /// condition mentions several columns.
    private func checkedColumn(_ message: String, _ schema: ModelSchema) -> String? {
        let words = Set(
            message.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { SQLText.foldedName(String($0)) })
        let named = schema.columns.filter { words.contains(SQLText.foldedName($0.name)) }
        return named.count == 1 ? named[0].name : nil
    }

    /// The first foreign key column whose value no row of the parent table has.
    private func orphan<M: Model>(_ type: M.Type, _ fields: M.Fields) throws -> (column: String, parent: String)? {
        for key in try ForeignKeyColumns.all(of: M.schema.table, db) {
            let positions = key.children.compactMap { name in
                M.schema.columns.firstIndex { SQLText.same($0.name, name) }
            }
            guard positions.count == key.children.count else { continue }
            let values = try positions.map { try fields._value($0) }
            if values.contains(.null) { continue }
            let condition = key.parents.map { "\(SQLText.quote(identifier: $0)) = ?" }.joined(separator: " AND ")
            let select = "SELECT 1 FROM \(SQLText.quote(identifier: key.parentTable)) WHERE \(condition)"
            let isThere = try PreparedStatement(db, select).run { statement in
                try statement.bind(values)
                return try statement.step()
            }
            if !isThere { return (M.schema.columns[positions[0]].name, key.parentTable) }
        }
        return nil
    }

    /// Adds the table and column whose rows refer to the row that cannot be deleted.
    func referrer<M: Model>(_ error: any Error, _ type: M.Type, _ fields: M.Fields) -> any Error {
        guard let error = error as? StoreError, error.code == .foreignKey,
            let referrer = try? referringTable(type, fields)
        else { return error }
        return StoreError(
            .foreignKey, "Rows of \(referrer.table) refer to the row by \(referrer.column)",
            hint: "Delete or change those rows first.", table: error.table ?? M.schema.table, column: error.column,
            operation: error.operation, sqliteCode: error.sqliteCode, sql: error.sql)
    }

    private func referringTable<M: Model>(_ type: M.Type, _ fields: M.Fields) throws -> (table: String, column: String)?
    {
        for table in try TableInspection.all(db) {
            for key in try ForeignKeyColumns.all(of: table.name, db) where SQLText.same(key.parentTable, M.schema.table)
            {
                let positions = key.parents.compactMap { name in
                    M.schema.columns.firstIndex { SQLText.same($0.name, name) }
                }
                guard positions.count == key.parents.count, let column = key.children.first else { continue }
                let condition = key.children.map { "\(SQLText.quote(identifier: $0)) = ?" }.joined(separator: " AND ")
                let select = "SELECT 1 FROM \(SQLText.quote(identifier: table.name)) WHERE \(condition)"
                let refers = try PreparedStatement(db, select).run { statement in
                    try statement.bind(try positions.map { try fields._value($0) })
                    return try statement.step()
                }
                if refers { return (table.name, column) }
            }
        }
        return nil
    }
}

/// One foreign key of a table.
private struct ForeignKeyColumns {
    let parentTable: String
    let children: [String]
    let parents: [String]

    static func all(of table: String, _ db: GRDB.Database) throws -> [ForeignKeyColumns] {
        let rows = try GRDB.Row.fetchAll(
            db,
            sql: "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq",
            arguments: [table])
        return try Dictionary(grouping: rows) { row -> Int in row["id"] }.sorted { $0.key < $1.key }.map { _, rows in
            let parent: String = rows[0]["table"]
            let named = rows.compactMap { row -> String? in row["to"] }
            // A key that names no parent columns refers to the parent's primary key.
            let key =
                named.count == rows.count
                ? named
                : try TableInspection.named(parent, db).map { $0.stored.prefix($0.keyCount).map(\.name) } ?? []
            return ForeignKeyColumns(parentTable: parent, children: rows.map { $0["from"] }, parents: key)
        }
    }
}

extension StoreError {
    fileprivate func at(column: String?) -> StoreError {
        var error = self
        error.column = error.column ?? column
        return error
    }
}
