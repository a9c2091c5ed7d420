import Foundation
import GRDB

/// The origins under which nobody writes any more, and all of whose changes are here: those that were made for a
/// return, and those that a replica left at a return when the others had all that it knew.
///
/// This replica acknowledges for them what it has merged itself, so that they do not hold compaction back. An earlier
/// origin of the file that is not finished has the mark `retired` alone: a copy of the file may still use it. Whoever
/// uses a finished one all the same is held back by the receivers (``Horizon``).
package enum FinishedOrigins {
    /// - Parameter time: The current time, in seconds since 1970.
    /// - Throws: ``JournalError/Code/corrupt``; errors of SQLite. Nothing is changed then.
    package static func add(_ origin: OriginID, time: Double, _ db: Database) throws {
        var origins = try OriginTable(db)
        try db.execute(
            sql: "UPDATE _journal_origins SET retired = ?1, forgotten = ?1 WHERE id = ?2",
            arguments: [time, try origins.number(of: origin, in: db)])
    }

    /// All of them, the last one first.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database) throws -> [OriginID] {
        try Data.fetchAll(
            db,
            sql: """
                SELECT origin FROM _journal_origins WHERE retired IS NOT NULL AND forgotten IS NOT NULL
                ORDER BY retired DESC, id DESC
                """
        ).compactMap { OriginID(bytes: $0) }
    }
}
