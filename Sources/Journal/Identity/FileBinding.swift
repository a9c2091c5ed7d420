import Foundation
import GRDB

/// What `_journal_replica` says of the file itself, so that a copy can be told from it.
public enum FileBinding {
    /// Writes down for which file the identity stands: for one that was made before there were fingerprints.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    public static func bind(_ db: Database, to fingerprint: FileFingerprint) throws {
        try db.execute(
            sql: "UPDATE _journal_replica SET fingerprint = ? WHERE fingerprint IS NULL", arguments: [fingerprint.text])
    }

    /// Writes a new random number, which from then on only this very file holds.
    ///
    /// - Returns: The number, 16 bytes.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    public static func renewInstance(_ db: Database) throws -> [UInt8] {
        let number = try Data.fetchOne(
            db, sql: "UPDATE _journal_replica SET instance = randomblob(16) RETURNING instance")
        return Array(number ?? Data())
    }
}
