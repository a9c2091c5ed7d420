import Journal
import Logging

/// Answers replicas in the name of an archive, without a file: what it serves is in the archive, or is on the way there.
///
/// Pushed changes go to waiting replicas at once, and are acknowledged when a pack holds them. All state can be read
/// from the archive again, so a hub may end at any time, and any number may serve one archive. See
/// docs/decisions/0049-hub.md.
package actor Hub {
    /// The open archive.
    struct Archive: Sendable {
        let meta: ArchiveMeta
        let writer: StreamWriter
        let reader: StreamReader
    }

    /// A record that no pack holds yet.
    struct Waiting: Sendable {
        let position: Int
        let entry: Pack.Entry
        /// When it came, in steady milliseconds.
        let time: Int64
        /// True when a pack holds it that nobody has announced.
        var isAgain = false
    }

    nonisolated let store: CountedStore
    nonisolated let limits: Limits
    nonisolated let clock: any SyncClock
    nonisolated let news = HubNews()
    nonisolated let logger: Logger?
    nonisolated let entropy: @Sendable () -> UInt64

    /// nil before the archive was found, and after something in it was lost; everything below is empty then.
    var archive: Archive?
    /// True once everything in the archive was read.
    var isRead = false
    /// Rises when everything is read anew: what was worked out before counts for nothing.
    var generation = 0
    var log: HubLog
    /// What only snapshots hold: who has less is not served.
    var floor = VersionVector()
    /// What the archive holds.
    var stored = VersionVector()
    /// The whole transactions of ``stored``.
    var whole = VersionVector()
    /// What this hub has to write, in the order of the log.
    var waiting: [Waiting] = []
    /// What other hubs have passed on, and write themselves.
    var relayed: [Waiting] = []
    /// Bytes of both.
    var waitingBytes = 0
    /// What replicas have told this hub of themselves, and what of it was written when, in steady milliseconds.
    var told: [OriginID: Told] = [:]
    var written: [OriginID: (said: ArchivedAcknowledgement, time: Int64)] = [:]
    /// What replicas have told the archive.
    var archived = ToldAcknowledgements()
    /// The last pack that each stream has announced.
    var announced: [StreamID: Int64] = [:]
    /// The streams of which some reader has told that packs are missing or damaged.
    var damagedStreams: Set<StreamID> = []
    /// When what is done from time to time was done, in steady milliseconds.
    var looked: Int64?
    var regularly: Int64?

    var reading: Task<Void, any Error>?
    var writing: Task<Void, any Error>?
    /// The failure of the last work with the store; nil after a success.
    var failure: SyncError?
    /// What is damaged or missing in the archive; nil for nothing.
    var problem: SyncError?
    /// True once the store has answered whether it has an archive, and everything in that was read.
    var hasLooked = false
    var receivedChanges = 0
    var sentFrames = 0

    /// - Parameters:
    ///   - store: Where the archive is, or is made for the first replica that says hello.
    ///   - limits: Of these, ``Limits/archive`` and ``Limits/hub`` are the hub's own.
    ///   - entropy: 64 random bits at each call.
    package init(
        _ store: any ObjectStore, limits: Limits = .standard, clock: any SyncClock = SystemClock(),
        logger: Logger? = nil, entropy: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.store = CountedStore(store)
        self.limits = limits
        self.clock = clock
        self.logger = logger
        self.entropy = entropy
        log = HubLog(cacheBytes: limits.hub.cacheBytes)
    }

    // MARK: - Life

    /// Reads what others write to the archive, until the task is cancelled. Then announces what was written.
    package func run() async {
        var failures = 0
        while !Task.isCancelled {
            var delay = limits.archive.pollMilliseconds
            do {
                try await tick()
                failures = 0
            } catch {
                failures += 1
                delay = Backoff.delay(failures: failures, entropy: entropy(), limits: limits)
            }
            // Cancelled: the loop ends.
            try? await clock.sleep(milliseconds: delay)
        }
        // Not cancelled: what is announced, nobody has to look for.
        await withoutCancellation { try? await self.finish() }
    }

    /// Reads what is new in the archive, and writes what waits.
    ///
    /// - Throws: ``SyncError`` of the store; the next call goes on.
    package func tick() async throws {
        do {
            try await refresh()
            adoptOld()
            try await takeOverUnannounced()
            if !waiting.isEmpty { try await (writing ?? write()).value }
            succeeded()
        } catch {
            if !Task.isCancelled { failed(SyncError(wrapping: error)) }
            throw error
        }
    }

    /// Writes what waits, and announces it.
    package func finish() async throws {
        if !waiting.isEmpty { try await (writing ?? write()).value }
        guard let archive else { return }
        try await archive.writer.announceIfDue(writer: archive.meta.archive.origin, isLast: true)
    }

    /// Opens the archive.
    ///
    /// - Parameter cluster: The cluster for which an archive is made where there is none; nil makes none.
    /// - Returns: nil when there is none.
    func open(cluster: String?) async throws -> Archive? {
        if let archive { return archive }
        let found: ArchiveMeta?
        if let cluster {
            found = try await ArchiveMeta.open(store, cluster: cluster, entropy: entropy)
        } else {
            found = try await ArchiveMeta.read(store)
        }
        guard let meta = found else { return nil }
        let position = ArchiveNotes.Position()
        let opened = Archive(
            meta: meta,
            writer: StreamWriter(
                store: store, meta: meta, position: position, head: nil, limits: limits.archive, clock: clock,
                entropy: entropy),
            reader: StreamReader(store: store, meta: meta, position: position, limits: limits, clock: clock))
        // Somebody else may have been first.
        if archive == nil { archive = opened }
        return archive
    }

    /// Forgets everything: the archive is read anew. Pushes that wait fail, and are repeated.
    func reset() {
        generation += 1
        archive = nil
        isRead = false
        log = HubLog(cacheBytes: limits.hub.cacheBytes)
        (floor, stored, whole) = (VersionVector(), VersionVector(), VersionVector())
        (waiting, relayed, waitingBytes) = ([], [], 0)
        (told, written, archived) = ([:], [:], ToldAcknowledgements())
        (announced, looked, regularly) = ([:], nil, nil)
        news.tell()
    }

    /// - Throws: ``SyncError/Code/busy`` when everything was read anew since.
    func check(_ generation: Int) throws(SyncError) {
        guard generation == self.generation else { throw Hub.beginsAnew }
    }

    static let beginsAnew = SyncError(.busy, "The hub reads its archive anew", retryAfterSeconds: 1)

    // MARK: - Failures

    private func succeeded() {
        guard failure != nil else { return }
        failure = nil
        logger?.log(.hubRecovered, "\(store.name) answers again", peer: store.name)
    }

    func failed(_ error: SyncError) {
        // A reading that begins anew has said why.
        guard error != Hub.beginsAnew else { return }
        if failure?.code != error.code { logger?.log(.hubFailed, "\(error)", peer: store.name) }
        failure = error
    }

    /// What a replica is told when the store fails: the store's refusals are none of the replica's.
    static func refusal(_ error: any Error) -> SyncError {
        let error = SyncError(wrapping: error)
        guard error != beginsAnew else { return error }
        return SyncError(
            .busy, "The hub cannot work with its store now: \(error.message)", hint: "The log of the hub says more.",
            retryAfterSeconds: 1)
    }
}
