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

    /// Reads what other replicas have merged, and what they refuse for ever.
    ///
    /// - Throws: ``SyncError`` of the store.
    func readAcknowledgements() async throws {
        let listed = try await store.listAll(ArchiveKeys.acknowledgements)
        var (known, refused, tags) = state.withLock {
            ($0.acknowledgements, $0.refused, $0.acknowledgementTags)
        }
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
            refused[stored.origin.origin] = stored.refusedChanges
        }
        state.withLock { [known, refused, tags] state in
            state.acknowledgements = known.sorted { ($0.milliseconds, $0.origin) > ($1.milliseconds, $1.origin) }
            (state.refused, state.acknowledgementTags) = (refused, tags)
        }
    }

    /// True when this replica refuses something for ever that it has not announced: others wait for that.
    func refusesMore(_ mine: Hello) -> Bool {
        RefusedChanges(mine).map { refused in state.withLock { $0.acknowledged?.refused != refused } } ?? false
    }

    /// Announces what this replica has merged, and what it refuses for ever.
    ///
    /// - Parameter isAlive: True to say from time to time also what is known; false for an earlier hello.
    /// - Throws: ``SyncError`` of the store.
    func announceOwn(_ mine: Hello, isAlive: Bool = true) async throws {
        guard let own = mine.acknowledgements.first(where: { $0.origin == mine.origin }) else { return }
        let now = clock.steadyMilliseconds()
        let before = state.withLock { $0.acknowledged }
        let refused = RefusedChanges(mine)
        let isNew = before?.vector != own.vector || before?.refused != refused
        let isDue = isAlive && before.map { now - $0.time >= limits.aliveMilliseconds } ?? true
        guard isNew || isDue else { return }
        var said = [own]
        if isNew {
            // They need not be kept alive.
            said += mine.acknowledgementsForFinished
        }
        for acknowledgement in said {
            try await store.replace(
                ArchiveKeys.acknowledgement(acknowledgement.origin),
                ArchiveJSON.encode(
                    ArchivedAcknowledgement(
                        acknowledgement, refused: acknowledgement.origin == own.origin ? refused : nil)))
        }
        state.withLock { $0.acknowledged = (own.vector, refused, now) }
    }
}
