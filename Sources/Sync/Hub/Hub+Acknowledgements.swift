import Journal

// What replicas have merged, and what they refuse for ever: a collection counts on the one, and whoever makes snapshots
// on the other.

extension Hub {
    /// What a replica has told of itself.
    struct Told: Sendable {
        let own: Acknowledgement
        /// What it acknowledges for names that it has finished. They need not be kept alive.
        let finished: [Acknowledgement]
        let refused: RefusedChanges?

        func isNews(after other: Told?) -> Bool {
            own.vector != other?.own.vector || refused != other?.refused
        }
    }

    /// Keeps what a replica tells of itself, also in the archive, at a bounded rate: news that come soon after others are
    /// written with the next regular look.
    ///
    /// - Throws: ``SyncError`` of the store.
    func acknowledge(_ hello: Hello) async throws {
        guard let own = hello.acknowledgements.first(where: { $0.origin == hello.origin }), let archive else { return }
        // Of this hub's time: the clock of a replica may be wrong.
        let said = ([own] + hello.acknowledgementsForFinished).map { said in
            Acknowledgement(
                origin: said.origin, vector: said.vector, milliseconds: clock.wallMilliseconds(),
                witness: archive.meta.archive.origin)
        }
        for said in said { acknowledgements[said.origin] = said }
        let new = Told(own: said[0], finished: Array(said.dropFirst()), refused: RefusedChanges(hello))
        told[own.origin] = new
        if let last = written[own.origin] {
            let isNews = new.isNews(after: last.told)
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
        for (origin, told) in told.sorted(by: { $0.key < $1.key })
        where told.isNews(after: written[origin]?.told) && acknowledgements[origin] == told.own {
            try await write(told)
            try check(generation)
        }
    }

    private func write(_ told: Told) async throws {
        let origin = told.own.origin
        let isNews = told.isNews(after: written[origin]?.told)
        written[origin] = (told, clock.steadyMilliseconds())
        do {
            for said in isNews ? [told.own] + told.finished : [told.own] {
                try await store.replace(
                    ArchiveKeys.acknowledgement(said.origin),
                    ArchiveJSON.encode(
                        ArchivedAcknowledgement(said, refused: said.origin == origin ? told.refused : nil)))
            }
        } catch {
            written[origin] = nil
            throw error
        }
    }

    /// Reads what replicas have told the archive directly, or other hubs.
    ///
    /// - Throws: ``SyncError`` of the store; `busy` when everything is read anew.
    func readAcknowledgements(_ generation: Int) async throws {
        for object in try await store.listAll(ArchiveKeys.acknowledgements)
        where acknowledgementTags[object.key] != object.tag {
            guard let bytes = try await store.get(object.key),
                let stored: ArchivedAcknowledgement = try? ArchiveJSON.decode(bytes, "An acknowledgement")
            else { continue }
            try check(generation)
            acknowledgementTags[object.key] = object.tag
            let told = stored.acknowledgement
            if acknowledgements[told.origin].map({ $0.milliseconds < told.milliseconds }) ?? true {
                acknowledgements[told.origin] = told
            }
        }
    }
}
