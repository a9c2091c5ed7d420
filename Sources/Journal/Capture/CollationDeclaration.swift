import GRDB

/// Declares what collations of programs are mapped to, and holds the claim against the rows of the file.
///
/// A wrong claim would put rows in places of an index where the program does not look for them. So the rows that are
/// there must be in the order of the mapped collation, and what NOCASE may see in another way is refused.
struct CollationDeclaration {
    private let changes: [(name: String, target: KeyCollation?)]
    private let tables: [(table: TableInspection, columns: [CollatedColumns.Column])]

    /// - Throws: ``JournalError/Code/invalid`` for a collation of SQLite itself, and for one that no table uses;
    ///   errors of SQLite.
    init(_ changes: [(name: String, target: KeyCollation?)], among tables: [TableInspection], _ db: Database) throws {
        self.changes = changes
        guard !changes.isEmpty else {
            self.tables = []
            return
        }
        let all = try tables.map { (table: $0, columns: try CollatedColumns(db, $0).all) }
        let used = Set(all.flatMap { $0.columns.map(\.collation) })
        for change in changes where change.target != nil {
            guard KeyCollation(rawValue: change.name.uppercased()) == nil else {
                throw JournalError(
                    .invalid, "\(change.name) is a collation of SQLite itself, and cannot be mapped",
                    hint: "--collation NAME=\(KeyCollation.nocase.word) maps the collation NAME of a program.")
            }
            guard !used.contains(where: { SQLText.foldedName($0) == SQLText.foldedName(change.name) }) else { continue }
            throw JournalError(
                .invalid, "No table uses a collation named \(change.name)",
                hint: used.isEmpty
                    ? "All collations in the schema are SQLite's own."
                    : "The schema uses " + used.sorted().joined(separator: ", ") + ".")
        }
        let names = Set(changes.filter { $0.target != nil }.map { SQLText.foldedName($0.name) })
        self.tables = all.compactMap { entry in
            let columns = entry.columns.filter { names.contains(SQLText.foldedName($0.collation)) }
            return columns.isEmpty ? nil : (entry.table, columns)
        }
    }

    /// Writes the map, and checks the rows of the tables that use it.
    ///
    /// - Parameter db: A connection inside a write transaction, which has the mapped collations.
    /// - Throws: ``JournalError/Code/unsupportedTable`` when the rows refute the claim; errors of SQLite. The
    ///   transaction must then be rolled back.
    func run(_ db: Database) throws {
        guard !changes.isEmpty else { return }
        let map = try CollationMap(db).changed(by: changes)
        try map.write(db)
        for (table, columns) in tables {
            for column in columns where map.target(of: column.collation) == .nocase { try checkText(column, table, db) }
            try checkOrder(columns, table, map, db)
        }
    }

    private func checkText(_ column: CollatedColumns.Column, _ table: TableInspection, _ db: Database) throws {
        try CaseFunction.add(to: db)
        let name = SQLText.quote(identifier: column.name)
        let text = try String.fetchOne(
            db,
            sql: """
                SELECT \(name) FROM \(SQLText.quote(identifier: table.name))
                WHERE typeof(\(name)) = 'text' AND \(CaseFunction.name)(\(name)) LIMIT 1
                """)
        guard let text else { return }
        throw JournalError(
            .unsupportedTable,
            "\(table.name).\(column.name) has letters beyond ASCII, such as \"\(text.prefix(40))\", whose case NOCASE "
                + "does not know, so it may order them in another way than \(column.collation)",
            hint: "If \(column.collation) folds the case of all letters, map it to \(KeyCollation.unicode.word); "
                + "otherwise load it with --extension.")
    }

    /// An index that another order has made lacks rows when it is searched by this one.
    private func checkOrder(
        _ columns: [CollatedColumns.Column], _ table: TableInspection, _ map: CollationMap, _ db: Database
    ) throws {
        do {
            guard let problem = try TableIntegrity.problem(in: table.name, db) else { return }
            let claims = Set(columns.map(\.collation)).sorted().map { name in
                "\(name) is not \(map.target(of: name)?.word ?? "")"
            }
            throw JournalError(
                .unsupportedTable,
                "An index of \(table.name) is in another order, so \(claims.joined(separator: ", or ")): \(problem)",
                hint:
                    "Map it to another one of \(KeyCollation.words.joined(separator: ", ")), or load it with --extension."
            )
        } catch let error as DatabaseError {
            // Something else of the table's program is missing, which capture reports.
            guard ApplicationDefined.missing(error) != nil else { throw error }
        }
    }
}

extension CollationMap {
    /// Writes the map to a file with a journal of this release.
    ///
    /// - Parameter db: A connection inside a write transaction.
    /// - Throws: Errors of SQLite.
    func write(_ db: Database) throws {
        let names = all.flatMap { [$0.name, $0.target.word] }
        try db.execute(
            sql: "UPDATE _journal_replica SET collations = ?",
            arguments: [names.isEmpty ? nil : NameList.encode(names)])
    }
}
