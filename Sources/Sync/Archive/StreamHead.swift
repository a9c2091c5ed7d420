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
