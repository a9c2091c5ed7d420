import Foundation
import GRDB

/// How far the journal of a file has been compacted: the horizon.
///
/// Entries up to the horizon may be gone. Invariants:
/// 1. The horizon is causally closed: with a change, it contains everything that its writer had seen.
/// 2. Every entry beyond it is in the journal.
/// 3. The entries up to it that are left make the same rows as all entries did (``MergedRow``).
/// 4. It never falls.
package struct Horizon: Sendable, Hashable {
    /// For each origin, the version up to which entries may be gone.
    package let vector: VersionVector
    /// The greatest stamp of an entry up to the horizon. What rows were before it is not known.
    package let stamp: Stamp
    /// Positions up to this one may be missing, and local entries up to it may hold a stored stamp.
    package let position: Int64
    /// How many positions up to the last one have no entry: compaction has removed it, or a return has skipped the
    /// position.
    package let removed: Int64

    /// True when nothing was ever compacted.
    package var isEmpty: Bool { vector.isEmpty }

    /// Reads the horizon of the file.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for an id that is not valid; errors of SQLite.
    package init(_ db: Database) throws {
        // A file of an earlier release lacks these columns.
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM _journal_replica WHERE id = 1"))
        stamp = Stamp(rawValue: (row?["horizon_stamp"] as Int64?) ?? 0)
        position = (row?["compacted_seq"] as Int64?) ?? 0
        removed = (row?["compacted_rows"] as Int64?) ?? 0
        guard position > 0 else {
            vector = VersionVector()
            return
        }
        let origins = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT origin, horizon FROM _journal_origins WHERE horizon > 0"))
        vector = VersionVector(
            try origins.map { row in
                guard let origin = OriginID(bytes: row["origin"] as Data) else {
                    throw JournalError(.corrupt, "An origin id in _journal_origins is not valid")
                }
                return VersionVector.Entry(origin: origin, version: row["horizon"])
            })
    }

    /// True when entries after a position may be gone: whoever follows the journal from there has to look at
    /// everything again.
    ///
    /// - Throws: Errors of SQLite.
    package static func lies(beyond position: Int64, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT compacted_seq > ? FROM _journal_replica"), arguments: [position]) ?? false
    }

    /// Raises the horizon of the file; no part of it falls.
    ///
    /// - Parameters:
    ///   - vector: For each origin, the version up to which entries may be removed from now on.
    ///   - stamp: The greatest stamp of these entries.
    ///   - position: The last position that compaction may touch.
    /// - Throws: Errors of SQLite. The transaction must then be rolled back.
    static func raise(to vector: VersionVector, stamp: Stamp, position: Int64, _ db: Database) throws {
        for entry in vector.entries {
            try db.execute(
                sql: "UPDATE _journal_origins SET horizon = max(horizon, ?) WHERE origin = ?",
                arguments: [entry.version, Data(entry.origin.bytes)])
        }
        try db.execute(
            sql: """
                UPDATE _journal_replica SET horizon_stamp = max(horizon_stamp, ?), compacted_seq = max(compacted_seq, ?)
                """, arguments: [stamp.rawValue, position])
    }
}
