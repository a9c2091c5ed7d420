import Journal

// What replicas push.

extension Hub {
    /// Takes a pushed frame, and passes it on to those who wait.
    ///
    /// - Returns: What of the frame is here, and how many of its changes were new. The rest needs changes that are not.
    /// - Throws: ``SyncError``: `gap` when what comes before its changes is missing; `invalid` for changes of the
    ///   archive itself; `tooLarge` when too many replicas write; `busy` when too much waits for the store.
    func take(
        _ entry: Pack.Entry, from caller: OriginID
    ) async throws -> (vector: VersionVector, changes: Int) {
        guard let archive, isRead else { throw Hub.isReading }
        let covers = entry.frame.coveredVersions
        guard covers[archive.meta.archive.origin] == 0 else {
            throw SyncError(.invalid, "The push holds changes of the archive itself, which writes none")
        }
        try limits.archive.checkRoom(for: caller, pushing: covers, in: log.have, store.name)
        let before = Hub.count(entry.frame, after: log.have)
        if try !accept(entry) {
            // Another hub may have written what is missing.
            do { try await refresh() } catch { throw Hub.refusal(error) }
            if try !accept(entry), !entry.frame.begins(after: log.have) {
                throw SyncError(
                    .gap, "The changes before the pushed ones are missing at this hub",
                    hint: "The exchange starts over from what is known here.")
            }
        }
        return (covers.common(with: log.have), before - Hub.count(entry.frame, after: log.have))
    }

    /// - Returns: False when something of it cannot be taken yet.
    private func accept(_ entry: Pack.Entry) throws(SyncError) -> Bool {
        guard !entry.frame.isKnown(to: log.have) else {
            // Whoever pushes it waits for this hub.
            adopt { !$0.entry.frame.overlaps(entry.frame) }
            return true
        }
        guard waitingBytes < limits.hub.waitingBytes else {
            throw SyncError(
                .busy, "\(waitingBytes) bytes of changes wait for the store of this hub", retryAfterSeconds: 1)
        }
        let parts: [Pack.Entry]
        do throws(WireError) {
            parts = entry.follows(log.have) ? [entry] : try entry.runs(limits: limits)
        } catch {
            throw SyncError(error)
        }
        defer { news.tell() }
        for part in parts where !part.frame.isKnown(to: log.have) {
            guard part.follows(log.have) else { return false }
            receivedChanges += Hub.count(part.frame, after: log.have)
            let position = log.append(part.frame, at: nil)
            waiting.append(Waiting(position: position, entry: part, time: clock.steadyMilliseconds()))
            waitingBytes += part.frame.payload.count
        }
        return true
    }

    /// The changes of a frame that `have` lacks.
    private static func count(_ frame: Frame, after have: VersionVector) -> Int {
        guard case .batch(let covers, _, _) = frame.body else { return 0 }
        return covers.reduce(0) { $0 + Int(clamping: max(0, $1.last - max($1.first - 1, have[$1.origin]))) }
    }

    /// Returns when the archive holds `wanted`.
    ///
    /// - Throws: ``SyncError/Code/busy`` when the store fails; the changes stay here, and are written later.
    func settle(_ wanted: VersionVector) async throws {
        let generation = generation
        while !stored.covers(wanted) {
            do {
                try check(generation)
                guard writing != nil || !waiting.isEmpty else { throw Hub.beginsAnew }
                try await (writing ?? write()).value
            } catch {
                throw Hub.refusal(error)
            }
        }
    }

    /// Begins to write what waits, once its first change has gathered others for long enough. One pack at a time.
    func write() -> Task<Void, any Error> {
        // It does not begin before this actor waits.
        let task = Task(executorPreference: PreferredExecutor.current) { try await self.gatherAndWrite() }
        writing = task
        return task
    }

    private func gatherAndWrite() async throws {
        defer { writing = nil }
        let gathered = waiting.first.map { clock.steadyMilliseconds() - $0.time } ?? 0
        try await clock.sleep(milliseconds: max(0, limits.hub.flushMilliseconds - gathered))
        do { try await writePack() } catch {
            failed(SyncError(wrapping: error))
            throw error
        }
    }

    private func writePack() async throws {
        guard let archive else { throw Hub.beginsAnew }
        let generation = generation
        // Other hubs may have written some of it in other frames.
        waiting.removeAll { !$0.isAgain && $0.entry.frame.isKnown(to: stored) }
        var pack: [Waiting] = []
        var bytes = 0
        var after = stored
        for next in waiting where next.entry.follows(after) {
            bytes += next.entry.frame.payload.count
            guard pack.isEmpty || bytes <= limits.hub.packBytes else { break }
            pack.append(next)
            after.merge(next.entry.frame.coveredVersions)
        }
        guard !pack.isEmpty else {
            countBytes()
            guard !waiting.isEmpty else { return }
            // All of it builds on what other hubs write. Their packs are read in between.
            adoptOld()
            return try await clock.sleep(milliseconds: limits.archive.pollMilliseconds / 4)
        }
        let written = try await archive.writer.write(
            pack.map(\.entry), writer: archive.meta.archive.origin, sample: nil)
        try check(generation)
        let place = HubLog.Place(stream: written.stream, sequence: written.sequence)
        let positions = Set(pack.map(\.position))
        for item in pack {
            log.place(item.position, at: place)
            stored.merge(item.entry.frame.coveredVersions)
            whole.merge(item.entry.wholeCovers)
        }
        waiting.removeAll { positions.contains($0.position) }
        countBytes()
        await archive.reader.wrote(archive.writer.holds)
    }

    private func countBytes() {
        waitingBytes = (waiting + relayed).reduce(0) { $0 + $1.entry.frame.payload.count }
    }

    static let isReading = SyncError(.busy, "The hub has not read its archive yet", retryAfterSeconds: 1)
}

extension Frame {
    /// True when both hold some change.
    func overlaps(_ other: Frame) -> Bool {
        guard case .batch(let ours, _, _) = body, case .batch(let theirs, _, _) = other.body else { return false }
        return ours.contains { our in
            theirs.contains { $0.origin == our.origin && $0.first <= our.last && our.first <= $0.last }
        }
    }
}
