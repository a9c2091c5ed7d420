import Foundation
import GRDB

/// Makes an origin whose changes were received here this replica's own, so that it goes on writing under it.
///
/// For a file that nobody else has, and an origin that was made for it: no other file may write under it.
package enum AdoptedOrigin {
    /// Call it inside of a write transaction, and roll that back after a throw. The replica must not have
    /// written anything under its present origin.
    ///
    /// - Parameters:
    ///   - origin: The origin to adopt; all of its changes are here, in one run at most.
    ///   - time: The current time, in seconds since 1970.
    /// - Throws: ``JournalError``: `refused` when the present origin has changes, `corrupt`; errors of SQLite.
    package static func adopt(_ origin: OriginID, time: Double, _ db: Database) throws {
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        let before = reader.identity.origin
        let vector = reader.vector()
        guard vector[before] == 0, let tail = try reader.runs.last(), tail.origin == before else {
            throw JournalError(.refused, "This replica has written changes under its origin already")
        }
        var origins = reader.origins
        let number = try origins.number(of: origin, in: db)
        // Captured entries name no origin, and their positions tell their versions. Their stamps stay stored.
        try db.execute(sql: "UPDATE _journal SET origin = NULL, version = NULL WHERE origin = ?", arguments: [number])
        try db.execute(
            sql: "UPDATE _journal_runs SET origin = ?, first_version = ?, known = ? WHERE first_seq = ?",
            arguments: [
                number, vector[origin] + 1, origins.encode(origins.merged(except: origin)), tail.firstSeq,
            ])
        // Up to there, captured entries may have a stored stamp.
        try db.execute(
            sql: "UPDATE _journal_replica SET origin = ?, compacted_seq = ?",
            arguments: [Data(origin.bytes), reader.lastSeq])
        try db.execute(
            sql: "UPDATE _journal_origins SET retired = ? WHERE origin = ?", arguments: [time, Data(before.bytes)])
    }
}
