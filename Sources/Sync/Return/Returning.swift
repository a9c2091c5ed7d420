import Journal
import Logging

/// Brings the replica back by itself when a peer says that it is behind the horizon, or has merged what is refused here.
///
/// There is one for a daemon: its followers ask for it, and one attempt runs at a time.
actor Returning {
    private let inbox: Inbox
    private let pulls: WaitingPullers
    private let limits: Limits
    private let clock: any SyncClock
    private let entropy: @Sendable () -> UInt64
    private let logger: Logger
    private var isRunning = false
    /// When the next attempt may start, in steady milliseconds.
    private var next: Int64 = .min
    /// Since when it has been the turn of peers, in steady milliseconds.
    private var turns: [OriginID: Int64] = [:]

    /// - Parameter pulls: What replicas have asked for here.
    init(
        _ inbox: Inbox, pulls: WaitingPullers, limits: Limits, clock: any SyncClock,
        entropy: @escaping @Sendable () -> UInt64, logger: Logger
    ) {
        self.inbox = inbox
        self.pulls = pulls
        self.limits = limits
        self.clock = clock
        self.entropy = entropy
        self.logger = logger
    }

    /// Makes an attempt, unless another one runs, or one has failed a short while ago.
    ///
    /// - Parameters:
    ///   - transport: The way to that peer.
    ///   - theirs: What that peer has.
    ///   - peer: The origin of that peer.
    ///   - turn: Whose turn it is; nil for a replica that lacks what is compacted at the peer.
    /// - Returns: True when the replica is back.
    func attempt(
        _ transport: any Transport, _ theirs: VersionVector, _ peer: OriginID, _ turn: ReturnTurn? = nil
    ) async -> Bool {
        let now = clock.steadyMilliseconds()
        guard limits.returnsByItself, !isRunning, now >= next, let source = transport.snapshots else { return false }
        isRunning = true
        defer { isRunning = false }
        do {
            guard let offered = await transport.offered(theirs) else { return false }
            if transport.isArchive {
                guard try await blocking({ [inbox] in try Returning.brings(offered, to: inbox.replica) }) else {
                    return false
                }
            } else {
                var turn = turn
                if turn == nil {
                    turn = try await blocking { [inbox] in
                        try ReturnTurn(inbox.replica, theirs: offered, peer: peer)
                    }
                }
                guard turn == .here || hasWaited(for: peer, now) else { return false }
            }
            var back = Return(inbox, from: source)
            back.limits = limits
            back.wantsNews = true
            back.clock = clock
            back.entropy = entropy
            let report = try await back.run()
            turns = [:]
            logger.log(.returned, "\(report.sentence)", peer: transport.name)
            return true
        } catch {
            guard !Task.isCancelled else { return false }
            next = clock.steadyMilliseconds() + limits.returnRetryMilliseconds
            logger.log(
                .returnFailed,
                "The replica lacks what its peers have compacted, and cannot come back by the content of \(transport.name): \(SyncError(wrapping: error))",
                peer: transport.name)
            return false
        }
    }

    /// True when the snapshot of an archive has something that this replica lacks. The newest one may be its own: then
    /// it is others that have to come back.
    static func brings(_ offered: VersionVector, to replica: Replica) throws -> Bool {
        try replica.read { try !KnownVersions($0).vector.covers(offered) }
    }

    /// True when it has long been the turn of a peer that asks for nothing here: it follows nobody, or cannot get here.
    private func hasWaited(for peer: OriginID, _ now: Int64) -> Bool {
        let since = turns[peer] ?? now
        turns[peer] = since
        let latest = max(since, pulls.lastPull(of: peer) ?? since)
        return now - latest >= limits.returnTurnMilliseconds
    }
}

extension Transport {
    /// What a replica has that gets its content by this transport; nil for an archive without a snapshot.
    ///
    /// - Parameter vector: What the peer has.
    func offered(_ vector: VersionVector) async -> VersionVector? {
        if let patient = self as? PatientTransport { return await patient.base.offered(vector) }
        guard let archive = self as? ArchiveTransport else { return vector }
        return await archive.offered
    }

    /// True for an archive, which gives a snapshot of some time, and not what it has now.
    var isArchive: Bool { (self as? PatientTransport)?.base.isArchive ?? (self is ArchiveTransport) }

    /// The snapshots of the peer; nil when there are none by this transport.
    var snapshots: (any SnapshotSource)? {
        if let patient = self as? PatientTransport { return patient.base.snapshots }
        if let archive = self as? ArchiveTransport { return ArchiveSnapshots(archive.store) }
        return self as? any SnapshotSource
    }
}

extension Return.Report {
    /// What was done, for people and logs.
    package var sentence: String {
        "The replica was away for longer than its lease, or had compacted what another one had not seen. It has the "
            + "content of its peer now, and \(written) changes "
            + "for the \(unseen) that the others had not seen; in \(contested) rows, others had changed the same, and "
            + "the ledger has both versions. The file as it was is \(kept)"
    }
}
