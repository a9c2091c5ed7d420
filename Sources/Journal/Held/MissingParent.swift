import GRDB

/// A foreign key of a held row whose parent its table does not show.
struct MissingParent {
    /// The columns of the child, as positions in its ``TableInspection/stored``.
    let childColumns: [Int]
    let parent: TableInspection
    /// The columns of the parent to which the key refers.
    let parentColumns: [String]
    /// What the held row has in ``childColumns``, as the parent's columns store it.
    let values: [Value]

    /// Returns the foreign keys of a row whose parents are not visible. A key with a NULL column needs none.
    ///
    /// - Throws: Errors of SQLite.
    static func all(of row: HeldRecord, _ db: Database) throws -> [MissingParent] {
        try DeclaredForeignKey.all(db, of: row.table).compactMap { definition in
            guard let parent = try TableInspection.named(definition.parent, db) else { return nil }
            let childColumns = definition.from.compactMap(row.table.position)
            let parentColumns = definition.parentColumns(of: parent)
            let positions = parentColumns.compactMap(parent.position)
            guard childColumns.count == parentColumns.count, positions.count == parentColumns.count else { return nil }
            let forms = StoredForm(parent, db)
            let values = try zip(childColumns, positions).map { child, column in
                try forms.stored(row.image[row.table, child] ?? .null, in: column)
            }
            let missing = MissingParent(
                childColumns: childColumns, parent: parent, parentColumns: parentColumns, values: values)
            return try values.contains(.null) || missing.isVisible(db) ? nil : missing
        }
    }

    private func isVisible(_ db: Database) throws -> Bool {
        let condition = parentColumns.map { "\(SQLText.quote(identifier: $0)) = ?" }.joined(separator: " AND ")
        return try !RawStatement.rows(
            "SELECT 1 FROM \(SQLText.quote(identifier: parent.name)) WHERE \(condition)", values, db
        ).isEmpty
    }

    /// The values as a primary key of the parent; nil when the foreign key refers to other columns.
    var parentKey: [Value]? {
        let keys = parent.stored.prefix(parent.keyCount).map { SQLText.foldedName($0.name) }
        let names = parentColumns.map(SQLText.foldedName)
        guard keys.count == names.count else { return nil }
        let ordered = keys.compactMap { key in names.firstIndex(of: key).map { values[$0] } }
        return ordered.count == keys.count ? ordered : nil
    }
}

extension RawStatement {
    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - values: The values of its parameters.
    ///   - db: The connection that runs it.
    /// - Returns: The rows.
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    static func rows(_ sql: String, _ values: [Value], _ db: Database) throws -> [[Value]] {
        let statement = try RawStatement(db, sql)
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(clamping: index + 1)) }
        var rows: [[Value]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map { statement.column($0) }) }
        return rows
    }
}
