import GRDB
import Journal

/// The answering side of replication: message in, message out. It knows neither sockets nor HTTP.
public struct Endpoint: Sendable {
    let replica: Replica
    let inbox: Inbox
    let limits: Limits
    let clock: any SyncClock
    private let changes: @Sendable () -> AsyncStream<Void>

    /// The replicas whose pulls are waiting here for news.
    package let pulls: WaitingPullers

    /// Counts the changes that come in and go out.
    package let meter = ExchangeMeter()

    /// The copy of the file that new replicas are made from.
    let snapshots: SnapshotKeeper
    /// The copies that leaves are made from.
    let leafSnapshots: LeafSnapshots

    /// - Parameters:
    ///   - changes: Returns a stream that yields when the file may have changed; see ``FileWatch``.
    package init(
        replica: Replica, inbox: Inbox, limits: Limits = .standard, clock: any SyncClock = SystemClock(),
        changes: @escaping @Sendable () -> AsyncStream<Void>
    ) {
        self.replica = replica
        self.inbox = inbox
        self.limits = limits
        self.clock = clock
        self.changes = changes
        pulls = WaitingPullers(clock: clock)
        snapshots = SnapshotKeeper(replica: replica, limits: limits, clock: clock)
        leafSnapshots = LeafSnapshots(replica: replica, limits: limits, clock: clock)
    }

    /// Answers with this replica's origin and what it knows. The replica takes a new identity first, if what
    /// the caller knows of its history proves that it needs one.
    ///
    /// A caller with the same origin gets an answer too. It is this very file or a copy of it, and the
    /// instance number in the answer tells it which.
    ///
    /// - Throws: ``SyncError``: `otherCluster`; `forbidden` when this replica is a leaf; `fork` when the caller knows
    ///   more of this replica than it holds itself, or when the replica has taken too many new identities; `storage`
    ///   when the file was moved away; errors of the file.
    public func hello(_ theirs: Hello) async throws -> Hello { try await hello(theirs, in: nil) }

    /// - Parameter scope: The tables that the caller may know; nil for all.
    func hello(_ theirs: Hello, in scope: TableScope?) async throws -> Hello {
        let mine = try await blocking { [inbox] in
            try inbox.ensureOwnIdentity()
            let own = try inbox.replica.identity()
            try LeafScope.checkServes(own)
            guard theirs.cluster.utf8.elementsEqual(own.cluster.utf8) else {
                return try hello(about: theirs, in: scope)
            }
            if theirs.origin != own.origin { inbox.hear(theirs) }
            let claim = HistoryEvidence(theirs, of: own.origin)
            if theirs.origin != own.origin {
                _ = try inbox.weigh(claim)
            } else if !claim.samples.isEmpty {
                // The same file has the same history: only a copy can hold other changes.
                _ = try inbox.weigh(HistoryEvidence(version: 0, samples: claim.samples), reason: .cloned)
            }
            return try hello(about: theirs, in: scope)
        }
        if theirs.origin == mine.origin {
            try Handshake.check(cluster: theirs.cluster, mine: mine, peer: "The caller")
        } else {
            try Handshake.check(mine: mine, theirs: theirs, peer: "The caller")
        }
        return mine
    }

    /// Checks everything that can be refused before an answer begins.
    ///
    /// The replica takes a new identity first, if what the caller knows of its history proves that it needs
    /// one.
    ///
    /// - Throws: ``SyncError``: `otherCluster`; `selfPeer` for a caller with the same origin; `forbidden` when this
    ///   replica is a leaf, and when the tables of the request refer to others; `fork` when the replica has taken too
    ///   many new identities; `behindHorizon` when the caller lacks what is compacted here; `storage` when the file
    ///   was moved away; errors of the file.
    public func check(_ request: PullRequest) async throws {
        let mine = try await blocking { [inbox] in
            try inbox.ensureOwnIdentity()
            try LeafScope.checkServes(inbox.replica.identity())
            if let scope = request.scope { try LeafScope.checkReferences(scope, inbox.replica) }
            let mine = try hello(about: nil)
            let claim = HistoryEvidence(version: request.have[mine.origin], samples: [])
            let isPeer = request.origin != mine.origin && request.cluster.utf8.elementsEqual(mine.cluster.utf8)
            guard isPeer, try inbox.weigh(claim) != nil else { return mine }
            return try hello(about: nil)
        }
        try Handshake.check(cluster: request.cluster, origin: request.origin, mine: mine, peer: "The caller")
        try await blocking { [replica] in try replica.read { try FrameSource.checkHorizon(request.have, $0) } }
        // What is too large may be of a table that the caller must not know.
        guard request.scope == nil else { return }
        if let refusal = inbox.unsendable.refusal(have: request.have, vector: mine.vector) { throw refusal }
    }

    /// Sends the changes that the request does not have. If there are none and the request allows it, waits
    /// for news.
    ///
    /// - Parameters:
    ///   - request: The request of a peer.
    ///   - send: Receives frames of changes, one after another. The caller sends the last frame of
    ///     the stream.
    /// - Throws: ``SyncError``, and what `send` throws.
    public func pull(
        _ request: PullRequest, send: (Frame) async throws -> Void
    ) async throws -> PullEnd {
        try await check(request)
        return try await pulls.serve(request) { try await answer(request, send: send) }
    }

    private func answer(_ request: PullRequest, send: (Frame) async throws -> Void) async throws -> PullEnd {
        let source = FrameSource(
            replica: replica, limits: limits, encoding: .best(of: request.encodings), keeper: inbox.keeper,
            ends: inbox.ends, unsendable: request.scope == nil ? inbox.unsendable : nil, scope: request.scope)
        let wanted = request.maxBytes > 0 ? min(request.maxBytes, limits.bytesPerPull) : limits.bytesPerPull
        let wait = Int64(min(max(request.waitSeconds, 0), limits.longPollSeconds))
        let deadline = clock.steadyMilliseconds() + wait * 1_000
        // Subscribed before the first read, so that no change falls between the read and the wait.
        let news = changes()
        var have = request.have
        var sent = 0
        while true {
            let portion = try await source.portion(after: have, bytes: min(wanted - sent, limits.bytesPerPush))
            for frame in portion.frames { try await send(frame) }
            // Their memory counts as used until they are sent.
            withExtendedLifetime(portion.reservation) {}
            meter.sent(portion.changes)
            have = portion.have
            sent += portion.bytes
            if portion.more {
                if sent >= wanted { return try await end(portion, more: true, of: request) }
                continue
            }
            guard sent == 0, portion.frames.isEmpty else {
                // The next request is refused.
                return try await end(portion, more: portion.refusal != nil, of: request)
            }
            if let refusal = portion.refusal { throw refusal }
            // A signal may mean nothing: the file watch cannot tell what was written.
            repeat {
                let left = deadline - clock.steadyMilliseconds()
                guard left > 0 else { return try await end(portion, more: false, of: request) }
                let began = clock.steadyMilliseconds()
                let due = try await blocking { [inbox] in try inbox.nextDue() }
                try await clock.wait(for: news, milliseconds: min(left, due ?? left))
                // Changes that were deferred here have become due. The answer tells the caller, who sends
                // them.
                if let due, clock.steadyMilliseconds() - began >= due {
                    return try await end(portion, more: false, of: request)
                }
            } while try await source.position() == portion.position
        }
    }

    private func end(_ portion: FrameSource.Portion, more: Bool, of request: PullRequest) async throws -> PullEnd {
        let heldBack = try await blocking { [inbox] in try inbox.deferred(from: request.have) }
        return PullEnd(vector: portion.vector, more: more, heldBack: heldBack)
    }

    /// Answers a question of a comparison of the content, from one snapshot. Changes nothing, unless it asks for
    /// what programs wrote past capture.
    ///
    /// - Throws: ``SyncError``: `otherCluster`; `notFound` when the table is not tracked here, or has another
    ///   key or not all of the columns; errors of the file.
    public func digest(_ request: DigestRequest) async throws -> DigestReply {
        // A whole hello would cost more than most answers.
        let mine = try await blocking { [replica] in try replica.identity() }
        try LeafScope.checkServes(mine)
        guard request.cluster.utf8.elementsEqual(mine.cluster.utf8) else {
            throw SyncError(.otherCluster, "The caller belongs to another cluster than \(mine.cluster)")
        }
        return try await blocking { [replica, limits] in
            if case .recapture(let shape, let keys) = request.question { try recapture(shape, keys: keys) }
            return try replica.read { try TableDigests($0, limits: limits).answer(request.question) }
        }
    }

    /// - Parameters:
    ///   - caller: The replica whose history the answer has samples of, as far as both know it; nil for none.
    ///   - scope: The tables of whose changes there are samples; nil for all.
    private func hello(about caller: Hello?, in scope: TableScope? = nil) throws -> Hello {
        try replica.read { db in
            var hello = try Hello(db, wallMilliseconds: clock.wallMilliseconds())
            hello.acknowledgements = try inbox.acknowledgements.all(db)
            if let caller {
                try hello.addSamples(of: caller.origin, upTo: caller.vector[caller.origin], in: scope, db)
            }
            return hello
        }
    }
}

extension Hello {
    /// The hello of the replica that `db` belongs to.
    init(_ db: Database, wallMilliseconds: Int64) throws {
        let reader = try JournalReader(db)
        self.init(
            cluster: reader.identity.cluster, origin: reader.identity.origin,
            formatVersion: Int(clamping: reader.identity.format), vector: reader.vector(),
            wallMilliseconds: wallMilliseconds)
        // Older releases send an empty instance, so this one never does.
        instance = reader.identity.instance ?? [0]
        horizon = try Horizon(db).vector
        refused = try RefusedChanges(db)?.first ?? VersionVector()
        finished = try FinishedOrigins.all(db).prefix(Limits.standard.acknowledgementsPerHello).map(\.self)
    }

    /// Adds samples of the history of `origin` as it is here, up to a version that both sides have.
    ///
    /// - Parameter scope: The tables of whose changes there are samples; nil for all.
    mutating func addSamples(
        of origin: OriginID, upTo version: Int64, in scope: TableScope? = nil, _ db: Database
    ) throws {
        samples = try JournalReader(db).samples(of: origin, upTo: version, in: scope)
        sampledOrigin = origin
    }
}
