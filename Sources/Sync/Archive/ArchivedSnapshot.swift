import Journal

/// A copy of a replica's file in the archive: the birth of new replicas, and what remains of changes that were
/// compacted before the archive began.
struct ArchivedSnapshot: Sendable, Hashable, Codable {
    /// When it was made, in milliseconds since 1970 by its maker's clock.
    @StoredTime var milliseconds: Int64
    /// The file, in parts.
    var manifest: SnapshotManifest
    /// Up to where the file's journal is compacted. These changes need not be in a pack.
    var horizon: StoredVector
    /// For each stream, the first pack that the file does not hold.
    var cursors: [Cursor]

    struct Cursor: Sendable, Hashable, Codable {
        var stream: StoredStream
        @StoredSequence var next: Int64
    }
}
