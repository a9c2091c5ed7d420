import Foundation
import Journal
import Logging
import Synchronization

/// An archive on an object store, as a peer: what it holds are the packs of all replicas, and pulling and pushing are
/// reading and writing packs.
///
/// A replica writes its own changes. It writes those of another replica only when the archive has lacked them for a
/// while (``ArchiveLimits/bridgeMilliseconds``), because otherwise every change would be there once for each replica.
package final class ArchiveTransport: Transport {
    /// What both lanes use once the archive is open.
    struct Session: Sendable {
        var meta: ArchiveMeta
        var writer: StreamWriter
        var reader: StreamReader
    }

    /// When each origin's changes began to be missing in the archive.
    struct Lack {
        var version: Int64
        var since: Int64
    }

    struct State {
        var session: Session?
        var lacks: [OriginID: Lack] = [:]
        /// The last hello of this replica.
        var mine: Hello?
        /// What this replica last announced, and when, in steady milliseconds.
        var announced: (said: ArchivedAcknowledgement, time: Int64)?
        /// What replicas have announced.
        var told = ToldAcknowledgements()
        /// When what is done from time to time was done, in steady milliseconds.
        var regularly: Int64 = .min
        var talked: Int64 = .min
        var looked: Int64 = .min
        var saidCrowded = false
        /// The newest snapshot, and since when it is known here, in steady milliseconds.
        var newest: (id: String, since: Int64)?
        /// When this process last made one, in steady milliseconds.
        var madeSnapshot: Int64?
        /// What was logged of snapshots that lack something.
        var saidLacking: Set<String> = []
        var noted: ArchiveNotes.Position?
        var notedTime: Int64 = .min
    }

    /// The archive's address, without secrets.
    package var name: String { store.name }
    package var storeRequests: StoreRequests? { store.requests }

    let store: CountedStore
    let replica: Replica
    private let notes: ArchiveNotes
    let limits: Limits
    let clock: any SyncClock
    private let entropy: @Sendable () -> UInt64
    private let logger: Logger?
    /// Only packs up to this time are read, and nothing is written; nil for a replica that takes part.
    private let until: Int64?
    let state = Mutex(State())

    /// - Parameters:
    ///   - store: Where the archive is, or is made at the first contact.
    ///   - replica: The replica that exchanges with it.
    ///   - until: Only packs up to this time are read, in milliseconds since 1970, and nothing is written to the
    ///     archive; nil for a replica that takes part.
    ///   - entropy: 64 random bits at each call.
    package init(
        _ store: any ObjectStore, replica: Replica, limits: Limits, clock: any SyncClock,
        logger: Logger? = nil, until: Int64? = nil, entropy: @escaping @Sendable () -> UInt64
    ) {
        self.store = CountedStore(store)
        self.replica = replica
        self.limits = limits
        self.clock = clock
        self.entropy = entropy
        self.logger = logger
        self.until = until
        notes = ArchiveNotes(of: replica)
    }

    package var holdsRows: Bool { false }

    package var gatheringMilliseconds: Int64 { limits.archive.flushMilliseconds }

    // MARK: - Hello

    /// Opens the archive, and looks at all heads. Announces what this replica has merged.
    ///
    /// - Throws: ``SyncError``: those of the store; `otherCluster`; `unsupportedVersion`.
    package func hello(_ mine: Hello) async throws -> Hello {
        try await SyncError.wrapping {
            let session = try await open(mine)
            try await leaveStreamIfRestored(session)
            try await session.writer.checkLast()
            try await announce(session, mine.origin, isLast: true)
            let isRegular = until == nil && isDue(\.regularly)
            try await session.reader.lookAtSnapshots(isThorough: isRegular)
            try await look(session)
            if until == nil, try await writeBase(for: mine, session) { try await look(session) }
            state.withLock { $0.mine = mine }
            if isRegular {
                try await talk(session, isAlive: true)
                await warnOfDamagedSnapshots(session)
                state.withLock { $0.regularly = clock.steadyMilliseconds() }
            } else if until == nil, refusesMore(mine) {
                try await announceOwn(mine, session.meta.archive.origin)
            }
            await warnWhenCrowded(session)
            var hello = Hello(
                cluster: session.meta.cluster, origin: session.meta.archive.origin, formatVersion: mine.formatVersion,
                vector: await session.reader.known, wallMilliseconds: clock.wallMilliseconds())
            hello.acknowledgements = acknowledgements(hello)
            await addSamples(of: mine.origin, session, to: &hello)
            return hello
        }
    }

    private func open(_ mine: Hello) async throws -> Session {
        guard
            let meta = try await until == nil
                ? ArchiveMeta.open(store, cluster: mine.cluster, entropy: entropy) : ArchiveMeta.read(store)
        else { throw ArchiveSnapshots.noArchive(name) }
        // Another archive may be there now, in a store that was emptied.
        if let session = state.withLock({ $0.session }), session.meta == meta { return session }
        try Handshake.check(cluster: meta.cluster, mine: mine, peer: name)
        let position = try await blocking { [notes] in notes.read(meta.archive.origin) }
        var head: StreamHead?
        if let stream = position.stream?.id, let bytes = try await store.get(ArchiveKeys.head(stream)) {
            head = try? ArchiveJSON.decode(bytes, "The head of stream \(stream)")
        }
        let session = Session(
            meta: meta,
            writer: StreamWriter(
                store: store, meta: meta, position: position, head: head, limits: limits.archive, clock: clock,
                entropy: entropy),
            reader: StreamReader(
                store: store, meta: meta, position: position, limits: limits, clock: clock, until: until ?? .max))
        state.withLock { state in
            state.session = session
            state.lacks = [:]
            (state.announced, state.told) = (nil, ToldAcknowledgements())
            (state.noted, state.saidCrowded) = (nil, false)
            (state.regularly, state.talked) = (.min, .min)
        }
        return session
    }

    /// Begins another stream when the file has less than its stream holds, because it was restored from a backup: it
    /// does not read its own stream, and must read that one.
    private func leaveStreamIfRestored(_ session: Session) async throws {
        let holds = await session.writer.holds
        guard !holds.ranges.isEmpty else { return }
        let have = try await blocking { [replica] in try replica.read { try JournalReader($0).vector() } }
        if !holds.isCovered(by: have) { await session.writer.takeNewStream() }
    }

    private func look(_ session: Session) async throws {
        try await session.reader.look(own: session.writer.holds)
        state.withLock { $0.looked = clock.steadyMilliseconds() }
        // A store that was restored from a backup, or emptied, may lack packs of this stream.
        let (stream, announced) = await (session.writer.stream, session.writer.announced)
        let head = await session.reader.heads.first { $0.stream.id == stream }
        if announced > 0, head.map({ $0.last < announced }) ?? true {
            logger?.log(
                .archiveLost, "\(name) lacks packs that it had accepted: what it lacks is written again", peer: name)
            await session.writer.takeNewStream()
            try await session.reader.look(own: Holdings())
        }
    }

    /// Tells others what the last hello told, and hears them: a replica without news says no hello for an hour, and may be
    /// the only one that can heal the archive, or make a snapshot with what another one refuses.
    ///
    /// - Parameter isAlive: As for ``announceOwn(_:_:isAlive:)``.
    private func talk(_ session: Session, isAlive: Bool) async throws {
        let mine = state.withLock { $0.mine }
        let archive = session.meta.archive.origin
        if let mine { try await announceOwn(mine, archive, isAlive: isAlive) }
        try await lookAtDamages(session)
        try await readAcknowledgements()
        // What others tell need not be told, so the rest comes after that.
        if let mine { try await announceOwn(mine, archive, isAlive: false) }
        state.withLock { $0.talked = clock.steadyMilliseconds() }
    }

    /// Takes what readers told of missing and damaged packs. When one is in this replica's stream, begins another
    /// stream. What the archive lacks is then written again.
    private func lookAtDamages(_ session: Session) async throws {
        let damaged = try await session.reader.lookAtDamages()
        guard await damaged.contains(session.writer.stream) else { return }
        logger?.log(
            .archiveLost, "\(name) has lost changes that it had accepted: what it lacks is written again", peer: name)
        await session.writer.takeNewStream()
        try await session.reader.look(own: Holdings())
        _ = try await session.reader.lookAtDamages()
    }

    /// Logs once what each snapshot lacks that is not whole.
    private func warnOfDamagedSnapshots(_ session: Session) async {
        let lacking = Set(await session.reader.lacking)
        let new = state.withLock { state in
            defer { state.saidLacking = lacking }
            return lacking.subtracting(state.saidLacking)
        }
        for sentence in new.sorted() {
            logger?.log(
                .archiveLost,
                "\(name): \(sentence). It counts no more; another one is made when one is due, and `syncd store collect` removes it",
                peer: name)
        }
    }

    /// Logs once that more replicas write to the archive than it is made for.
    private func warnWhenCrowded(_ session: Session) async {
        let writers = await session.reader.known.entries.count
        guard writers >= limits.archive.crowdedWriters else { return }
        let isFirst = state.withLock { state in
            defer { state.saidCrowded = true }
            return !state.saidCrowded
        }
        guard isFirst else { return }
        logger?.log(
            .archiveCrowded,
            "\(name) holds changes of \(writers) replicas: \(ArchiveLimits.crowdedAdvice)", peer: name)
    }

    /// Adds what other files wrote under this replica's name: a copy learns so that it is one.
    private func addSamples(of own: OriginID, _ session: Session, to hello: inout Hello) async {
        let samples = await session.reader.heads.filter { $0.writer.origin == own }.compactMap(\.sample)
        guard !samples.isEmpty else { return }
        hello.sampledOrigin = own
        hello.samples = Set(samples).map { VersionSample(version: $0.version, digest: $0.digest) }
            .sorted { $0.version > $1.version }
    }

    // MARK: - Pulling

    package func sends(_ vector: VersionVector) async -> VersionVector {
        guard let session = state.withLock({ $0.session }) else { return vector }
        return await session.reader.durable.merged(with: vector)
    }

    /// Reads packs. Waits for news, or until the archive holds more of others, by looking again at a bounded rate.
    ///
    /// - Throws: ``SyncError``: those of the store; `invalid` for a damaged object, after everything else was passed
    ///   on; `behindHorizon`; what `onFrame` throws.
    package func pull(
        _ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void
    ) async throws -> PullEnd {
        try await SyncError.wrapping {
            let session = try greeted()
            let deadline = clock.steadyMilliseconds() + Int64(request.waitSeconds) * 1_000
            let bytes = request.maxBytes > 0 ? min(request.maxBytes, limits.bytesPerPull) : limits.bytesPerPull
            var isFirst = request.waitSeconds == 0
            let before = await session.reader.known(except: request.origin)
            while true {
                try await announce(session, request.origin, isLast: false)
                let isIdle = await session.reader.isIdle
                if isFirst || isLookDue(isIdle: isIdle) { try await look(session) }
                if until == nil, isDue(\.talked) { try await talk(session, isAlive: false) }
                let passed = try await session.reader.read(
                    after: request.have, own: await session.writer.stream, bytes: bytes,
                    isComplete: isFirst, onFrame: onFrame)
                if until == nil { try await session.reader.reportDamages() }
                try await note(session, isLast: false)
                // A single exchange goes on, and tells at its end.
                if request.waitSeconds > 0 { try await session.reader.checkProblems() }
                let left = deadline - clock.steadyMilliseconds()
                // What the replica could not write for want of others' changes is tried again when those are there.
                guard passed.frames == 0, !passed.isCut, left > 0,
                    await session.reader.known(except: request.origin) == before
                else {
                    return PullEnd(vector: await session.reader.known, more: passed.isCut)
                }
                isFirst = false
                try await clock.sleep(milliseconds: min(left, max(1, await session.reader.untilRound)))
            }
        }
    }

    /// True when what is done from time to time was last done long ago.
    private func isDue(_ time: KeyPath<State, Int64>) -> Bool {
        let last = state.withLock { $0[keyPath: time] }
        return last == .min || clock.steadyMilliseconds() - last >= limits.archive.acknowledgementMilliseconds
    }

    private func isLookDue(isIdle: Bool) -> Bool {
        let interval = isIdle ? limits.archive.idleListMilliseconds : limits.archive.listMilliseconds
        let now = clock.steadyMilliseconds()
        return state.withLock { $0.looked == .min || now - $0.looked >= interval }
    }

    // MARK: - Comparing and ending

    /// An archive holds changes, not rows.
    package func digest(_ request: DigestRequest) async throws -> DigestReply {
        throw SyncError(
            .notFound, "The archive \(name) holds changes, not rows, so rows cannot be compared with it",
            hint: "`syncd store verify \(name)` checks what it holds.")
    }

    /// Announces the last packs, and notes where this replica stands.
    package func finish() async throws {
        guard let session = state.withLock({ $0.session }) else { return }
        let (own, have) = try await blocking { [replica] in
            try replica.read { db in
                let reader = try JournalReader(db)
                return (reader.identity.origin, reader.vector())
            }
        }
        try await announce(session, own, isLast: true)
        await session.reader.confirm(have)
        try await note(session, isLast: true)
        try await session.reader.checkProblems()
    }

    // MARK: - Pieces

    /// The session that the last hello began.
    ///
    /// - Throws: ``SyncError/Code/failed`` before the first one.
    func greeted() throws(SyncError) -> Session {
        guard let session = state.withLock({ $0.session }) else {
            throw SyncError(.failed, "The archive \(name) was not greeted")
        }
        return session
    }

    private func announce(_ session: Session, _ own: OriginID, isLast: Bool) async throws {
        try await session.writer.announceIfDue(writer: own, isLast: isLast)
    }

    /// Keeps where this replica stands.
    ///
    /// - Parameter isLast: False keeps it only from time to time.
    func note(_ session: Session, isLast: Bool) async throws {
        let now = clock.steadyMilliseconds()
        let next = await session.writer.next
        let position = ArchiveNotes.Position(
            stream: next > 1 ? StoredStream(await session.writer.stream) : nil, next: next,
            previous: await session.writer.previous.map { SnapshotManifest.Digest($0) },
            reading: await session.reader.reading)
        let isDue = state.withLock { state in
            guard state.noted != position,
                isLast || state.notedTime == .min || now - state.notedTime >= limits.peerRecordMilliseconds
            else { return false }
            state.noted = position
            state.notedTime = now
            return true
        }
        guard isDue else { return }
        try await blocking { [notes] in try notes.write(position, of: session.meta.archive.origin) }
    }
}
