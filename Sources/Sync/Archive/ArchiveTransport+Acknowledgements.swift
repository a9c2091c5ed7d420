import Journal
import Synchronization

// What replicas have merged, by way of the archive; and what the archive itself acknowledges.

extension ArchiveTransport {
    /// The archive acknowledges what it holds, as a replica that never writes. So no replica drops an entry that is
    /// not in the archive yet.
    func acknowledgements(_ hello: Hello) -> [Acknowledgement] {
        let own = Acknowledgement(
            origin: hello.origin, vector: hello.vector, milliseconds: hello.wallMilliseconds, witness: hello.origin)
        return [own] + state.withLock { $0.told }.newest.prefix(limits.acknowledgementsPerHello - 1)
    }

    /// Reads what other replicas have merged, and what they refuse for ever.
    ///
    /// - Throws: ``SyncError`` of the store.
    func readAcknowledgements() async throws {
        var told = state.withLock { $0.told }
        try await told.read(store, wall: clock.wallMilliseconds())
        state.withLock { [told] in $0.told = told }
    }

    /// True when this replica refuses something for ever that it has not announced: others wait for that.
    func refusesMore(_ mine: Hello) -> Bool {
        RefusedChanges(mine).map { refused in state.withLock { $0.announced?.said.refusedChanges != refused } } ?? false
    }

    /// Announces what this replica has merged, what it refuses for ever, and what it has heard of replicas that tell the
    /// archive nothing.
    ///
    /// - Parameter isAlive: True to say from time to time also what is known; false for an earlier hello.
    /// - Throws: ``SyncError`` of the store.
    func announceOwn(_ mine: Hello, _ archive: OriginID, isAlive: Bool = true) async throws {
        let (told, before) = state.withLock { ($0.told, $0.announced) }
        guard let new = ArchivedAcknowledgement(of: mine, archive, told, every: limits.aliveMilliseconds) else {
            return
        }
        let now = clock.steadyMilliseconds()
        let isNews = before.map { new.isNews(after: $0.said) } ?? true
        let isDue = isAlive && before.map { now - $0.time >= limits.aliveMilliseconds } ?? true
        guard isNews || isDue else { return }
        // Finished names need not be kept alive.
        let finished = isNews ? mine.acknowledgementsForFinished.map { ArchivedAcknowledgement($0) } : []
        for said in [new] + finished {
            try await store.replace(ArchiveKeys.acknowledgement(said.own.origin.origin), ArchiveJSON.encode(said))
        }
        state.withLock { $0.announced = (new, now) }
    }
}
