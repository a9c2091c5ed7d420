/// Brings a file's schema to the newest declared version.
///
/// The version stands in `PRAGMA user_version`: four bytes of the file's header that SQLite leaves to the application
/// (https://sqlite.org/pragma.html#pragma_user_version). It changes in the same transaction as the schema, survives VACUUM and
/// backup, and is no table that replication could carry to a machine with another schema. A database opened without
/// declared versions leaves it alone, so that a program with its own use of it is not disturbed.
struct Migration {
    private let versions: [SchemaVersion]

    init(_ versions: [SchemaVersion]) { self.versions = versions }

    func run(_ database: Database) throws {
        guard let newest = versions.last?.number, try current(database) != newest else { return }
        try database.transaction {
            // Read again under the write lock: another process may have been faster.
            let current = try current(database)
            guard current <= newest else {
                throw StoreError(
                    .newerSchema, "the file has version \(current) of the schema, this program knows up to \(newest)",
                    hint: "Run the newer release of the program.")
            }
            for version in versions where version.number > current {
                try version.steps(SchemaStep(database: database))
                // Capture has followed: each `execute` that changes the schema lets it.
                _ = try database.execute(
                    SQL(raw: "PRAGMA user_version = \(version.number)"), operation: "changing the schema")
            }
        }
    }

    private func current(_ database: Database) throws -> Int {
        try database.value(Int.self, "PRAGMA user_version") ?? 0
    }
}
