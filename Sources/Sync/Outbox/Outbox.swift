import GRDB
import Journal

/// Reads the journal as batches for a peer.
package enum Outbox {
    /// Calls `body` with batches of all changes in the snapshot that `have` does not cover, in journal order,
    /// until it returns false.
    ///
    /// Call ``Replica/refreshDerivedState()`` before the snapshot is taken, so that rows that were evicted
    /// without a delete trigger are in the journal.
    ///
    /// A batch ends at ``Limits/changesPerBatch`` or ``Limits/bytesPerBatch``, even in the middle of a
    /// transaction; its last change then does not end one.
    ///
    /// - Parameter seen: The positions at which snapshots have ended (``TransactionEnds/seen``).
    /// - Throws: As ``JournalReader/init(_:)`` and ``JournalReader/forEachBatch(after:changes:bytes:_:)``,
    ///   and what `body` throws.
    package static func forEachBatch(
        in db: Database, after have: VersionVector, limits: Limits, seen: [Int64] = [],
        _ body: (ChangeBatch) throws -> Bool
    ) throws {
        let ends = TransactionEnds(
            seen: seen, changes: limits.changesPerUnseenTransaction, bytes: limits.bytesPerUnseenTransaction)
        try JournalReader(db).forEachBatch(
            after: have, changes: limits.changesPerBatch, bytes: limits.bytesPerBatch, ends: ends, body)
    }
}
