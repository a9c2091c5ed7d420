/// The tables in which migration tools note what they have done to a file.
///
/// Each machine is migrated on its own, so these notes are true of one file only: with another machine's
/// notes, a tool would skip its migrations here. A new replica excludes the tables, unless they are named at
/// `init`. `_journal_replica.exclude` lists them, and `syncd init --exclude` adds others.
enum MigrationTables {
    /// How the names of tables begin in which a tool builds another table anew, in a transaction for each
    /// step. Such a table lives for milliseconds. If it were captured, its rows would stay on all machines,
    /// and would come back into the next table of that name, where the tool then fails.
    static let helperPrefixes = ["_alembic_tmp_"]

    /// The names, as the tools spell them.
    static let names = [
        // Python: Django, Alembic, yoyo, peewee-migrate.
        "django_migrations", "alembic_version", "_yoyo_migration", "_yoyo_log", "_yoyo_version", "yoyo_lock",
        "migratehistory",
        // Ruby on Rails, dbmate, golang-migrate.
        "schema_migrations", "ar_internal_metadata",
        // JavaScript: Knex, Prisma, Sequelize, Drizzle, Kysely.
        "knex_migrations", "knex_migrations_lock", "_prisma_migrations", "SequelizeMeta", "__drizzle_migrations",
        "kysely_migration", "kysely_migration_lock",
        // Go and Rust: goose, Atlas, Diesel, SQLx, refinery.
        "goose_db_version", "atlas_schema_revisions", "__diesel_schema_migrations", "_sqlx_migrations",
        "refinery_schema_history",
        // JVM and .NET: Flyway, Liquibase, Entity Framework.
        "flyway_schema_history", "DATABASECHANGELOG", "DATABASECHANGELOGLOCK", "__EFMigrationsHistory",
        // PHP and Swift: Phinx, Doctrine, GRDB, Fluent.
        "phinxlog", "doctrine_migration_versions", "grdb_migrations", "_fluent_migrations",
    ]

    /// The names that a new replica excludes.
    ///
    /// - Parameter named: The tables that the operator names, which are never among them.
    static func excluded(unless named: [String]) -> [String] {
        let named = Set(named.map(SQLText.foldedName))
        return names.filter { !named.contains(SQLText.foldedName($0)) }
    }
}
