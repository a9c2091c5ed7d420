import Journal

/// Writes the packs and the head of one stream, which no other replica writes.
///
/// A pack is only ever created. When its key is taken, another file writes the same stream, or this one has lost
/// the answer to an earlier attempt, or was restored. In each case the writer takes a new stream; what it knows
/// of its changes then shows whether the file is a copy (decision 0006).
actor StreamWriter {
    private let store: any ObjectStore
    private let meta: ArchiveMeta
    private let limits: ArchiveLimits
    private let clock: any SyncClock
    private let entropy: @Sendable () -> UInt64

    private(set) var stream: StreamID
    private(set) var next: Int64
    private(set) var previous: [UInt8]?
    /// The changes in the stream.
    private(set) var holds = Holdings()
    private var sample: StreamHead.Sample?
    /// The last pack that the head in the store announces, and when that was written, in steady milliseconds.
    private(set) var announced: Int64 = 0
    private var announcedTime: Int64 = .min
    private var isAnnouncing = false

    /// - Parameters:
    ///   - head: The head of the stream of `position`, as the store has it; nil when it has none.
    init(
        store: any ObjectStore, meta: ArchiveMeta, position: ArchiveNotes.Position, head: StreamHead?,
        limits: ArchiveLimits, clock: any SyncClock, entropy: @escaping @Sendable () -> UInt64
    ) {
        self.store = store
        self.meta = meta
        self.limits = limits
        self.clock = clock
        self.entropy = entropy
        // Without refusal of a second creation, only a stream of this very process is safe to write to. And what
        // the head does not announce may be missing for others.
        if let stream = position.stream?.id, let head, meta.createsOnce, head.last == position.next - 1 {
            self.stream = stream
            next = position.next
            previous = position.previous?.bytes
            holds = head.holds
            announced = head.last
        } else {
            stream = StreamID(entropy())
            next = 1
        }
    }

    /// Writes frames as the next pack.
    ///
    /// - Parameter sample: The newest change of the writer.
    /// - Returns: Where the pack is.
    /// - Throws: ``SyncError`` of the store. The pack is perhaps there then; the same frames may be written again.
    @discardableResult
    func write(
        _ entries: [Pack.Entry], writer: OriginID, sample: StreamHead.Sample?
    ) async throws -> (stream: StreamID, sequence: Int64) {
        var isNewStream = false
        while true {
            let pack = Pack(
                header: Pack.Header(
                    cluster: meta.cluster, stream: StoredStream(stream), sequence: next,
                    previous: previous.map { SnapshotManifest.Digest($0) }, writer: StoredOrigin(writer),
                    milliseconds: clock.wallMilliseconds(), frames: entries.map(\.notes)),
                frames: entries.map(\.frame))
            let (bytes, digest) = try pack.encoded()
            if try await create(ArchiveKeys.pack(stream, next), bytes) {
                let place = (stream, next)
                next += 1
                previous = digest
                holds.merge(Holdings(entries))
                self.sample = sample ?? self.sample
                try await announceIfDue(writer: writer)
                return place
            }
            guard !isNewStream else {
                throw SyncError(.failed, "\(store.name) refuses to create a new stream", hint: "Look at its log.")
            }
            isNewStream = true
            takeNewStream()
        }
    }

    /// Looks whether the last pack is in the store, before a head announces it: the store may have been restored
    /// from a backup since.
    ///
    /// - Throws: ``SyncError`` of the store.
    func checkLast() async throws {
        guard next - 1 > announced else { return }
        let (stream, last) = (stream, next - 1)
        guard try await store.get(ArchiveKeys.pack(stream, last), range: 0..<4) == nil, self.stream == stream else {
            return
        }
        takeNewStream()
    }

    /// Begins another stream: the store does not have what this one should hold.
    func takeNewStream() {
        stream = StreamID(entropy())
        (next, previous, announced, announcedTime) = (1, nil, 0, .min)
        holds = Holdings()
    }

    /// Writes the head when it lacks packs and the last one is old enough.
    ///
    /// - Parameter isLast: True writes it at once.
    /// - Throws: ``SyncError`` of the store; the next call tries again.
    func announceIfDue(writer: OriginID, isLast: Bool = false) async throws {
        let now = clock.steadyMilliseconds()
        let last = next - 1
        guard last > announced, !isAnnouncing,
            isLast || announcedTime == .min || now - announcedTime >= limits.headMilliseconds
        else { return }
        // One at a time: an older head must not replace a newer one.
        isAnnouncing = true
        defer { isAnnouncing = false }
        let stream = stream
        let head = StreamHead(
            stream: StoredStream(stream), writer: StoredOrigin(writer), last: last,
            milliseconds: clock.wallMilliseconds(), holds: holds, sample: sample)
        try await store.replace(ArchiveKeys.head(stream), ArchiveJSON.encode(head))
        guard self.stream == stream else { return }
        announced = last
        announcedTime = now
    }

    /// Creates a pack. An attempt whose end is not known is looked up. When that fails, too, a store that replaces
    /// objects needs a new stream: somebody may have read the pack, and would never read another one in its place.
    private func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        let isCreated: Bool
        do {
            isCreated = try await store.create(key, bytes)
        } catch {
            if let found = try? await store.get(key), found == bytes { return true }
            if !meta.createsOnce { takeNewStream() }
            throw error
        }
        if isCreated { return true }
        return try await store.get(key) == bytes
    }
}
