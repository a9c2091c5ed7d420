import Foundation
import GRDB
import Journal

/// Frames of what a peer lacks, read from the local journal a bounded portion at a time.
struct FrameSource: Sendable {
    let replica: Replica
    let limits: Limits
    let encoding: PayloadEncoding
    /// Keeps the record of what is published; nil when nothing leaves the process.
    var keeper: IdentityKeeper?

    /// Where the journal ends and under which name: what tells that there may be something new to send.
    struct Position: Sendable, Hashable {
        var seq: Int64
        var origin: Data
    }

    /// What one snapshot gave.
    struct Portion: Sendable {
        var frames: [Frame] = []

        /// What the peer has once it has these frames.
        var have: VersionVector

        /// What this replica knew in the snapshot.
        var vector = VersionVector()
        var changes = 0

        /// The journal's end in the snapshot.
        var position = Position(seq: 0, origin: Data())

        /// Bytes of the frames' payloads.
        var bytes = 0

        /// True when the snapshot holds more than the frames.
        var more: Bool { !have.covers(vector) }
    }

    /// The journal's end: cheaper than a portion, for a look after a signal that may mean nothing.
    func position() async throws -> Position {
        try await blocking {
            try replica.refreshDerivedState()
            return try replica.read { db in
                let origin = try Data.fetchOne(db.cachedStatement(sql: "SELECT origin FROM _journal_replica"))
                return Position(seq: try JournalReader.lastSeq(db), origin: origin ?? Data())
            }
        }
    }

    /// - Parameters:
    ///   - have: What the peer has.
    ///   - bytes: About how many bytes of frames to make; at least one frame, if there is anything.
    func portion(after have: VersionVector, bytes: Int) async throws -> Portion {
        try await blocking {
            try replica.refreshDerivedState()
            var head: PublicationRecord.Entry?
            let portion = try replica.read { db in
                var portion = Portion(have: have)
                let reader = try JournalReader(db)
                let own = reader.identity.origin
                portion.vector = reader.vector()
                portion.position = Position(seq: reader.lastSeq, origin: Data(own.bytes))
                guard portion.more else { return portion }
                try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                    let frame = try Frame(batch, encoding: encoding)
                    if let refusal = refusal(of: frame, batch) {
                        // What comes before it goes out first.
                        guard !portion.frames.isEmpty else { throw refusal }
                        return false
                    }
                    for run in batch.runs { portion.have.advance(run.origin, to: run.lastVersion) }
                    portion.changes += batch.changes.count
                    portion.bytes += frame.payload.count
                    portion.frames.append(frame)
                    return portion.bytes < bytes
                }
                if portion.have[own] > have[own] { head = try unpublishedHead(reader) }
                return portion
            }
            if let head { try keeper?.willPublish(head) }
            return portion
        }
    }

    /// Why no peer would take a frame: named here, where it is known whose change it is. Only a single change can be that large.
    private func refusal(of frame: Frame, _ batch: ChangeBatch) -> SyncError? {
        guard case .batch(_, _, let size) = frame.body, size > limits.rawBatchBytes, let run = batch.runs.first,
            let change = batch.changes.first
        else { return nil }
        return SyncError(
            .tooLarge,
            "A change of table \(batch.shapes[change.shape].table), version \(run.firstVersion) of \(run.origin.short), has "
                + "\(size) bytes, and peers take at most \(limits.rawBatchBytes)",
            hint:
                "What was written after it waits behind it. Keep such values in files, and their names in the database."
        )
    }

    /// The newest own change, when it is about to be published for the first time.
    private func unpublishedHead(_ reader: JournalReader) throws -> PublicationRecord.Entry? {
        let own = reader.identity.origin
        let version = reader.vector()[own]
        guard let keeper, !keeper.hasPublished(own, through: version),
            let digest = try reader.digest(of: own, version: version)
        else { return nil }
        return PublicationRecord.Entry(origin: own, version: version, digest: digest)
    }
}
