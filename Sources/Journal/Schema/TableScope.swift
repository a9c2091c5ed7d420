import GRDB

/// Some tables of a cluster, by name: those of a token that is limited, and those that a leaf has.
///
/// Names compare as SQLite compares them, and all names of a renamed table mean that table.
public struct TableScope: Sendable, Hashable {
    /// The names, in the order of their folded forms, each once.
    public let tables: [String]

    /// - Parameter names: The names, in any order.
    /// - Returns: nil without any name.
    public init?(_ names: some Sequence<String>) {
        var known: Set<String> = []
        let tables = names.filter { known.insert(SQLText.foldedName($0)).inserted }
            .sorted { SQLText.foldedName($0).utf8.lexicographicallyPrecedes(SQLText.foldedName($1).utf8) }
        guard !tables.isEmpty else { return nil }
        self.tables = tables
    }

    /// The tables of either.
    package func union(_ other: TableScope) -> TableScope { TableScope(tables + other.tables) ?? self }

    /// Returns a test for names of tables.
    ///
    /// - Parameter names: The names that the file has for its tables.
    package func test(_ names: TableNames) -> @Sendable (String) -> Bool {
        let folded = Set(tables.map(names.folded))
        return { folded.contains(names.folded($0)) }
    }

    /// The tables of `other` that are not among these.
    package func lacking(_ other: TableScope, _ names: TableNames) -> [String] {
        let covers = test(names)
        return other.tables.filter { !covers($0) }
    }

    /// The tables as a list for people.
    public var list: String { tables.joined(separator: ", ") }
}

extension TableScope {
    /// What keeps a file from giving these tables, and no others, to a leaf.
    package enum Obstacle: Sendable, Hashable {
        /// There is no replicated table of that name.
        case missing(String)
        /// The table refers to one that is not among these: what it shows would depend on rows that the leaf lacks.
        case refers(String)
    }

    /// Returns the first obstacle; nil when there is none.
    ///
    /// - Throws: Errors of SQLite.
    package func obstacle(_ db: Database) throws -> Obstacle? {
        let registry = try ShapeRegistry(db)
        let covers = test(registry.names)
        let references = try DeclaredReference.all(db)
        for name in tables {
            guard let table = registry.tracked(table: name)?.shape.table else { return .missing(name) }
            let parents = try String.fetchAll(
                db.cachedStatement(sql: #"SELECT DISTINCT "table" FROM pragma_foreign_key_list(?, 'main')"#),
                arguments: [table])
            let declared = references.filter { registry.names.folded($0.table) == registry.names.folded(table) }
            for parent in parents + declared.map(\.parent) where !covers(parent) {
                let isHere = try registry.tableID(named: parent) != nil || TableInspection.named(parent, db) != nil
                if isHere { return .refers(name) }
            }
        }
        return nil
    }
}
