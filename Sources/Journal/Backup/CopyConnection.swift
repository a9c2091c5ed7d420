import CSQLiteShim
import GRDB
import GRDBSQLite

/// The settings of a connection that changes a copy which no program has open: without triggers and foreign keys,
/// so that nothing happens but what is asked for.
enum CopyConnection {
    /// - Parameter unlock: As ``Replica/Options/unlock``.
    static func configuration(unlock: (@Sendable (Database) throws -> Void)? = nil) -> Configuration {
        var configuration = Configuration()
        prepare(&configuration, unlock: unlock)
        return configuration
    }

    static func prepare(_ configuration: inout Configuration, unlock: (@Sendable (Database) throws -> Void)? = nil) {
        configuration.foreignKeysEnabled = false
        if let unlock { configuration.prepareDatabase(unlock) }
        let collations = ProgramCollations()
        configuration.prepareDatabase { db in
            guard let connection = db.sqliteConnection, tandem_enable_triggers(connection, 0) == SQLITE_OK else {
                throw JournalError(.sqlite, "SQLite refuses the settings of a connection that prepares a copy")
            }
            collations.install(on: db)
            try collations.reload(db)
        }
    }
}
