import Journal

// The packs of this replica, and of others as a bridge.
extension ArchiveTransport {
    /// Writes the frames as one pack, up to the first one that needs changes which the archive does not hold yet.
    /// Those come from their writers, or from this replica after a while (``wanted(_:of:)``). So the packs of a
    /// stream can always be taken in their order.
    ///
    /// - Throws: ``SyncError`` of the store.
    package func push(_ frames: [Frame]) async throws -> PushReply {
        try await SyncError.wrapping {
            let session = try greeted()
            var writer: OriginID?
            var batches: [Frame] = []
            for frame in frames {
                switch frame.body {
                case .open(_, let origin): writer = origin
                case .batch: batches.append(frame)
                case .end: break
                }
            }
            guard let writer else { throw SyncError(.invalid, "The push does not say who sends it") }
            guard !batches.isEmpty else { return PushReply(vector: await session.reader.durable, applied: 0) }
            try limits.archive.checkRoom(
                for: writer, pushing: Pack.covers(of: batches), in: await session.reader.durable, name)
            let (entries, sample) = try await blocking { [batches, limits, replica] in
                (
                    try batches.map { frame in
                        do throws(WireError) {
                            return try Pack.Entry(frame, limits: limits)
                        } catch {
                            throw SyncError(error)
                        }
                    },
                    try replica.read { db -> StreamHead.Sample? in
                        let reader = try JournalReader(db)
                        let own = reader.identity.origin
                        let version = min(reader.vector()[own], Pack.covers(of: batches)[own])
                        guard version > 0, let digest = try reader.digest(of: own, version: version) else { return nil }
                        return StreamHead.Sample(version: version, digest: digest)
                    }
                )
            }
            let taken = try ArchiveTransport.takable(entries, after: await session.reader.readable, limits)
            if !taken.isEmpty {
                try await session.writer.write(Array(taken), writer: writer, sample: sample)
                await session.reader.wrote(session.writer.holds)
                try await note(session, isLast: true)
            }
            let there = await session.reader.durable
            let waiting = Pack.covers(of: batches).entries.filter { $0.version > there[$0.origin] }
            return PushReply(vector: there, applied: taken.count, heldBack: VersionVector(waiting))
        }
    }

    /// The frames, or runs of frames, that a replica can take which has `there`, in their order.
    private static func takable(
        _ entries: [Pack.Entry], after there: VersionVector, _ limits: Limits
    ) throws(SyncError) -> [Pack.Entry] {
        var there = there
        var taken: [Pack.Entry] = []
        for entry in entries {
            let parts: [Pack.Entry]
            do throws(WireError) {
                parts = entry.follows(there) ? [entry] : try entry.runs(limits: limits)
            } catch {
                throw SyncError(error)
            }
            for part in parts {
                guard part.follows(there) else { return taken }
                there.merge(part.frame.coveredVersions)
                taken.append(part)
            }
        }
        return taken
    }
}
