import Journal

/// The end of a stream, as its writer last announced it. There may be packs behind it.
struct StreamHead: Sendable, Hashable, Codable {
    var stream: StoredStream
    /// The replica that wrote it last.
    var writer: StoredOrigin
    /// The sequence of the last pack.
    @StoredSequence var last: Int64
    /// When it was written, in milliseconds since 1970 by the writer's clock.
    @StoredTime var milliseconds: Int64
    /// The changes in all packs of the stream.
    var holds: Holdings
    /// A sample of the writer's own history, so that a copy of its file learns that it is one; nil for a writer
    /// without changes.
    var sample: Sample?

    struct Sample: Sendable, Hashable, Codable {
        var version: Int64
        var digest: UInt64
    }
}

/// What a replica has merged and shows, as it told the archive; see ``Acknowledgement``.
struct ArchivedAcknowledgement: Sendable, Hashable, Codable {
    var origin: StoredOrigin
    var vector: StoredVector
    @StoredTime var milliseconds: Int64
    var witness: StoredOrigin
    /// What it refuses for ever, and what is compacted there; nil for nothing, and from an older release.
    var refused: StoredVector?
    var horizon: StoredVector?

    init(_ acknowledgement: Acknowledgement, refused: RefusedChanges? = nil) {
        origin = StoredOrigin(acknowledgement.origin)
        vector = StoredVector(acknowledgement.vector)
        milliseconds = acknowledgement.milliseconds
        witness = StoredOrigin(acknowledgement.witness)
        self.refused = refused.map { StoredVector($0.first) }
        horizon = refused.map { StoredVector($0.horizon) }
    }

    var refusedChanges: RefusedChanges? {
        guard let refused, let horizon else { return nil }
        return RefusedChanges(first: refused.vector, horizon: horizon.vector)
    }

    var acknowledgement: Acknowledgement {
        Acknowledgement(
            origin: origin.origin, vector: vector.vector, milliseconds: milliseconds, witness: witness.origin)
    }
}
