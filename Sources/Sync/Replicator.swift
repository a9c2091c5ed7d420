import Journal
import Logging

/// Replicates one file with its peers. This is the entry point of replication.
///
/// ```swift
/// let peer = try PeerConfiguration("https://b:7707", token: token)
/// let replicator = try Replicator(replica: replica, peers: [peer])
/// try await replicator.run()   // until the task is cancelled
/// ```
public final class Replicator: Sendable {
    /// The side that answers peers' requests, for a server.
    public let endpoint: Endpoint
    /// Takes in the changes of other replicas; the endpoint and the exchanges with peers use it.
    package let inbox: Inbox

    let replica: Replica
    let limits: Limits
    let clock: any SyncClock
    /// Signals that the file may have changed.
    private let changes: @Sendable () -> AsyncStream<Void>
    /// nil when the caller provides the signals.
    private let watch: FileWatch?
    let followed: FollowedPeers
    let entropy: @Sendable () -> UInt64
    private let returning: Returning
    let logger: Logger

    /// Creates a replicator for `replica`, which follows `peers` once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - replica: The replica, which the caller closes.
    ///   - peers: The peers that ``run()`` follows.
    ///   - limits: The sizes, counts and times of replication.
    ///   - functions: The functions of tables with the policy `MergePolicy/custom(_:)`. A row whose
    ///     conflict needs a function that is not among them is held.
    ///   - clock: The clock by which it waits.
    ///   - logger: Receives warnings; nil for none.
    ///   - entropy: 64 random bits at each call, for the jitter of retries.
    /// - Throws: ``SyncError/Code/configuration`` for a peer that cannot be followed; errors of the file.
    public convenience init(
        replica: Replica, peers: [PeerConfiguration] = [], limits: Limits = .standard,
        functions: ConflictFunctions = ConflictFunctions(), clock: any SyncClock = SystemClock(),
        logger: Logger = Logger(label: "tandem.sync"),
        entropy: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) throws {
        let watch = try FileWatch(path: replica.path)
        try self.init(
            replica: replica, transports: [], limits: limits, functions: functions, clock: clock, logger: logger,
            entropy: entropy, watch: watch
        ) { watch.changes }
        try follow(peers)
    }

    /// Creates a replicator with its transports, clock and file signals passed in.
    ///
    /// - Parameters:
    ///   - transports: The transport to each peer that is followed.
    ///   - direction: Whether changes are pushed to the peer of a transport, pulled, or both.
    ///   - functions: The functions of tables with the policy ``MergePolicy/custom(_:)``.
    ///   - watch: The file watch to stop when the replicator is released; nil when the caller stops it.
    ///   - changes: Returns a stream that yields when the file may have changed.
    package init(
        replica: Replica, transports: [any Transport],
        direction: (any Transport) -> SyncDirection = { _ in .both }, limits: Limits,
        functions: ConflictFunctions = ConflictFunctions(), clock: any SyncClock, logger: Logger,
        entropy: @escaping @Sendable () -> UInt64, watch: FileWatch? = nil,
        changes: @escaping @Sendable () -> AsyncStream<Void>
    ) throws {
        self.replica = replica
        self.limits = limits
        self.clock = clock
        let inbox = try Inbox(
            replica: replica, limits: limits, functions: functions, logger: logger.about(.intake)
        ) {
            Stamp(milliseconds: clock.wallMilliseconds())
        }
        let endpoint = Endpoint(
            replica: replica, inbox: inbox, limits: limits, clock: clock, changes: changes)
        self.inbox = inbox
        self.changes = changes
        self.watch = watch
        self.logger = logger
        self.endpoint = endpoint
        self.entropy = entropy
        let returning = Returning(
            inbox, pulls: endpoint.pulls, limits: limits, clock: clock, entropy: entropy, logger: logger)
        self.returning = returning
        followed = FollowedPeers(
            transports.map { transport in
                let session = SyncSession(
                    replica: replica, inbox: inbox, transport: transport, limits: limits, clock: clock,
                    meter: endpoint.meter)
                let follower = PeerFollower(
                    session: session, pulls: endpoint.pulls, direction: direction(transport),
                    comingBack: returning.attempt, entropy: entropy, logger: logger)
                return .init(configuration: nil, follower: follower)
            })
    }

    deinit { watch?.stop() }

    /// Follows all peers until the task is cancelled. Changes of the peers arrive by long poll. Local changes
    /// are pushed to the peers that are not polling this replica. A batch that is being applied at
    /// cancellation is finished first.
    ///
    /// A failure of one peer is retried with backoff, appears in ``status()`` and does not delay other peers.
    public func run() async {
        await warnOfOwnClock()
        endpoint.snapshots.removeLeftovers()
        await keepRecords { try $0.beginFollowing() }
        inbox.ends.startKeeping(in: EndsFile(of: replica))
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followed.run() }
            group.addTask { await self.sweep() }
            group.addTask { await self.compactRegularly() }
            group.addTask { await self.archiveRegularly() }
            group.addTask { await self.trimmer().run(self.changes()) }
            await lookout().run(changes()) { followed.tell($0) }
            group.cancelAll()
        }
        await keepRecords { [followed] in try $0.endFollowing(with: followed.all.map(\.currentStatus)) }
        await keepRecords { [inbox] _ in
            inbox.keepAcknowledgements()
            inbox.ends.keep()
        }
    }

    private func keepRecords(_ step: @escaping @Sendable (PeerRecords) throws -> Void) async {
        do {
            try await blocking { [inbox] in try step(inbox.peers) }
        } catch {
            logger.log(.peerNotesFailed, "What is known of the peers cannot be kept: \(SyncError(wrapping: error))")
        }
    }

    /// Follows exactly these peers from now on, also while ``run()`` runs.
    ///
    /// An exchange with a peer that was followed before, with the same token and TLS files, goes on. An
    /// exchange with another one ends as at the cancellation of ``run()``.
    ///
    /// - Throws: ``SyncError/Code/configuration`` for a peer that cannot be followed; errors of a peer's
    ///   file. Nothing has changed then.
    public func follow(_ peers: [PeerConfiguration]) throws { try following(peers)() }

    /// Prepares ``follow(_:)``: what can fail of it is done, and nothing has changed.
    ///
    /// - Returns: Follows the peers from then on. Between the two calls, no other one may change the peers.
    /// - Throws: As ``follow(_:)``.
    package func following(_ peers: [PeerConfiguration]) throws -> () -> Void {
        try followed.replacement(by: peers) { peer in
            if let exposure = peer.exposure { logger.log(.peerExposed, "\(exposure)", peer: peer.name) }
            let transport = try transport(to: peer, limits: limits)
            let session = SyncSession(
                replica: replica, inbox: inbox, transport: transport, limits: limits, clock: clock,
                meter: endpoint.meter)
            return PeerFollower(
                session: session, pulls: endpoint.pulls, direction: peer.direction, comingBack: returning.attempt,
                entropy: entropy, logger: logger)
        }
    }

    /// Logs a warning when this replica's own stamps are ahead of its clock. Local reads and writes work
    /// then, so the writer sees no error, but peers defer the changes.
    private func warnOfOwnClock() async {
        do {
            let report = try await blocking { [replica, clock, limits] in
                try replica.read { db in
                    try ClockReport(db, now: Stamp(milliseconds: clock.wallMilliseconds()), limits: limits)
                }
            }
            guard report.isHeldBackByOthers else { return }
            logger.log(
                .clockAhead,
                """
                changes of this replica carry times \(report.ownAheadMilliseconds / 1_000) s ahead of its clock: \
                peers hold them back until then; see `syncd clock`
                """)
        } catch {
            logger.log(.journalUnreadable, "The journal cannot be read: \(SyncError(wrapping: error))")
        }
    }

    /// Drops old conflicts and beginnings of transactions that stopped growing, every
    /// ``Limits/sweepMilliseconds``.
    private func sweep() async {
        while !Task.isCancelled {
            do {
                try await blocking { [inbox] in
                    try inbox.dropOldConflicts()
                    try inbox.dropUnfinished()
                }
            } catch {
                logger.log(
                    .sweepFailed,
                    "Old conflicts and unfinished transactions cannot be dropped: \(SyncError(wrapping: error))")
            }
            do {
                try await clock.sleep(milliseconds: limits.sweepMilliseconds)
            } catch {
                // Cancelled.
                return
            }
        }
    }

    /// Removes from the journal what no replica needs any more, and the entries that say the same without it.
    ///
    /// - Parameters:
    ///   - keep: How much history stays at least, in milliseconds; nil for ``Limits/historyMilliseconds``.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds; nil for
    ///     ``Limits/leaseMilliseconds``.
    ///   - isDryRun: True only decides.
    ///   - onProgress: Called after each transaction with how many entries are gone, and how many will be.
    /// - Throws: ``SyncError``; the work up to there stays, and the journal says the same as before.
    package func compact(
        keep: Int64? = nil, lease: Int64? = nil, isDryRun: Bool = false,
        onProgress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> CompactionReport {
        try await SyncError.wrapping {
            try await Compaction(inbox: inbox, clock: clock).run(
                keep: keep ?? limits.historyMilliseconds, lease: lease ?? limits.leaseMilliseconds,
                isDryRun: isDryRun, onProgress: onProgress)
        }
    }

    /// Compacts the journal from time to time, when enough has become stable to be worth a pass over it.
    ///
    /// A file that knows of no other replica is left alone: its history is what a first peer gets. So is every file
    /// while clocks differ, and for some time after the clock here was set. Where the leases of all others have ended,
    /// nobody is waited for.
    private func compactRegularly() async {
        guard let interval = limits.compactionMilliseconds else { return }
        var pace = CompactionPace(longestMilliseconds: limits.compactionPassMilliseconds)
        // Two hellos: the last one may be on its way.
        var leases = LeaseClock(
            toleranceMilliseconds: limits.clockSkewMilliseconds, waitMilliseconds: 2 * limits.aliveMilliseconds)
        while !Task.isCancelled {
            leases.note(reading)
            do {
                // First after a pause: peers have been met then.
                try await clock.sleep(milliseconds: interval)
            } catch {
                // Cancelled.
                return
            }
            leases.note(reading, afterPauseOf: interval)
            guard leases.isSure else { continue }
            do {
                let (horizon, entries) = try await blocking { [inbox, replica] in
                    (
                        try inbox.stableHorizon(),
                        try replica.read { try JournalReader.lastSeq($0) - Horizon($0).removed }
                    )
                }
                let now = clock.steadyMilliseconds()
                guard !horizon.members.isEmpty, !inbox.acknowledgements.hasDoubtfulClock,
                    pace.isDue(horizon.vector, entries: entries, now: now)
                else { continue }
                let report = try await compact()
                pace.passed(horizon.vector, now: now)
                guard report.removed > 0 else { continue }
                logger.log(
                    .compacted,
                    "compaction removed \(report.removed) of \(report.entries) entries of the journal; \(report.freeBytes) bytes of the file are free"
                )
            } catch {
                guard !Task.isCancelled else { return }
                logger.log(
                    .compactionFailed, "The journal cannot be compacted: \(SyncError(wrapping: error))")
            }
        }
    }

    private var reading: LeaseClock.Reading {
        .init(wall: clock.wallMilliseconds(), steady: clock.steadyMilliseconds())
    }

    /// Makes the monitor that all followers share. It brings derived state and held rows up to date when the
    /// file has changed.
    private func lookout() -> FileMonitor {
        let source = FrameSource(replica: replica, limits: limits, encoding: .none, ends: inbox.ends)
        return FileMonitor(
            look: { [inbox, replica] last in
                let position = try await source.position()
                guard position != last else { return nil }
                return try await blocking {
                    let isComplete = try inbox.lookOnce()
                    try replica.tendLog(isQuiet: false)
                    return .init(position: position, vector: try inbox.vector(), isComplete: isComplete)
                }
            }, clock: clock, limits: limits, logger: logger)
    }

    /// Makes what keeps the log short. A file that cannot be checkpointed now is tried again later.
    private func trimmer() -> LogTrimmer {
        LogTrimmer(
            trim: { [replica, inbox] in
                (try? await blocking {
                    inbox.ends.keep()
                    return try replica.tendLog(isQuiet: true)
                }) ?? false
            },
            clock: clock, limits: limits)
    }

    /// Runs one full exchange with `peer`, in both directions.
    ///
    /// A peer that answers with "too many requests" is asked again for some minutes.
    ///
    /// - Throws: ``SyncError``; what was exchanged before the failure stays applied. What came of a
    ///   transaction without its end is kept, and the next exchange goes on behind it.
    public func syncOnce(_ peer: PeerConfiguration) async throws -> SyncReport {
        try await SyncError.wrapping {
            let report = try await self.session(with: peer).exchange()
            try await blocking { [inbox] in inbox.keepAcknowledgements() }
            return report
        }
    }

    /// Compares the rows of this replica with those of `peer`. Changes no rows.
    ///
    /// - Parameters:
    ///   - peer: The peer to exchange with.
    ///   - onProgress: Called at the start of each table and after each range of rows that was
    ///     compared.
    /// - Throws: ``SyncError`` when the comparison cannot be finished.
    public func verify(
        _ peer: PeerConfiguration, onProgress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> VerifyReport {
        try await SyncError.wrapping {
            let session = try await self.session(with: peer)
            _ = try await session.greet()
            return try await Verification(
                replica: self.replica, transport: session.transport, limits: self.limits, onProgress: onProgress
            ).run()
        }
    }

    /// Returns when this replica has all changes of `origin` up to `version`, or when the time is over.
    ///
    /// - Parameter milliseconds: The longest wait; 0 or less for one look.
    /// - Returns: Whether it has them.
    /// - Throws: `CancellationError`; errors of the file.
    package func wait(for origin: OriginID, version: Int64, milliseconds: Int64) async throws -> Bool {
        try await VersionWait(replica: replica, clock: clock, changes: changes)
            .run(origin, version, milliseconds: milliseconds)
    }

    /// Returns the status of each followed peer, in the order of the configuration.
    public func status() -> ReplicatorStatus { ReplicatorStatus(peers: followed.all.map(\.currentStatus)) }

    /// The directions of the followed peers that are not both, by their names.
    package var directions: [String: SyncDirection] { followed.directions }

    func session(with peer: PeerConfiguration) async throws -> SyncSession {
        if let exposure = peer.exposure { logger.log(.peerExposed, "\(exposure)", peer: peer.name) }
        var limits = limits
        limits.archive = limits.archive.ofOneExchange
        let transport = try await blocking { [limits] in
            try self.transport(to: peer, limits: limits, isPatient: true)
        }
        let patient = PatientTransport(base: transport, limits: limits, clock: clock, entropy: entropy)
        return SyncSession(replica: replica, inbox: inbox, transport: patient, limits: limits, clock: clock)
    }

    /// - Parameter isPatient: For a single exchange: see ``PatientStore``.
    private func transport(
        to peer: PeerConfiguration, limits: Limits, isPatient: Bool = false
    ) throws -> any Transport {
        switch peer.address {
        case .http: return try CurlTransport(peer, limits: limits)
        case .file(let path):
            return try LocalTransport.open(path: path, limits: limits, functions: inbox.functions, clock: clock)
        case .archive(let store):
            if let leaf = try replica.identity().leaf {
                throw SyncError(
                    .configuration,
                    "This replica is a leaf: it has only \(leaf.scope.list), and an archive keeps the changes of all tables",
                    hint: "Follow a daemon that has all tables, and let that one follow the archive.")
            }
            var limits = limits
            limits.archive = store.limits(limits.archive)
            let base = try store.open(tls: peer.tls, bytesPerSecond: peer.bytesPerSecond, limits: limits)
            return ArchiveTransport(
                isPatient ? PatientStore(base, limits: limits, clock: clock, entropy: entropy) : base,
                replica: replica, limits: limits, clock: clock, logger: logger, entropy: entropy)
        }
    }
}
