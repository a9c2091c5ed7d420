import Journal
import Synchronization

// What replicas have merged, by way of the archive; and what the archive itself acknowledges.

extension ArchiveTransport {
    /// The archive acknowledges what it holds, as a replica that never writes. So no replica drops an entry that is
    /// not in the archive yet.
    func acknowledgements(_ hello: Hello) -> [Acknowledgement] {
        let own = Acknowledgement(
            origin: hello.origin, vector: hello.vector, milliseconds: hello.wallMilliseconds, witness: hello.origin)
        return [own] + state.withLock { $0.acknowledgements }.prefix(limits.acknowledgementsPerHello - 1)
    }

    /// Announces what this replica has merged, and reads what others have.
    ///
    /// - Throws: ``SyncError`` of the store.
    func exchangeAcknowledgements(_ mine: Hello) async throws {
        let now = clock.steadyMilliseconds()
        if let own = mine.acknowledgements.first(where: { $0.origin == mine.origin }),
            state.withLock({ state in
                state.acknowledged.map { $0.vector != own.vector || now - $0.time >= limits.aliveMilliseconds } ?? true
            })
        {
            try await store.replace(
                ArchiveKeys.acknowledgement(mine.origin), ArchiveJSON.encode(ArchivedAcknowledgement(own)))
            state.withLock { $0.acknowledged = (own.vector, now) }
        }
        let listed = try await store.listAll(ArchiveKeys.acknowledgements)
        var (known, tags) = state.withLock { ($0.acknowledgements, $0.acknowledgementTags) }
        for object in listed where tags[object.key] != object.tag {
            guard let bytes = try await store.get(object.key),
                var stored: ArchivedAcknowledgement = try? ArchiveJSON.decode(bytes, "An acknowledgement")
            else { continue }
            // A clock that was ahead must not keep a replica alive that does not come any more.
            let wall = clock.wallMilliseconds()
            if stored.milliseconds > wall { stored.milliseconds = min(object.milliseconds, wall) }
            tags[object.key] = object.tag
            known.removeAll { $0.origin == stored.origin.origin }
            known.append(stored.acknowledgement)
        }
        state.withLock { [known, tags] state in
            state.acknowledgements = known.sorted { ($0.milliseconds, $0.origin) > ($1.milliseconds, $1.origin) }
            state.acknowledgementTags = tags
        }
    }
}
