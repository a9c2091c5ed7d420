import Journal

/// Which objects of an archive a collection found needless. It is written before anything is removed, and stays as the
/// record of what was removed: readers pass over those packs, and writers count their changes as held.
///
/// Its age is that of its object, by the store's clock.
struct CollectionMark: Sendable, Hashable, Codable {
    /// The beginning of a stream.
    struct Cut: Sendable, Hashable, Codable {
        var stream: StoredStream
        /// The last pack that goes.
        @StoredSequence var through: Int64
    }

    /// At most one for each stream.
    var cuts: [Cut] = []
    /// The changes in those packs.
    var holds = Holdings()
    /// The snapshots that go.
    var snapshots: [String] = []

    var isEmpty: Bool { cuts.isEmpty && snapshots.isEmpty }

    mutating func cut(_ stream: StreamID, through: Int64, holds more: Holdings) {
        holds.merge(more)
        if let index = cuts.firstIndex(where: { $0.stream.id == stream }) {
            cuts[index].through = max(cuts[index].through, through)
        } else {
            cuts.append(Cut(stream: StoredStream(stream), through: through))
        }
    }
}

/// What was, or may soon be, removed from an archive, by all its marks. Pure.
struct Collected: Sendable, Hashable {
    /// For each stream, the last pack that goes.
    private(set) var through: [StreamID: Int64] = [:]
    /// The changes in the packs that go. They are in snapshots.
    private(set) var holds = Holdings()

    /// What a replica needs that can read nothing but what is left.
    var vector: VersionVector {
        VersionVector(holds.ranges.map { .init(origin: $0.origin.origin, version: $0.last) })
    }

    init() {}

    /// - Parameter snapshots: What the snapshots have. A mark that none of them covers counts for nothing: without
    ///   the snapshot, the archive has lost the changes, and whoever has them writes them again.
    init(_ marks: some Sequence<CollectionMark>, snapshots: [VersionVector]) {
        for mark in marks where mark.cuts.isEmpty || snapshots.contains(where: { mark.holds.isCovered(by: $0) }) {
            for cut in mark.cuts { through[cut.stream.id] = max(through[cut.stream.id] ?? 0, cut.through) }
            holds.merge(mark.holds)
        }
    }
}

/// Reads the marks of collections.
struct CollectionMarks: Sendable {
    let store: any ObjectStore

    /// All marks with their objects. One that cannot be read is left out: its packs count as lost then.
    ///
    /// - Throws: ``SyncError`` of the store.
    func all() async throws -> [(object: StoredObject, mark: CollectionMark)] {
        var marks: [(object: StoredObject, mark: CollectionMark)] = []
        for object in try await store.listAll(ArchiveKeys.marks) {
            if let bytes = try await store.get(object.key),
                let mark: CollectionMark = try? ArchiveJSON.decode(bytes, object.key)
            {
                marks.append((object, mark))
            }
        }
        return marks
    }
}
