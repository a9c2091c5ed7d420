import Journal

/// Which columns hold minted keys: the keys that SQLite chooses, and the references to them.
///
/// The *domain* of a column is the table whose keys its values are. A reference leads on through a parent's
/// key that is itself a reference.
struct KeyDomains {
    /// The ids of the tables, by folded names of table and column.
    private let domains: [String: [String: Int64]]
    /// The ids of the tables with a column in each domain, the domain itself included.
    let tables: [Int64: Set<Int64>]

    static let none = KeyDomains(domains: [:], tables: [:])

    private init(domains: [String: [String: Int64]], tables: [Int64: Set<Int64>]) {
        self.domains = domains
        self.tables = tables
    }

    /// - Parameters:
    ///   - tables: The captured tables with their ids.
    ///   - declared: The references that are no foreign keys.
    ///   - names: The names of the tables.
    ///   - mints: False for a table whose keys are natural, so that equal keys mean one row.
    init(
        tables: [(id: Int64, table: TableInspection)], foreignKeys: ForeignKeyMap, declared: [DeclaredReference],
        names: TableNames, mints: (TableInspection) -> Bool
    ) {
        let byName = Dictionary(
            tables.map { (SQLText.foldedName($0.table.name), $0) }, uniquingKeysWith: { first, _ in first })
        let byAnyName = Dictionary(
            tables.map { (names.folded($0.table.name), $0.table) }, uniquingKeysWith: { first, _ in first })
        func declaredParent(_ column: String, _ table: TableInspection) -> TableInspection? {
            declared.first {
                names.folded($0.table) == names.folded(table.name) && SQLText.foldedName($0.column) == column
            }.flatMap { byAnyName[names.folded($0.parent)] }
        }
        func domain(of column: String, in table: TableInspection, visited: Set<String>) -> Int64? {
            let name = SQLText.foldedName(table.name)
            let column = SQLText.foldedName(column)
            guard let known = byName[name], !visited.contains("\(name).\(column)") else { return nil }
            for key in foreignKeys.foreignKeys(of: table.name) {
                guard
                    let place = key.childColumns.firstIndex(where: {
                        SQLText.foldedName(table.stored[$0].name) == column
                    }), let parent = byName[SQLText.foldedName(key.parent)]?.table,
                    let found = domain(
                        of: key.parentColumns[place], in: parent, visited: visited.union(["\(name).\(column)"]))
                else { continue }
                return found
            }
            if let parent = declaredParent(column, table), let key = parent.stored.first?.name,
                let found = domain(of: key, in: parent, visited: visited.union(["\(name).\(column)"]))
            {
                return found
            }
            let isMinted =
                table.hasRowidKey && table.keyCount == 1 && SQLText.foldedName(table.stored[0].name) == column
            return isMinted && mints(table) ? known.id : nil
        }
        var domains: [String: [String: Int64]] = [:]
        var members: [Int64: Set<Int64>] = [:]
        for (id, table) in tables {
            for column in table.stored {
                guard let found = domain(of: column.name, in: table, visited: []) else { continue }
                domains[SQLText.foldedName(table.name), default: [:]][SQLText.foldedName(column.name)] = found
                members[found, default: []].insert(id)
            }
        }
        self.init(domains: domains, tables: members)
    }

    var isEmpty: Bool { domains.isEmpty }

    /// The columns of a shape that hold minted keys, each with its domain.
    func columns(of shape: TableShape) -> [(column: Int, domain: Int64)] {
        guard let columns = domains[SQLText.foldedName(shape.table)] else { return [] }
        return shape.columns.enumerated().compactMap { index, name in
            columns[SQLText.foldedName(name)].map { (index, $0) }
        }
    }

    /// Everything that the domains say, as text.
    var text: String {
        domains.sorted { $0.key < $1.key }.map { table, columns in
            "\(table)(\(columns.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")))"
        }.joined(separator: ";")
    }
}
