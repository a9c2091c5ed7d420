import Foundation
import GRDB

/// The values of `_journal_replica` that distinguish the file itself from a copy.
package enum FileBinding {
    /// Stores the fingerprint of the file to which the identity belongs, when none is stored. Files of an
    /// earlier release have none.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func bind(_ db: Database, to fingerprint: FileFingerprint) throws {
        try db.execute(
            sql: "UPDATE _journal_replica SET fingerprint = ? WHERE fingerprint IS NULL", arguments: [fingerprint.text])
    }

    /// Stores the fingerprint of the file into which this content will be put.
    ///
    /// - Throws: Errors of SQLite.
    package static func replace(_ db: Database, by fingerprint: FileFingerprint?) throws {
        try db.execute(sql: "UPDATE _journal_replica SET fingerprint = ?", arguments: [fingerprint?.text])
    }

    /// Stores a new random number, which no copy made earlier has.
    ///
    /// - Returns: The number, 16 bytes.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func renewInstance(_ db: Database) throws -> [UInt8] {
        let number = try Data.fetchOne(
            db, sql: "UPDATE _journal_replica SET instance = randomblob(16) RETURNING instance")
        return Array(number ?? Data())
    }
}
