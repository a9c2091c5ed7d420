import Journal

// What the archive holds.

extension Hub {
    /// Reads what is new. One reading at a time: who asks meanwhile gets the result of that one.
    ///
    /// - Parameter cluster: As for ``open(cluster:)``.
    /// - Throws: ``SyncError`` of the store; what was read before stays.
    func refresh(cluster: String? = nil) async throws {
        if let reading { return try await reading.value }
        // It does not begin before this actor waits.
        let task = Task(executorPreference: PreferredExecutor.current) { try await self.read(cluster: cluster) }
        reading = task
        try await task.value
    }

    private func read(cluster: String?) async throws {
        defer { reading = nil }
        guard let archive = try await open(cluster: cluster) else {
            hasLooked = true
            return
        }
        let generation = generation
        try await look(archive, generation)
        while true {
            let passed: StreamReader.Passed
            do {
                passed = try await archive.reader.read(
                    after: stored, own: archive.writer.stream, bytes: limits.bytesPerPull,
                    isComplete: !isRead
                ) { (part: StreamReader.Part) in
                    try await self.take(part, generation)
                }
            } catch let error as SyncError where error.code == .behindHorizon {
                guard try await raiseFloor(archive, generation) else { throw error }
                continue
            }
            try check(generation)
            if !passed.isCut { break }
        }
        isRead = true
        try await archive.reader.reportDamages()
        try await archive.writer.announceIfDue(writer: archive.meta.archive.origin)
        // A damaged object stops no other one.
        await noteProblem(archive)
        hasLooked = true
    }

    private func noteProblem(_ archive: Archive) async {
        let before = problem
        do throws(SyncError) {
            try await archive.reader.checkProblems()
            problem = nil
        } catch {
            problem = error
        }
        if let problem, problem != before { logger?.log(.hubFailed, "\(problem)", peer: store.name) }
    }

    /// Takes a frame of a pack.
    private func take(_ part: StreamReader.Part, _ generation: Int) throws(SyncError) {
        try check(generation)
        let place = HubLog.Place(stream: part.stream, sequence: part.sequence)
        let frame = part.entry.frame
        if !frame.isKnown(to: log.have) {
            log.append(frame, at: place)
            news.tell()
        } else if let position = settle(frame) {
            log.place(position, at: place)
        }
        stored.merge(frame.coveredVersions)
        whole.merge(part.entry.wholeCovers)
    }

    /// Takes a frame out of what waits: another hub has written it.
    ///
    /// - Returns: Its position in the log; nil when it does not wait.
    private func settle(_ frame: Frame) -> Int? {
        if let index = waiting.firstIndex(where: { !$0.isAgain && $0.entry.frame.body == frame.body }) {
            waitingBytes -= frame.payload.count
            return waiting.remove(at: index).position
        }
        guard let index = relayed.firstIndex(where: { $0.entry.frame.body == frame.body }) else { return nil }
        waitingBytes -= frame.payload.count
        return relayed.remove(at: index).position
    }

    /// Begins behind what only snapshots hold.
    ///
    /// - Returns: False when nothing is missing there.
    private func raiseFloor(_ archive: Archive, _ generation: Int) async throws -> Bool {
        let (collected, base) = (await archive.reader.collectedOfNewest, await archive.reader.baseOfNewest)
        let ends = await archive.reader.collected.holds.ends.vector
        try check(generation)
        let missing = VersionVector(
            collected.merged(with: base).entries.filter { $0.version > stored[$0.origin] })
        guard !missing.isEmpty else { return false }
        floor.merge(missing)
        stored.merge(missing)
        log.begin(at: missing)
        whole.merge(base)
        whole.merge(ends.common(with: collected))
        return true
    }

    // MARK: - Looking

    /// Looks at heads, and from time to time at everything else that is small.
    private func look(_ archive: Archive, _ generation: Int) async throws {
        let now = clock.steadyMilliseconds()
        let interval =
            await archive.reader.isIdle ? limits.archive.idleListMilliseconds : limits.archive.listMilliseconds
        guard looked.map({ now - $0 >= interval }) ?? true else { return }
        // Another archive may be there now, in a store that was emptied.
        guard try await ArchiveMeta.read(store) == archive.meta else { return try lose(generation) }
        let isRegular = regularly.map { now - $0 >= limits.archive.acknowledgementMilliseconds } ?? true
        // Before the heads: what is compacted in a snapshot was in packs before, if it ever was.
        if isRegular {
            try await archive.reader.lookAtSnapshots(isThorough: true)
            try await checkFloor(archive, generation)
        }
        let (own, written) = await (archive.writer.stream, archive.writer.announced)
        try await archive.reader.look(own: archive.writer.holds)
        try checkStreams(await archive.reader.heads, own: own, written: written, generation)
        if isRegular {
            let wasRead = isRead
            let damaged = try await archive.reader.lookAtDamages()
            try check(generation)
            // What was damaged since may be what is served here: only what is still there counts.
            if wasRead, !damaged.isSubset(of: damagedStreams) {
                damagedStreams = damaged
                return try lose(generation)
            }
            damagedStreams = damaged
            try await readAcknowledgements(generation)
            try await writeAcknowledgements(generation)
            regularly = now
        }
        try check(generation)
        looked = now
    }

    /// Begins anew when the newest snapshot has less than this hub asks of everybody. Of replicas that compacted apart from
    /// each other, another one has made it: who comes back by it could never be served.
    ///
    /// - Throws: ``SyncError/Code/busy``.
    private func checkFloor(_ archive: Archive, _ generation: Int) async throws {
        let given = await archive.reader.collectedOfNewest.merged(with: archive.reader.baseOfNewest)
        try check(generation)
        guard !given.covers(floor) else { return }
        reset()
        throw Hub.beginsAnew
    }

    /// A store that was restored from a backup, or emptied, lacks packs that it had.
    ///
    /// - Parameters:
    ///   - own: The stream that this hub writes.
    ///   - written: The last pack that it had announced before the heads were read.
    private func checkStreams(
        _ heads: [StreamHead], own: StreamID, written: Int64, _ generation: Int
    ) throws(SyncError) {
        try check(generation)
        var found: [StreamID: Int64] = [:]
        for head in heads { found[head.stream.id] = head.last }
        let isShorter = announced.contains { found[$0.key] ?? 0 < $0.value }
        if isShorter || written > found[own] ?? 0 { try lose(generation) }
        announced = found
    }

    /// Begins anew after the archive has lost something: what it lacks is pushed again by those who have it.
    ///
    /// - Throws: ``SyncError/Code/busy``.
    func lose(_ generation: Int) throws(SyncError) {
        try check(generation)
        logger?.log(
            .archiveLost,
            "\(store.name) lacks packs that it had: the replicas that have their changes push them again",
            peer: store.name)
        reset()
        throw Hub.beginsAnew
    }

    // MARK: - Packs

    /// Reads a record whose payload was dropped.
    ///
    /// - Parameter last: The pack that was read last, for the next call.
    /// - Throws: ``SyncError``: `behindHorizon` when a collection has removed it; `busy` when it is lost.
    func load(_ position: Int, _ last: inout (place: HubLog.Place, pack: Pack)?) async throws -> Frame {
        let record = log.records[position]
        guard !record.isLoaded, let place = record.place else { return record.frame }
        guard let archive else { throw Hub.beginsAnew }
        let generation = generation
        if last?.place != place {
            let found = try await archive.reader.packs.packs([place.sequence], of: place.stream).first?.1
            try check(generation)
            guard case .success(let pack?) = found else {
                try await archive.reader.lookAtSnapshots()
                let collected = await archive.reader.collected
                let given = await archive.reader.collectedOfNewest.common(with: stored)
                try check(generation)
                guard collected.through[place.stream] ?? 0 >= place.sequence, record.frame.isKnown(to: given) else {
                    try lose(generation)
                    throw Hub.beginsAnew
                }
                floor.merge(given)
                throw Hub.onlyInSnapshots(store.name)
            }
            last = (place, pack)
        }
        let entries = last?.pack.entries ?? []
        if let entry = entries.first(where: { $0.frame.body == record.frame.body }) { return entry.frame }
        // A run of a frame that could not be taken as a whole.
        for entry in entries {
            let runs = try await blocking { [limits] in
                do throws(WireError) { return try entry.runs(limits: limits) } catch { throw SyncError(error) }
            }
            if let run = runs.first(where: { $0.frame.body == record.frame.body }) { return run.frame }
        }
        try check(generation)
        try lose(generation)
        throw Hub.beginsAnew
    }

    static func onlyInSnapshots(_ name: String) -> SyncError {
        SyncError(
            .behindHorizon, "The archive \(name) holds changes that this replica lacks only in snapshots",
            hint: "`syncd return` gives the file the content of a snapshot; a daemon does so by itself.")
    }
}
