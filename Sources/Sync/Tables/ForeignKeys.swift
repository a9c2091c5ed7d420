import GRDB
import Journal

/// One foreign key of a table, with the positions of its columns and the query that finds the parent.
struct ForeignKey {
    /// What a child shows while its parent is not shown (decision 0008, rule 3).
    enum Substitute: Hashable {
        /// No substitute: the child is held until its parent is there. The case of every action but SET NULL
        /// and SET DEFAULT.
        case none
        /// These values, one for each of ``ForeignKey/childColumns``.
        case values([Value])
    }

    /// Unique among the foreign keys of one ``ForeignKeyMap``.
    let id: Int
    let child: String
    /// Positions in the child's ``TableInspection/stored``.
    let childColumns: [Int]
    let parent: String
    let parentColumns: [String]
    /// The collations of the parent's columns.
    let parentCollations: [KeyCollation]
    /// The affinities of the parent's columns. SQLite converts a child's value by them before it looks for
    /// the parent, so '01' in a TEXT column refers to 1 (https://sqlite.org/foreignkeys.html, section 3).
    let parentAffinities: [Affinity]
    /// The affinities of the child's columns.
    let childAffinities: [Affinity]
    let substitute: Substitute
    /// Finds the parent by the values of ``parentColumns``.
    let parentSQL: String
}

/// The foreign keys of all tables in this file, by child and by parent.
final class ForeignKeyMap {
    private let db: Database
    private var byChild: [String: [ForeignKey]] = [:]
    private var byParent: [String: [ForeignKey]] = [:]
    private var groups: [String: String] = [:]
    private var statements: [String: RawStatement] = [:]
    private let forms: StoredForm

    init(_ db: Database, tables: [TableInspection]) throws {
        self.db = db
        forms = StoredForm(db)
        var count = 0
        for table in tables {
            var keys: [ForeignKey] = []
            for definition in try DeclaredForeignKey.all(db, of: table) {
                guard let key = try definition.resolve(db, id: count, child: table) else { continue }
                keys.append(key)
                count += 1
            }
            byChild[SQLText.foldedName(table.name)] = keys
            for key in keys {
                byParent[SQLText.foldedName(key.parent), default: []].append(key)
                join(SQLText.foldedName(key.child), SQLText.foldedName(key.parent))
            }
        }
    }

    /// All foreign keys, in an order that depends only on the schema.
    var all: [ForeignKey] { byChild.values.joined().sorted { $0.id < $1.id } }

    func foreignKeys(of table: String) -> [ForeignKey] { byChild[SQLText.foldedName(table)] ?? [] }
    func references(to table: String) -> [ForeignKey] { byParent[SQLText.foldedName(table)] ?? [] }

    /// The name of a table's group: the same for all tables that foreign keys connect, directly or through
    /// others.
    func group(of table: String) -> String {
        var name = SQLText.foldedName(table)
        while let next = groups[name] { name = next }
        return name
    }

    private func join(_ a: String, _ b: String) {
        let (a, b) = (group(of: a), group(of: b))
        if a != b { groups[max(a, b)] = min(a, b) }
    }

    /// The values by which a row refers to a parent through `key`, as the parent's columns store them; nil
    /// when one is NULL, because then there is no parent.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    func reference(_ key: ForeignKey, row: (Int) -> Value?) throws -> [Value]? {
        let values = key.childColumns.map { row($0) ?? .null }
        guard !values.contains(.null) else { return nil }
        guard key.parentAffinities != key.childAffinities else { return values }
        return try zip(values, key.parentAffinities).map { try forms.stored($0, by: $1) }
    }

    /// The primary keys of the rows that refer to `values` through `key`.
    func children(of key: ForeignKey, table: TableInspection, values: [Value]) throws -> [[Value]] {
        let columns = table.stored.prefix(table.keyCount).map { SQLText.quote(identifier: $0.name) }
        // The parent's collation and affinity apply, not the child's (https://sqlite.org/foreignkeys.html,
        // section 3). `+` removes the child's affinity; no index can help then.
        let conditions = key.childColumns.indices.map { index in
            let child = SQLText.quote(identifier: table.stored[key.childColumns[index]].name)
            let affinity = key.parentAffinities[index]
            let collation = "COLLATE \(key.parentCollations[index].rawValue)"
            guard affinity != key.childAffinities[index] else { return "\(child) = ? \(collation)" }
            return "+\(child) = \(affinity.isNative(values[index]) ? affinity.cast("?") : "?") \(collation)"
        }
        let statement = try statement(
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.quote(identifier: table.name)) "
                + "WHERE \(conditions.joined(separator: " AND "))")
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        var keys: [[Value]] = []
        while try statement.step() { keys.append(columns.indices.map { statement.column(Int32($0)) }) }
        return keys
    }

    /// The primary keys of the visible rows that refer through `key` to a parent that is not visible. Walks
    /// through the child table.
    func orphans(of key: ForeignKey, table: TableInspection) throws -> [[Value]] {
        let columns = table.stored.prefix(table.keyCount).map { "c.\(SQLText.quote(identifier: $0.name))" }
        let children = key.childColumns.map { "c.\(SQLText.quote(identifier: table.stored[$0].name))" }
        // `+` removes the child's affinity, so that the parent's applies, as in ``parentExists(_:values:)``.
        let parents = zip(key.parentColumns, children).map { "p.\(SQLText.quote(identifier: $0)) = +\($1)" }
        let statement = try RawStatement(
            db,
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.quote(identifier: table.name)) AS c WHERE "
                + children.map { "\($0) IS NOT NULL AND " }.joined()
                + "NOT EXISTS (SELECT 1 FROM \(SQLText.quote(identifier: key.parent)) AS p WHERE "
                + parents.joined(separator: " AND ") + ")")
        var keys: [[Value]] = []
        while try statement.step() { keys.append(columns.indices.map { statement.column(Int32($0)) }) }
        return keys
    }

    /// True when a visible row of the parent has `values`.
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

extension DeclaredForeignKey {
    /// Finds the parent table and the positions of the columns.
    ///
    /// - Returns: nil when the parent is not a table in this file, or only its own program can read it. The
    ///   key cannot be checked then.
    fileprivate func resolve(_ db: Database, id: Int, child: TableInspection) throws -> ForeignKey? {
        guard let parentTable = try TableInspection.named(parent, db), try parentTable.canBeWritten(db) else {
            return nil
        }
        let childColumns = from.compactMap(child.position)
        let parentColumns = parentColumns(of: parentTable)
        guard childColumns.count == from.count, parentColumns.count == from.count else { return nil }
        let collations = parentColumns.map { name in
            parentTable.position(of: name).map { parentTable.stored[$0].comparison } ?? .binary
        }
        return ForeignKey(
            id: id, child: child.name, childColumns: childColumns, parent: parentTable.name,
            parentColumns: parentColumns, parentCollations: collations,
            parentAffinities: parentColumns.map { name in
                parentTable.position(of: name).map {
                    Affinity(parentTable.stored[$0], isStrict: parentTable.isStrict)
                } ?? .none
            }, childAffinities: childColumns.map { Affinity(child.stored[$0], isStrict: child.isStrict) },
            substitute: try substitute(db, child: child, columns: childColumns),
            parentSQL: "SELECT 1 FROM \(SQLText.quote(identifier: parentTable.name)) WHERE "
                + parentColumns.map { "\(SQLText.quote(identifier: $0)) = ?" }.joined(separator: " AND "))
    }

    /// The substitute for a missing parent. A key column, a UNIQUE column and NULL in a NOT NULL column rule
    /// it out.
    private func substitute(_ db: Database, child: TableInspection, columns: [Int]) throws -> ForeignKey.Substitute {
        guard onDelete == "SET NULL" || onDelete == "SET DEFAULT", columns.allSatisfy({ $0 >= child.keyCount }) else {
            return .none
        }
        let isUnique = try UniqueIndex.all(db, table: child.name).contains { index in
            columns.contains { index.depends(on: child.stored[$0].name, of: child) }
        }
        guard !isUnique else { return .none }
        let values = try columns.map { column -> Value in
            guard onDelete == "SET DEFAULT" else { return .null }
            return try child.stored[column].defaultValue(db) ?? .null
        }
        let breaksNotNull = zip(columns, values).contains { child.stored[$0].isNotNull && $1 == .null }
        return breaksNotNull ? .none : .values(values)
    }
}
