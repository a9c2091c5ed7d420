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

    /// The policy that a file without a journal gets from `request`.
    init(ofNewReplica request: InitializeRequest, _ db: Database) throws {
        let names = try TableNames(db)
        include = request.tables.map { Set($0.map(names.folded)) }
        exclude = Set((request.excluding + MigrationTables.excluded(unless: request.tables ?? [])).map(names.folded))
        self.names = names
    }

    /// The same policy after another `init` with `request`.
    func updated(by request: InitializeRequest) -> TrackingPolicy { TrackingPolicy(self, request) }

    private init(_ before: TrackingPolicy, _ request: InitializeRequest) {
        names = before.names
        let named = Set((request.tables ?? []).map(before.names.folded))
        let onlyAdds = named.isSubset(of: before.exclude) && before.include == nil
        include = request.tables == nil || onlyAdds ? before.include : named
        exclude = before.exclude.subtracting(named).union(request.excluding.map(before.names.folded))
    }

    /// Returns why the table stays local by a decision; nil when nobody decided so.
    func refusal(of table: String) -> TableRefusal? {
        let name = names.folded(table)
        if exclude.contains(name) {
            return MigrationTables.names.contains { names.folded($0) == name }
                ? TableRefusal(.migrationNotes, "it notes which migrations this file has seen, so it stays local")
                : TableRefusal(.excluded, "excluded")
        }
        if let include {
            return include.contains(name) ? nil : TableRefusal(.notNamed, "not among the tables named at init")
        }
        if MigrationTables.helperPrefixes.contains(where: name.hasPrefix) {
            return TableRefusal(.migrationNotes, "a migration tool builds another table in it")
        }
        return nil
    }
}
