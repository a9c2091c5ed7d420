import GRDB

extension Replica {
    /// Takes the journal out of a file: triggers, tables, indexes and Store's text indexes. The program's own
    /// tables keep the rows that they show, and the file gets the journal mode that it had before it became a
    /// replica. It keeps its size until `VACUUM`. Tandem's files beside it stay; `syncd uninit` removes them.
    ///
    /// Nothing else may serve the file. Programs that have it open go on, and their log stays in use.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - discarding: True to discard open conflicts and held rows, which are in the journal only.
    ///   - options: How the file is opened.
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `notAReplica`, `unsupportedFormat`, `busy`,
    ///   `readOnly`; `refused` for open conflicts and held rows. The file is then unchanged.
    public static func remove(
        from path: String, discarding: Bool = false, options: Options = Options()
    ) throws -> JournalRemoval {
        do {
            let isReplica = try hasJournal(path, options, mayRollBack: true)
            var configuration = Replica.configuration(options)
            configuration.readonly = false
            configuration.foreignKeysEnabled = false
            let wasInWAL = try PublicationRecord(database: path, files: options.files).wasInWAL()
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            var removal = try queue.writeWithoutTransaction { db in
                let removal = try Replica.transaction(db) { db, _ in
                    try isReplica ? JournalRemoval.run(db, discarding: discarding) : .leftovers(db)
                }
                JournalMode.removeLog(db, staysWAL: wasInWAL)
                return removal
            }
            removal.journalMode = try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
            removal.formerJournalMode = wasInWAL ? "wal" : "delete"
            try queue.close()
            return removal
        } catch {
            throw JournalError(error, operation: "Removing the journal from \(path)")
        }
    }
}
