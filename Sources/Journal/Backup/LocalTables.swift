import Foundation
import GRDB

/// Removes from a copy the rows of tables that an operator keeps local, so that they never leave the machine.
///
/// The tables themselves stay, empty: the program that uses the copy expects them, and so do its triggers and
/// views. The notes of migration tools (``MigrationTables``) stay with their rows, because the copy has the
/// schema that they describe.
package enum LocalTables {
    /// Removes the rows from the file at `path`, which nobody has open. When there were any, the file is
    /// written anew, so that no free page holds what was removed.
    ///
    /// - Returns: The names of the tables that had rows.
    /// - Throws: ``JournalError/Code/refused`` when SQLite cannot write the file anew without the program
    ///   whose functions its schema uses; errors of SQLite. The file must not be handed out then.
    package static func empty(
        _ path: String, unlock: (@Sendable (Database) throws -> Void)? = nil, files: any FileSystem = SystemFiles()
    ) throws -> [String] {
        let queue = try DatabaseQueue(path: path, configuration: CopyConnection.configuration(unlock: unlock))
        defer { try? queue.close() }
        let scrubbed = path + "-scrubbed"
        DatabaseCopy.remove(scrubbed, files)
        let emptied = try queue.writeWithoutTransaction { db in
            let tables = try withRows(db)
            guard !tables.isEmpty else { return tables }
            do {
                try db.execute(sql: "PRAGMA synchronous = OFF")
                try db.inTransaction {
                    for table in tables { try db.execute(sql: "DELETE FROM \(SQLText.quote(identifier: table))") }
                    return .commit
                }
                // Unlike VACUUM, VACUUM INTO keeps the numbers of rows without an integer key.
                try DatabaseCopy.create(scrubbed, like: path, files)
                try db.execute(sql: "VACUUM INTO ?", arguments: [scrubbed])
            } catch {
                DatabaseCopy.remove(scrubbed, files)
                guard let error = error as? DatabaseError, let missing = ApplicationDefined.missing(error) else {
                    throw error
                }
                throw JournalError(
                    .refused,
                    "The rows of \(tables.joined(separator: ", ")) cannot be left out of the copy: \(missing)",
                    hint: "Include the tables (`syncd init --table`), or copy the file by hand.")
            }
            return tables
        }
        try queue.close()
        guard !emptied.isEmpty else { return [] }
        do {
            try files.rename(scrubbed, to: path)
        } catch let error as FileError {
            throw JournalError(.readOnly, "\(path) cannot be replaced: \(String(cString: strerror(error.code)))")
        }
        return emptied
    }

    /// The tables that stay local by a decision and have rows. Shadow tables follow their virtual tables.
    private static func withRows(_ db: Database) throws -> [String] {
        guard try Identity.isThere(db) else { return [] }
        let policy = try TrackingPolicy(db)
        let ordinary = try TableInspection.all(db).map(\.name).filter { name in
            guard let cause = policy.refusal(of: name)?.cause else { return false }
            return cause == .excluded || cause == .notNamed
        }
        let others = try TableInspection.untrackable(db, policy: policy).filter { $0.cause == .excluded }
        let virtual = try String.fetchSet(
            db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")
        return try (ordinary + others.map(\.table).filter(virtual.contains)).filter { name in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(SQLText.quote(identifier: name)))") ?? false
        }
    }
}
