import Journal
import Synchronization

// Copies of this replica's file in the archive.

extension ArchiveTransport {
    /// What a replica has that returned by the archive: what is in its newest whole snapshot. nil without one.
    var offered: VersionVector? {
        get async { await state.withLock { $0.session }?.reader.newestSnapshot?.vector }
    }

    /// Makes a snapshot when the newest one is old, or when a replica needs another one to get what it refuses for ever.
    ///
    /// - Returns: True when it made one.
    /// - Throws: ``SyncError`` of the store and of the file.
    package func makeSnapshotIfDue() async throws -> Bool {
        guard let session = state.withLock({ $0.session }) else { return false }
        try await session.reader.lookAtSnapshots()
        if let newest = await session.reader.newestSnapshot, !isOld(newest) {
            guard try await isWanted(besides: newest.vector) else { return false }
        }
        // Only a replica that has everything that anybody can take; then no pack is needed besides the snapshot.
        let takable = await session.reader.takableAfterNewestSnapshot
        let isComplete = try await blocking { [replica] in
            try replica.read { try KnownVersions($0).vector.covers(DeferredOrigins($0).acceptable(of: takable)) }
        }
        guard isComplete else { return false }
        try await writeSnapshot()
        state.withLock { $0.madeSnapshot = clock.steadyMilliseconds() }
        return true
    }

    /// True when it is time for a newer snapshot, by this machine's clock and that of the store. Either may be wrong:
    /// then this process makes one each ``ArchiveLimits/snapshotMilliseconds`` at most, and one when it has seen no newer
    /// one for so long.
    private func isOld(_ newest: ListedSnapshot) -> Bool {
        let steady = clock.steadyMilliseconds()
        let age = clock.wallMilliseconds() - newest.stored
        let interval = limits.archive.snapshotMilliseconds
        return state.withLock { state in
            if state.newest?.id != newest.snapshot.manifest.id {
                state.newest = (newest.snapshot.manifest.id, steady)
            }
            let seen = state.newest.map { steady - $0.since } ?? 0
            let isOnlyHere = state.madeSnapshot.map { steady - $0 < interval } ?? false
            return seen >= interval || age >= interval && !isOnlyHere
        }
    }

    /// True when the content of this replica brings another one what that refuses for ever, and what is in the newest
    /// snapshot does not.
    private func isWanted(besides newest: VersionVector) async throws -> Bool {
        let refusers = state.withLock { state in
            let oldest = clock.wallMilliseconds() - limits.leaseMilliseconds
            return state.told.told.values.compactMap { said in
                said.refusedChanges.flatMap { refused in
                    said.own.milliseconds >= oldest && !refused.isPart(of: newest)
                        ? (said.acknowledgement, refused) : nil
                }
            }
        }
        guard !refusers.isEmpty else { return false }
        let (own, ours, mine) = try await blocking { [replica] in
            try replica.read { (try Identity($0).origin, try KnownVersions($0).vector, try RefusedChanges($0)) }
        }
        return refusers.contains { theirs, refused in
            guard refused.isEnded(by: ours) else { return false }
            // Of two that refuse something of one another, the one with the smaller origin comes back.
            return own > theirs.origin || !(mine?.isEnded(by: theirs.vector) ?? false)
        }
    }

    /// Makes a snapshot of this replica's file, and writes it to the archive.
    ///
    /// - Parameter onProgress: Called with the bytes that are written, and all of them.
    /// - Returns: Its manifest.
    /// - Throws: ``SyncError`` of the store and of the file.
    @discardableResult
    package func writeSnapshot(
        onProgress: @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws -> SnapshotManifest {
        let session = try greeted()
        // Before the copy is made: what is behind these places is in it.
        let reading = await session.reader.reading
        let (stream, next) = await (session.writer.stream, session.writer.next)
        var limits = limits
        limits.snapshotPartBytes = limits.archive.snapshotPartBytes
        let copy = try await blocking { [replica, limits] in
            try SnapshotCopy.make(of: replica, limits: limits)
        }
        // What the replica holds back, or has begun to receive, is not in the copy.
        let cursors = copy.manifest.vector.covers(reading.brought.vector) ? reading.cursors : []
        let own = ArchivedSnapshot.Cursor(stream: StoredStream(stream), next: next)
        let snapshot = ArchivedSnapshot(
            milliseconds: clock.wallMilliseconds(), manifest: copy.manifest, horizon: StoredVector(copy.horizon),
            cursors: cursors.filter { $0.stream.id != stream } + [own])
        try await SnapshotStore(store: store, limits: limits).write(snapshot, copy.file, onProgress: onProgress)
        try await session.reader.lookAtSnapshots()
        return copy.manifest
    }

    /// Writes a snapshot when this replica has compacted changes that the archive lacks: nothing else can bring
    /// them.
    ///
    /// - Returns: True when it wrote one.
    /// - Throws: ``SyncError`` of the store and of the file.
    func writeBase(for mine: Hello, _ session: Session) async throws -> Bool {
        // Only whole transactions count: nobody can complete one whose rest is compacted here.
        guard await !session.reader.known.covers(mine.horizon) else { return false }
        try await writeSnapshot()
        return true
    }
}
