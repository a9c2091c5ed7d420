import Journal

// What replicas have merged, and what they refuse for ever: a collection counts on the one, and whoever makes snapshots
// on the other.

extension Hub {
    /// What a replica has told of itself and of others.
    struct Told: Sendable {
        let said: ArchivedAcknowledgement
        /// What it acknowledges for names that it has finished. They need not be kept alive.
        let finished: [ArchivedAcknowledgement]
    }

    /// What all replicas have told, here or elsewhere, the newest first.
    var acknowledgements: [Acknowledgement] {
        let here = told.sorted { $0.key < $1.key }.flatMap { [$0.value.said] + $0.value.finished }.flatMap(\.all)
        return ToldAcknowledgements.newest(archived.newest + here)
    }

    /// Keeps what a replica tells, also in the archive, at a bounded rate: news that come soon after others are written
    /// with the next regular look.
    ///
    /// - Throws: ``SyncError`` of the store.
    func acknowledge(_ hello: Hello) async throws {
        guard let archive else { return }
        let origin = archive.meta.archive.origin
        let hello = hello.told(to: origin, at: clock.wallMilliseconds())
        guard let said = ArchivedAcknowledgement(of: hello, origin, archived, every: limits.aliveMilliseconds) else {
            return
        }
        let new = Told(said: said, finished: hello.acknowledgementsForFinished.map { ArchivedAcknowledgement($0) })
        told[hello.origin] = new
        if let last = written[hello.origin] {
            let isNews = said.isNews(after: last.said)
            let interval = isNews ? limits.archive.acknowledgementMilliseconds : limits.aliveMilliseconds
            guard clock.steadyMilliseconds() - last.time >= interval else { return }
        }
        try await write(new)
    }

    /// Writes the news that were not written at once. Those of a replica that has told the archive or another hub since
    /// are old.
    ///
    /// - Throws: ``SyncError`` of the store; `busy` when everything is read anew.
    func writeAcknowledgements(_ generation: Int) async throws {
        for (origin, told) in told.sorted(by: { $0.key < $1.key }) {
            let isNews = written[origin].map { told.said.isNews(after: $0.said) } ?? true
            let isLatest = archived.told[origin].map { $0.own.milliseconds <= told.said.own.milliseconds } ?? true
            guard isNews, isLatest else { continue }
            try await write(told)
            try check(generation)
        }
    }

    private func write(_ told: Told) async throws {
        let origin = told.said.own.origin.origin
        let isNews = written[origin].map { told.said.isNews(after: $0.said) } ?? true
        written[origin] = (told.said, clock.steadyMilliseconds())
        do {
            for said in [told.said] + (isNews ? told.finished : []) {
                try await store.replace(ArchiveKeys.acknowledgement(said.own.origin.origin), ArchiveJSON.encode(said))
            }
        } catch {
            written[origin] = nil
            throw error
        }
    }

    /// Reads what replicas have told the archive directly, or other hubs.
    ///
    /// - Throws: ``SyncError`` of the store; what was read before stays. `busy` when everything is read anew.
    func readAcknowledgements(_ generation: Int) async throws {
        var archived = archived
        // There may be many, and a store that fails now and then would let no reading end.
        defer { if generation == self.generation { self.archived = archived } }
        try await archived.read(store, wall: clock.wallMilliseconds())
        try check(generation)
    }
}

extension Hello {
    /// As a hub tells it: by its own time, because the clock of a replica may be wrong.
    fileprivate func told(to hub: OriginID, at now: Int64) -> Hello {
        let names = Set([origin] + acknowledgementsForFinished.map(\.origin))
        var hello = self
        hello.acknowledgements = acknowledgements.map { told in
            var told = told
            if names.contains(told.origin) {
                (told.milliseconds, told.witness) = (now, hub)
            } else {
                told.milliseconds = min(max(0, told.milliseconds), now)
            }
            return told
        }
        return hello
    }
}
