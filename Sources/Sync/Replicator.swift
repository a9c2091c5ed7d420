import Journal
import Logging

/// The door to replication: one replica and its peers.
///
/// ```swift
/// let replicator = try Replicator(replica: replica, peers: [PeerConfiguration("https://b:7707", token: token)])
/// try await replicator.run()   // until the task is cancelled
/// ```
public final class Replicator: Sendable {
    /// The answering side, for a server.
    public let endpoint: Endpoint
    /// The way in for the changes of others; the endpoint and the exchanges with peers use it.
    public let inbox: Inbox

    private let replica: Replica
    private let limits: Limits
    private let clock: any SyncClock
    /// Signals that the file may have changed.
    private let changes: @Sendable () -> AsyncStream<Void>
    /// nil when the signals come from elsewhere.
    private let watch: FileWatch?
    private let followers: [PeerFollower]
    private let logger: Logger

    /// - Parameters:
    ///   - functions: For tables whose conflicts a function decides (``MergePolicy/custom(_:)``); rows that need a function which is not
    ///     among them are held.
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
            replica: replica,
            transports: peers.map {
                try Self.transport(to: $0, limits: limits, functions: functions, clock: clock)
            },
            limits: limits, functions: functions, clock: clock, logger: logger, entropy: entropy, watch: watch
        ) { watch.changes }
    }

    /// With all that is outside of the process handed in.
    ///
    /// - Parameters:
    ///   - transports: The way to each peer that is followed.
    ///   - functions: For tables whose conflicts a function decides.
    ///   - watch: Stopped at the end.
    ///   - changes: Gives a stream that yields when the file may have changed.
    package init(
        replica: Replica, transports: [any Transport], limits: Limits,
        functions: ConflictFunctions = ConflictFunctions(), clock: any SyncClock, logger: Logger,
        entropy: @escaping @Sendable () -> UInt64, watch: FileWatch? = nil,
        changes: @escaping @Sendable () -> AsyncStream<Void>
    ) throws {
        self.replica = replica
        self.limits = limits
        self.clock = clock
        let inbox = try Inbox(replica: replica, limits: limits, functions: functions, logger: logger) {
            Stamp(milliseconds: clock.wallMilliseconds())
        }
        let endpoint = Endpoint(
            replica: replica, inbox: inbox, limits: limits, clock: clock, changes: changes)
        self.inbox = inbox
        self.changes = changes
        self.watch = watch
        self.logger = logger
        self.endpoint = endpoint
        followers = transports.map { transport in
            let session = SyncSession(
                replica: replica, inbox: inbox, transport: transport, limits: limits, clock: clock)
            return PeerFollower(session: session, pulls: endpoint.pulls, entropy: entropy, logger: logger)
        }
    }

    deinit { watch?.stop() }

    /// Follows all peers until the task is cancelled: what they write arrives by long poll, what is written here is
    /// pushed to those that do not poll. A batch that is being applied is finished first.
    ///
    /// A peer's failure is retried with backoff, shows in ``status()``, and delays no other peer.
    public func run() async {
        await warnOfOwnClock()
        await withDiscardingTaskGroup { group in
            var listeners: [AsyncStream<VersionVector>.Continuation] = []
            for follower in followers {
                let (vectors, listener) = AsyncStream.makeStream(
                    of: VersionVector.self, bufferingPolicy: .bufferingNewest(1))
                listeners.append(listener)
                group.addTask { await follower.run(vectors: vectors) }
            }
            group.addTask { await self.sweep() }
            await lookout().run(changes()) { vector in
                for listener in listeners { listener.yield(vector) }
            }
            group.cancelAll()
        }
    }

    /// Whoever wrote with a wrong clock does not notice by itself: reads and writes go on, only nobody gets them.
    private func warnOfOwnClock() async {
        do {
            let report = try await blocking { [replica, clock, limits] in
                try replica.read { db in
                    try ClockReport(db, now: Stamp(milliseconds: clock.wallMilliseconds()), limits: limits)
                }
            }
            guard report.isHeldBackByOthers else { return }
            logger.warning(
                """
                changes of this replica carry times \(report.ownAheadMilliseconds / 1_000) s ahead of its clock: \
                peers hold them back until then; `syncd clock` tells more
                """)
        } catch {
            logger.warning("The journal cannot be read: \(SyncError(wrapping: error))")
        }
    }

    /// Drops conflicts that are too old, and beginnings of transactions that nobody finishes, now and then.
    private func sweep() async {
        while !Task.isCancelled {
            do {
                try await blocking { [inbox] in
                    try inbox.dropOldConflicts()
                    try inbox.dropUnfinished()
                }
            } catch {
                logger.warning("What is too old cannot be dropped: \(SyncError(wrapping: error))")
            }
            do {
                try await clock.sleep(milliseconds: limits.sweepMilliseconds)
            } catch {
                // Cancelled.
                return
            }
        }
    }

    /// Brings derived state up to date when the file has changed: once for all followers.
    private func lookout() -> FileMonitor {
        let source = FrameSource(replica: replica, limits: limits, encoding: .none)
        return FileMonitor(
            look: { [inbox] last in
                let position = try await source.position()
                guard position != last else { return nil }
                let vector = try await blocking {
                    try inbox.bringBackHeldRows()
                    return try inbox.vector()
                }
                return .init(position: position, vector: vector)
            }, clock: clock, limits: limits, logger: logger)
    }

    /// One full exchange with `peer`, both ways.
    ///
    /// - Throws: ``SyncError``; what was exchanged before the failure stays.
    public func syncOnce(_ peer: PeerConfiguration) async throws -> SyncReport {
        try await wrapped { try await self.session(with: peer).exchange() }
    }

    /// Compares the rows here with those of `peer`; changes nothing.
    ///
    /// - Parameter onProgress: Hears of each stretch of rows that was compared.
    /// - Throws: ``SyncError`` when the comparison cannot be finished.
    public func verify(
        _ peer: PeerConfiguration, onProgress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> VerifyReport {
        try await wrapped {
            let session = try await self.session(with: peer)
            _ = try await session.greet()
            return try await Verification(
                replica: self.replica, transport: session.transport, limits: self.limits, onProgress: onProgress
            ).run()
        }
    }

    /// Mends the rows in which this replica and `peer` differ although both know the same: see ``ContentRepair``.
    ///
    /// - Parameter onProgress: Hears of each stretch of rows that was compared.
    /// - Throws: ``SyncError/Code/failed`` when they do not know the same: then a difference is no damage, and nothing is changed.
    public func repair(
        _ peer: PeerConfiguration, onProgress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> RepairReport {
        try await wrapped {
            let session = try await self.session(with: peer)
            _ = try await session.greet()
            let verification = Verification(
                replica: self.replica, transport: session.transport, limits: self.limits, onProgress: onProgress)
            var report = RepairReport(after: try await verification.run())
            while true {
                let found = report.after
                guard found.ours == found.theirs else {
                    throw SyncError(
                        .failed,
                        "\(peer.name) and this replica do not know the same changes, so a difference is no damage",
                        hint: "Exchange what is missing first: syncd sync; then verify again.")
                }
                guard !found.isEqual else {
                    try await self.endAlarm(with: session)
                    return report
                }
                report = try await blocking { [inbox = self.inbox, report] in
                    var report = report
                    try inbox.repair(found, into: &report)
                    return report
                }
                // What was announced reaches the peer like any change.
                _ = try await session.exchange()
                report.after = try await verification.run()
                if report.after.isEqual {
                    if report.after.ours == report.after.theirs { try await self.endAlarm(with: session) }
                    return report
                }
                // Only so many differences are listed at a time; what a round did not mend, the next would not.
                let isCut = found.tables.contains { $0.differences.count >= self.limits.listedDifferences }
                guard isCut, report.after.differenceCount < found.differenceCount else { return report }
            }
        }
    }

    /// Both were just seen to hold the same: what an earlier comparison found is not true any more.
    private func endAlarm(with session: SyncSession) async throws {
        let now = clock.wallMilliseconds()
        try await blocking { [replica] in
            try replica.write {
                try PeerTable.record(comparisonWith: session.transport.name, [], milliseconds: now, $0)
            }
        }
    }

    /// How the followed peers are doing, in the order of the configuration.
    public func status() -> ReplicatorStatus { ReplicatorStatus(peers: followers.map(\.currentStatus)) }

    private func session(with peer: PeerConfiguration) async throws -> SyncSession {
        let transport = try await blocking { [limits, clock, inbox] in
            try Replicator.transport(to: peer, limits: limits, functions: inbox.functions, clock: clock)
        }
        return SyncSession(replica: replica, inbox: inbox, transport: transport, limits: limits, clock: clock)
    }

    private static func transport(
        to peer: PeerConfiguration, limits: Limits, functions: ConflictFunctions, clock: any SyncClock
    ) throws -> any Transport {
        switch peer.address {
        case .http: try CurlTransport(peer, limits: limits)
        case .file(let path):
            try LocalTransport.open(path: path, limits: limits, functions: functions, clock: clock)
        }
    }

    private func wrapped<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            throw SyncError(wrapping: error)
        }
    }
}
