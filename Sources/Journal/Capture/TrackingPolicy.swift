import GRDB

/// The tables that an operator included and excluded at `init`, and those of ``MigrationTables``.
struct TrackingPolicy {
    /// Names as ``TableNames/folded(_:)`` returns them; nil includes every table.
    let include: Set<String>?
    let exclude: Set<String>
    private let names: TableNames

    init(_ db: Database) throws {
        let row = try Row.fetchOne(db, sql: "SELECT include, exclude FROM _journal_replica")
        let names = try TableNames(db)
        include = try (row?["include"] as String?).map { Set(try NameList.decode($0).map(names.folded)) }
        exclude = Set(try NameList.decode(row?["exclude"] ?? "[]").map(names.folded))
        self.names = names
    }

    func refusal(of table: String) -> String? {
        let name = names.folded(table)
        if exclude.contains(name) {
            return MigrationTables.names.contains { names.folded($0) == name }
                ? "it notes which migrations this file has seen, so it stays local" : "excluded"
        }
        if let include { return include.contains(name) ? nil : "not among the tables named at init" }
        if MigrationTables.helperPrefixes.contains(where: name.hasPrefix) {
            return "a migration tool builds another table in it"
        }
        return nil
    }
}
