import Journal

// What replicas ask.

extension Hub {
    /// Some of the frames that a replica lacks.
    struct Portion: Sendable {
        var frames: [Frame] = []
        /// Bytes of their payloads.
        var bytes = 0
        /// Where the next portion begins.
        var next: Int
        /// True when there are more.
        var isCut = false
    }

    /// Opens the archive for a first caller.
    ///
    /// - Throws: ``SyncError/Code/busy`` until everything is read.
    func prepare(cluster: String) async throws -> Archive {
        if archive == nil, reading == nil {
            do { try await refresh(cluster: cluster) } catch { throw Hub.refusal(error) }
        }
        guard let archive, isRead else { throw Hub.isReading }
        return archive
    }

    /// Answers as the archive: its origin, and what it holds.
    ///
    /// - Throws: ``SyncError``: `otherCluster`; `selfPeer`; `busy` when the store fails.
    package func hello(_ theirs: Hello) async throws -> Hello {
        let archive = try await prepare(cluster: theirs.cluster)
        try check(cluster: theirs.cluster, origin: theirs.origin, archive)
        do { try await acknowledge(theirs) } catch { throw Hub.refusal(error) }
        var mine = Hello(
            cluster: archive.meta.cluster, origin: archive.meta.archive.origin, formatVersion: theirs.formatVersion,
            vector: whole, wallMilliseconds: clock.wallMilliseconds())
        mine.instance = [0]
        mine.horizon = floor
        let own = Acknowledgement(
            origin: mine.origin, vector: whole, milliseconds: mine.wallMilliseconds, witness: mine.origin)
        mine.acknowledgements = [own] + acknowledgements.prefix(limits.acknowledgementsPerHello - 1)
        if let sample = try? await sample(of: theirs.origin, upTo: theirs.vector[theirs.origin]) {
            mine.samples = [sample]
            mine.sampledOrigin = theirs.origin
        }
        return mine
    }

    private func check(cluster: String, origin: OriginID, _ archive: Archive) throws(SyncError) {
        let mine = Hello(
            cluster: archive.meta.cluster, origin: archive.meta.archive.origin, formatVersion: 0,
            vector: VersionVector(), wallMilliseconds: 0)
        try Handshake.check(cluster: cluster, origin: origin, mine: mine, peer: "The caller")
    }

    /// - Throws: ``SyncError``: `otherCluster`; `selfPeer`; `busy` until the archive is read.
    func check(cluster: String, origin: OriginID) throws(SyncError) {
        guard let archive, isRead else { throw Hub.isReading }
        try check(cluster: cluster, origin: origin, archive)
    }

    /// Refuses a pull that cannot be answered.
    ///
    /// - Throws: As ``check(cluster:origin:)``; `behindHorizon`.
    func check(_ request: PullRequest) throws(SyncError) {
        try check(cluster: request.cluster, origin: request.origin)
        guard request.have.covers(floor) else { throw Hub.onlyInSnapshots(store.name) }
    }

    /// A digest of the newest change of `origin` that both sides have, so that a copy of a file learns that it is one.
    private func sample(of origin: OriginID, upTo limit: Int64) async throws -> VersionSample? {
        let version = min(log.have[origin], limit)
        guard version > 0, let position = log.position(of: version, by: origin) else { return nil }
        var last: (place: HubLog.Place, pack: Pack)?
        let frame = try await load(position, &last)
        return try await blocking { [limits] in
            let batch = try frame.batch(limits: limits)
            for run in batch.runs where run.origin == origin && run.firstVersion...run.lastVersion ~= version {
                let change = batch.changes[run.changes.lowerBound + Int(version - run.firstVersion)]
                return VersionSample(
                    version: version,
                    digest: ChangeDigest.of(
                        table: batch.shapes[change.shape].table, operation: change.operation, stamp: change.stamp,
                        values: batch.values[change.values]))
            }
            return nil
        }
    }

    // MARK: - Pulls

    /// The next frames that `have` lacks, without those that hold nothing but the caller's own changes.
    ///
    /// - Parameters:
    ///   - position: Where to begin; nil for the first record that `have` lacks.
    ///   - bytes: The size, approximately; at least one frame if there is any. A portion holds frames of one pack only
    ///     when they have to be read from the store.
    /// - Throws: ``SyncError``: `busy` when the log was read anew; `behindHorizon`; those of the store as `busy`.
    func portion(
        after have: VersionVector, of caller: OriginID, from position: Int?, bytes: Int, generation: Int
    ) async throws -> Portion {
        try check(generation)
        var portion = Portion(next: position ?? log.position(after: have))
        var last: (place: HubLog.Place, pack: Pack)?
        while portion.next < log.records.count {
            let record = log.records[portion.next]
            if !record.frame.isKnown(to: have), !record.isOwn(of: caller) {
                // What is here is passed on before another pack is read: the caller hangs up when nothing arrives for long.
                let waits = !portion.frames.isEmpty && !record.isLoaded && record.place != last?.place
                guard portion.bytes < bytes, !waits else {
                    portion.isCut = true
                    break
                }
                let frame: Frame
                do { frame = try await load(portion.next, &last) } catch let error as SyncError
                    where error.code == .behindHorizon
                { throw error } catch { throw Hub.refusal(error) }
                try check(generation)
                portion.frames.append(frame)
                portion.bytes += max(1, record.bytes)
            }
            portion.next += 1
        }
        sentFrames += portion.frames.count
        return portion
    }

    /// What is here of all others than `caller`.
    func known(except caller: OriginID) -> VersionVector {
        VersionVector(log.have.entries.filter { $0.origin != caller })
    }

    /// What the archive holds, and what is here and on its way there, so that `caller` need not push it. Its own changes
    /// it has to: so it learns when they have arrived.
    func end(for caller: OriginID) -> (vector: VersionVector, heldBack: VersionVector) {
        (whole, VersionVector(log.have.entries.filter { $0.origin != caller && $0.version > whole[$0.origin] }))
    }

    /// The answer to a push of changes up to `pushed`.
    func reply(to pushed: VersionVector, applied: Int) -> PushReply {
        PushReply(
            vector: stored, applied: applied,
            heldBack: VersionVector(pushed.entries.filter { $0.version > stored[$0.origin] }))
    }

    // MARK: - Snapshots

    /// A snapshot of the archive by its name.
    ///
    /// - Throws: ``SyncError``: `notFound`; `busy` when the store fails.
    func part(_ index: Int, of id: String, encoding: PayloadEncoding) async throws -> [UInt8] {
        let gone = SyncError(.notFound, "The archive \(store.name) has no part \(index) of a snapshot \(id)")
        // Names are hexadecimal; others are no keys.
        guard !id.isEmpty, id.utf8.count <= 64,
            id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { throw gone }
        let stored: ArchivedSnapshot
        let bytes: [UInt8]
        do {
            guard let manifest = try await store.get(ArchiveKeys.manifest(id)) else { throw gone }
            stored = try ArchiveJSON.decode(manifest, "The manifest of the snapshot \(id)")
            guard stored.manifest.parts.indices.contains(index) else { throw gone }
            bytes = try await SnapshotStore(store: store, limits: limits).part(index, of: stored.manifest)
        } catch let error as SyncError where error.code == .notFound {
            throw error
        } catch {
            throw Hub.refusal(error)
        }
        guard encoding != .none else { return bytes }
        return try await blocking {
            do { return try encoding.compress(bytes, isFast: true) } catch { throw SyncError(wrapping: error) }
        }
    }
}
