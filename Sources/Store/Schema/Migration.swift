import GRDB
import GRDBSQLite
import Journal

/// Migrates a file's schema to the declared one: first the versions that the file lacks, then the models of
/// automatic schemas.
///
/// The version is stored in `PRAGMA user_version`: four bytes of the file's header that SQLite leaves to the
/// application (https://sqlite.org/pragma.html#pragma_user_version). It changes in the same transaction as
/// the schema and survives VACUUM and backup. It is no table, so replication cannot carry it to a machine
/// with another schema. A database that is opened without declared versions does not touch it, so that a
/// program can use it for other purposes.
struct Migration {
    private let versions: [SchemaVersion]
    private let automatic: [AutomaticSchema]
    private let localTables: [String]
    private let renamedTables: [TableNames.Renaming]

    init(_ schema: SchemaBuilder) throws {
        versions = try schema.checked()
        automatic = schema.automatic
        localTables = schema.localTables
        renamedTables = schema.renamedTables
    }

    /// The models of the automatic schemas.
    var models: [any Model.Type] { automatic.flatMap(\.models) }

    func run(_ database: Database) throws -> SchemaReport {
        var report = SchemaReport()
        if database.replica.isReadOnly {
            if let newest = versions.last?.number { try refuse(current(database), beyond: newest) }
            return report
        }
        guard try isDue(database) else { return report }
        // Rebuilding a table to which others refer needs foreign keys to be off; they are checked before the
        // commit instead.
        let rebuilds =
            automatic.contains { $0.allowed.contains(.rebuildTables) } || versions.contains(where: \.rebuildsTables)
        try database.write(enforcingForeignKeys: !rebuilds, operation: "opening the database") { context in
            let violations = rebuilds ? try ForeignKeyViolations(context.db) : nil
            let autoincrements = try TrackedKeys.autoincrements(context.db)
            try keepLocal(context)
            try declareNames(context)
            try context.migrating { try runVersions(database, context, &report) }
            let hasVersions = try !versions.isEmpty || current(database) > 0
            for settings in automatic {
                var migration = AutomaticMigration(context, settings, hasVersions: hasVersions, report: report)
                try migration.run()
                report = migration.report
            }
            if !report.done.isEmpty { try context.schemaChanged() }
            try context.absorb()
            try TrackedKeys.check(automatic.flatMap(\.models), knowing: autoincrements, context)
            try violations?.checkNothingNew(context.db)
        }
        return report
    }

    /// Checks the version without a lock. The tables of models are compared only in the transaction.
    private func isDue(_ database: Database) throws -> Bool {
        if !automatic.isEmpty || !localTables.isEmpty || !renamedTables.isEmpty { return true }
        guard let newest = versions.last?.number else { return false }
        return try current(database) != newest
    }

    private func keepLocal(_ context: WriteContext) throws {
        guard !localTables.isEmpty else { return }
        do {
            if try Capture.exclude(localTables, context.db) { try context.schemaChanged() }
        } catch {
            throw StoreError.wrapping(error, operation: "keeping tables local")
        }
    }

    private func declareNames(_ context: WriteContext) throws {
        do {
            var isNew = false
            for renaming in renamedTables where try TableNames.declare(renaming, context.db) { isNew = true }
            if isNew { try context.schemaChanged() }
        } catch {
            throw StoreError.wrapping(error, operation: "declaring a renamed table")
        }
    }

    private func runVersions(_ database: Database, _ context: WriteContext, _ report: inout SchemaReport) throws {
        guard let newest = versions.last?.number else { return }
        // Read under the write lock, because another process may have migrated the file in the meantime.
        let current = try current(database)
        try refuse(current, beyond: newest)
        report.previousVersion = current
        report.version = newest
        for version in versions where version.number > current {
            try context.markMigration("version \(version.number)") { try version.steps(SchemaStep(database: database)) }
            _ = try database.execute(
                SQL(raw: "PRAGMA user_version = \(version.number)"), operation: "changing the schema")
        }
    }

    private func refuse(_ current: Int, beyond newest: Int) throws {
        guard current > newest else { return }
        throw StoreError(
            .newerSchema,
            "The file has version \(current) of the schema, but this program knows only versions up to \(newest)",
            hint: "Run the newer release of the program.")
    }

    private func current(_ database: Database) throws -> Int {
        try database.value(Int.self, "PRAGMA user_version") ?? 0
    }
}

/// The number of rows without a parent row, for each foreign key.
private struct ForeignKeyViolations {
    private struct Place: Hashable {
        let table: String
        let parent: String
        let index: Int
    }

    private let counts: [Place: Int]

    init(_ db: GRDB.Database) throws {
        let rows = try GRDB.Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
        var counts: [Place: Int] = [:]
        while let row = try rows.next() {
            counts[Place(table: row[0], parent: row[2], index: row[3]), default: 0] += 1
        }
        self.counts = counts
    }

    /// Compares with the counts before the migration.
    ///
    /// - Throws: ``StoreError/Code/foreignKey`` when a foreign key has more such rows than before.
    func checkNothingNew(_ db: GRDB.Database) throws {
        for (place, count) in try ForeignKeyViolations(db).counts where count > counts[place] ?? 0 {
            throw StoreError(
                .foreignKey,
                "After the migration, \(StoreError.count(count, "row")) \(count == 1 ? "refers" : "refer") to rows of "
                    + "\(place.parent) that do not exist",
                hint: "Correct them in the same migration.", table: place.table, operation: "changing the schema")
        }
    }
}

/// Refuses captured tables whose keys SQLite generates, because two machines can generate the same key.
private enum TrackedKeys {
    /// Checks the models and all tables after the migration.
    ///
    /// - Parameter known: Tables that had AUTOINCREMENT before the migration. They are not refused.
    static func check(_ models: [any Model.Type], knowing known: Set<String>, _ context: WriteContext) throws {
        let tracked = try context.trackedTables()
        for model in models { try checkRowidKey(of: model, tracked) }
        for table in try autoincrements(context.db).subtracting(known)
        where tracked.contains(SQLText.foldedName(table)) {
            throw StoreError(
                .invalidSchema, "AUTOINCREMENT generates keys that other machines generate too",
                hint: "Remove AUTOINCREMENT, because models generate random keys; or keep the table local.",
                table: table)
        }
    }

    /// The names of the tables with AUTOINCREMENT: SQLite generates their keys and never reuses one.
    static func autoincrements(_ db: GRDB.Database) throws -> Set<String> {
        Set(try TableInspection.all(db).filter { isAutoincrement($0, db) }.map(\.name))
    }

    private static func checkRowidKey<M: Model>(of model: M.Type, _ tracked: Set<String>) throws {
        guard M.Fields._keySource == .rowid, tracked.contains(SQLText.foldedName(M.schema.table)) else { return }
        throw StoreError(
            .invalidSchema, "The model lets SQLite generate the keys of a captured table",
            hint: "Declare the table with `schema.local`, or remove `.rowid`.", table: M.schema.table,
            column: M.schema.key.first.map { M.schema.columns[$0].name })
    }

    private static func isAutoincrement(_ table: TableInspection, _ db: GRDB.Database) -> Bool {
        guard table.hasRowidKey, let key = table.stored.first else { return false }
        var isAutoincrement: Int32 = 0
        sqlite3_table_column_metadata(
            db.sqliteConnection, "main", table.name, key.name, nil, nil, nil, nil, &isAutoincrement)
        return isAutoincrement != 0
    }
}
