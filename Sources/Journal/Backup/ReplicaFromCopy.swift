import Foundation
import GRDB

/// Makes a replica of its own from a complete copy of another replica's file.
///
/// The copy gets a new identity before it gets its name, so no two files ever send changes under one. The
/// changes that the copy holds keep their names: the copy says up to which version they are published
/// (``PublishedHead``), and nothing of that is sent again.
package enum ReplicaFromCopy {
    /// - Parameters:
    ///   - partial: The copy, which nobody has open. After an error it is no copy any more: some pages may
    ///     have changed.
    ///   - path: The name of the new replica, which must be free.
    ///   - reason: `created` for a further member of the cluster, `restored` for one that takes the place of
    ///     a lost file. A further member forgets the peers of the other one.
    ///   - time: The current time, in seconds since 1970.
    ///   - complete: Called in the transaction that gives the replica its identity, after everything else.
    /// - Returns: The new identity; nil for a copy without a journal.
    /// - Throws: ``JournalError``: `corrupt`, `unsupportedFormat` for a copy that this release cannot read;
    ///   `invalid` when `path` exists; `readOnly`; errors of SQLite. Nothing has the name `path` then.
    package static func publish(
        _ partial: String, as path: String, reason: NewIdentity.Reason, time: Double,
        files: any FileSystem = SystemFiles(), complete: (Database) throws -> Void = { _ in }
    ) throws -> NewIdentity.Outcome? {
        let queue = try DatabaseQueue(path: partial, configuration: Replica.configuration(Replica.Options()))
        defer { try? queue.close() }
        let outcome = try queue.writeWithoutTransaction { db -> NewIdentity.Outcome? in
            // One file, without a log beside it, can be renamed.
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            guard try Identity.isThere(db) else { return nil }
            return try Replica.transaction(db) { db, _ in
                try JournalUpgrade.run(db)
                let origin = try Identity(db).origin
                let outcome = try NewIdentity(reason, of: origin, time: time)
                    .run(db, fingerprint: files.fingerprint(of: partial))
                if reason == .created {
                    try db.execute(sql: "DELETE FROM _journal_peers; UPDATE _journal_replica SET instance = NULL")
                }
                try complete(db)
                return outcome
            }
        }
        try queue.close()
        try DatabaseCopy.sync(partial, files)
        if let outcome {
            // A file with the former identity that appears at this path later is known to be an older copy.
            try PublicationRecord(database: path, files: files)
                .raise(to: .init(origin: outcome.new, version: 0, digest: 0))
        }
        try DatabaseCopy.publish(partial, as: path, files)
        return outcome
    }
}
