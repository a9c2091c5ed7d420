import GRDB
import Journal

/// Frames of what a peer lacks, read from the local journal a bounded portion at a time.
struct FrameSource: Sendable {
    let replica: Replica
    let limits: Limits
    let encoding: PayloadEncoding

    /// What one snapshot gave.
    struct Portion: Sendable {
        var frames: [Frame] = []

        /// What the peer has once it has these frames.
        var have: VersionVector

        /// What this replica knew in the snapshot.
        var vector = VersionVector()
        var changes = 0

        /// The journal's last position in the snapshot.
        var seq: Int64 = 0

        /// Bytes of the frames' payloads.
        var bytes = 0

        /// True when the snapshot holds more than the frames.
        var more: Bool { !have.covers(vector) }
    }

    /// The journal's last position: cheaper than a portion, for a look after a signal that may mean nothing.
    func seq() async throws -> Int64 {
        try await blocking {
            try replica.settle()
            return try replica.read { try Int64.fetchOne($0, sql: "SELECT max(seq) FROM _journal") ?? 0 }
        }
    }

    /// - Parameters:
    ///   - have: What the peer has.
    ///   - bytes: About how many bytes of frames to make; at least one frame, if there is anything.
    func portion(after have: VersionVector, bytes: Int) async throws -> Portion {
        try await blocking {
            try replica.settle()
            return try replica.read { db in
                var portion = Portion(have: have)
                let reader = try JournalReader(db)
                portion.vector = try reader.vector()
                portion.seq = try reader.lastSeq()
                guard portion.more else { return portion }
                try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                    let frame = try Frame(batch, encoding: encoding)
                    for run in batch.runs { portion.have.advance(run.origin, to: run.lastVersion) }
                    portion.changes += batch.changes.count
                    portion.bytes += frame.payload.count
                    portion.frames.append(frame)
                    return portion.bytes < bytes
                }
                return portion
            }
        }
    }
}
