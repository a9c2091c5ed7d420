import GRDB
import Journal

/// One foreign key of a table, with the positions of its columns and the query that looks for the parent.
struct ForeignKey {
    let child: String
    /// Positions in the child's ``TableInspection/stored``.
    let childColumns: [Int]
    let parent: String
    let parentColumns: [String]
    /// Finds the parent by the values of ``parentColumns``.
    let parentSQL: String

    init(child: String, childColumns: [Int], parent: String, parentColumns: [String]) {
        self.child = child
        self.childColumns = childColumns
        self.parent = parent
        self.parentColumns = parentColumns
        parentSQL =
            "SELECT 1 FROM \(SQLText.quote(identifier: parent)) WHERE "
            + parentColumns.map { "\(SQLText.quote(identifier: $0)) = ?" }.joined(separator: " AND ")
    }

    /// The foreign keys of `table` whose parents are tables here; others cannot be checked.
    static func all(_ db: Database, of table: TableInspection) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            db, sql: #"SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq"#,
            arguments: [table.name])
        let groups = Dictionary(grouping: rows) { $0["id"] as Int64 }
        return try groups.sorted { $0.key < $1.key }.compactMap { _, rows -> ForeignKey? in
            let parentName: String = rows[0]["table"]
            guard let parent = try TableInspection.named(parentName, db) else { return nil }
            let childColumns = rows.compactMap { row -> Int? in
                let name = SQLText.foldedName(row["from"])
                return table.stored.firstIndex { SQLText.foldedName($0.name) == name }
            }
            // Without a column list a foreign key names the parent's primary key.
            let named = rows.compactMap { $0["to"] as String? }
            let parentColumns = named.isEmpty ? parent.stored.prefix(parent.keyCount).map(\.name) : named
            guard childColumns.count == rows.count, parentColumns.count == rows.count else { return nil }
            return ForeignKey(
                child: table.name, childColumns: childColumns, parent: parent.name, parentColumns: parentColumns)
        }
    }
}

/// The foreign keys of all tables here, from both sides.
final class ForeignKeyMap {
    private let db: Database
    private var byChild: [String: [ForeignKey]] = [:]
    private var byParent: [String: [ForeignKey]] = [:]
    private var statements: [String: RawStatement] = [:]

    init(_ db: Database, tables: [TableInspection]) throws {
        self.db = db
        for table in tables {
            let keys = try ForeignKey.all(db, of: table)
            byChild[SQLText.foldedName(table.name)] = keys
            for key in keys { byParent[SQLText.foldedName(key.parent), default: []].append(key) }
        }
    }

    func foreignKeys(of table: String) -> [ForeignKey] { byChild[SQLText.foldedName(table)] ?? [] }
    func references(to table: String) -> [ForeignKey] { byParent[SQLText.foldedName(table)] ?? [] }

    /// The first of `keys` for which `row` has no parent; nil when all are satisfied. A key with a NULL column is.
    func violation(of keys: [ForeignKey], row: (Int) -> Value?) throws -> ForeignKey? {
        for key in keys {
            let values = key.childColumns.map { row($0) ?? .null }
            guard !values.contains(.null) else { continue }
            if try !parentExists(key, values: values) { return key }
        }
        return nil
    }

    /// The primary keys of the rows that refer to `values` through `key`.
    func children(of key: ForeignKey, table: TableInspection, values: [Value]) throws -> [[Value]] {
        let columns = table.stored.prefix(table.keyCount).map { SQLText.quote(identifier: $0.name) }
        let conditions = key.childColumns.map { "\(SQLText.quote(identifier: table.stored[$0].name)) = ?" }
        let statement = try statement(
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.quote(identifier: table.name)) "
                + "WHERE \(conditions.joined(separator: " AND "))")
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        var keys: [[Value]] = []
        while try statement.step() { keys.append(columns.indices.map { statement.column(Int32($0)) }) }
        return keys
    }

    /// True when `values` stand in a row of the parent.
    func parentExists(_ key: ForeignKey, values: [Value]) throws -> Bool {
        let statement = try statement(key.parentSQL)
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        defer { statement.reset() }
        return try statement.step()
    }

    private func statement(_ sql: String) throws -> RawStatement {
        if let statement = statements[sql] { return statement }
        let statement = try RawStatement(db, sql)
        statements[sql] = statement
        return statement
    }
}
