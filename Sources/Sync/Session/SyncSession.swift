import Journal
import Logging

/// The steps of an exchange with one peer. A session has no state besides the file's, so steps may run at the
/// same time.
package struct SyncSession: Sendable {
    let replica: Replica
    let inbox: Inbox
    let transport: any Transport
    let limits: Limits
    let clock: any SyncClock
    let meter: ExchangeMeter

    package init(
        replica: Replica, inbox: Inbox, transport: any Transport, limits: Limits, clock: any SyncClock,
        meter: ExchangeMeter = ExchangeMeter()
    ) {
        self.replica = replica
        self.inbox = inbox
        self.transport = transport
        self.limits = limits
        self.clock = clock
        self.meter = meter
    }

    /// Exchanges hellos. If this replica turns out to need a new identity, it takes one and says hello again.
    ///
    /// - Throws: ``SyncError`` when the two must not exchange changes; see ``Handshake``.
    func greet() async throws -> Hello {
        var theirs = try await introduce()
        // One new identity per contact: a peer that still contradicts this replica's history is refused.
        if try await rekeyIfNeeded(theirs) { theirs = try await introduce() }
        let mine = try await blocking { [theirs] in try self.hello(about: theirs.origin) }
        try Handshake.check(mine: mine, theirs: theirs, peer: transport.name)
        try await blocking { [inbox, theirs] in inbox.hear(theirs) }
        return theirs
    }

    private func introduce() async throws -> Hello {
        let mine = try await blocking { [inbox, transport] in
            try inbox.ensureOwnIdentity()
            // The replica that answered there last is probably the one that answers now.
            return try self.hello(about: inbox.peers.origin(of: transport.name))
        }
        return try await transport.hello(mine)
    }

    /// Takes a new identity if the peer's hello proves that this replica needs one.
    ///
    /// - Returns: True when it did.
    private func rekeyIfNeeded(_ theirs: Hello) async throws -> Bool {
        let own = try await blocking { [replica] in try replica.identity() }
        guard theirs.cluster.utf8.elementsEqual(own.cluster.utf8) else { return false }
        let claim = HistoryEvidence(theirs, of: own.origin)
        guard theirs.origin == own.origin else {
            return try await blocking { [inbox] in try inbox.weigh(claim) != nil }
        }
        guard try await isCopy(own.origin) else { return false }
        return try await blocking { [inbox] in try inbox.giveWay(to: claim, from: own.origin) != nil }
    }

    /// Tells a copy of this file from the file itself under another address: writes a random number to this
    /// file, and asks for the number in the peer's file.
    private func isCopy(_ own: OriginID) async throws -> Bool {
        let (mine, number) = try await blocking { [replica] in
            let number = try replica.write { try FileBinding.renewInstance($0) }
            return (try self.hello(about: own), number)
        }
        let theirs = try await transport.hello(mine)
        // A peer with a new origin since then is a copy. An older release sends no number, and may be this
        // very file.
        return theirs.origin != own || !theirs.instance.isEmpty && theirs.instance != number
    }

    /// Sends one request for the changes that are not known here. Everything in the answer is applied when
    /// this returns.
    ///
    /// - Parameter theirs: What the peer last said that it has.
    /// - Throws: ``SyncError``; what arrived before the failure stays applied. `clock_skew` when the peer
    ///   sent changes and none could be accepted: the same request would bring the same changes again.
    func pull(
        waitSeconds: Int, from theirs: VersionVector = VersionVector()
    ) async throws -> (end: PullEnd, tally: FrameIntake.Tally) {
        try await pullOrRefusal(waitSeconds: waitSeconds, from: theirs).get()
    }

    private typealias Pulled = (end: PullEnd, tally: FrameIntake.Tally)

    /// - Returns: The error of a peer that has nothing left that it can send, as a failure.
    private func pullOrRefusal(waitSeconds: Int, from theirs: VersionVector) async throws -> Result<Pulled, SyncError> {
        let before = inbox.lastRekey
        do {
            return try await pullOnce(waitSeconds: waitSeconds, from: theirs)
        } catch let error as SyncError where error.code == .gap && inbox.lastRekey != before {
            // With a new identity, this replica knows less of its old origin than the request said.
            return try await pullOnce(waitSeconds: 0, from: theirs)
        }
    }

    private func pullOnce(waitSeconds: Int, from theirs: VersionVector) async throws -> Result<Pulled, SyncError> {
        let sent = await transport.sends(theirs)
        let (identity, have) = try await blocking { [replica, inbox] in
            (try replica.identity(), try inbox.covered(from: sent))
        }
        let request = PullRequest(
            cluster: identity.cluster, origin: identity.origin, have: have, waitSeconds: waitSeconds,
            maxBytes: limits.bytesPerPull, scope: identity.leaf?.scope)
        let intake = FrameIntake(inbox: inbox, limits: limits)
        let end: PullEnd
        do {
            end = try await transport.pull(request) { [meter, clock] in try await intake.take($0, meter, clock) }
        } catch let error as SyncError where error.code == .tooLarge {
            // The peer's refusal comes before the first frame; another one is this side's.
            guard await intake.tally.frames == 0 else { throw error }
            return .failure(error)
        }
        try await intake.finish(theirs: end.vector)
        let tally = await intake.tally
        if tally.frames > 0 || end.more {
            let sent = await transport.sends(end.vector.merged(with: theirs))
            let after = try await blocking { [inbox] in try inbox.covered(from: sent) }
            guard after != have else {
                throw SyncError(
                    .clockSkew, "\(transport.name) sent changes, but none of them can be taken yet",
                    hint: "Their stamps may lie too far ahead of this machine's clock; compare the clocks.")
            }
        }
        return .success((end, tally))
    }

    /// Sends the changes that `have` does not cover.
    ///
    /// - Returns: What the peer has durably afterwards, and what it defers.
    /// - Throws: ``SyncError``; what the peer acknowledged before the failure stays with it.
    func push(lacking have: VersionVector) async throws -> Pushed {
        let (own, ours, given) = try await blocking { [replica] in
            try replica.read { db in
                let reader = try JournalReader(db)
                return (reader.identity.origin, reader.vector(), reader.given)
            }
        }
        guard let given else { return try await push(lacking: have, of: own, onlyItsOwn: false) }
        var sent = Pushed(theirs: have)
        sent.spared = VersionVector(ours.entries.filter { !given.contains($0.origin) })
        for origin in given {
            let pushed = try await push(lacking: sent.theirs, of: origin, onlyItsOwn: true)
            sent.theirs.merge(pushed.theirs)
            sent.heldBack.merge(pushed.heldBack)
            sent.changes += pushed.changes
            sent.bytes += pushed.bytes
        }
        return sent
    }

    /// - Parameters:
    ///   - origin: Who the push says that it is.
    ///   - onlyItsOwn: True to send changes of that origin alone.
    private func push(lacking have: VersionVector, of origin: OriginID, onlyItsOwn: Bool) async throws -> Pushed {
        let source = FrameSource(
            replica: replica, limits: limits, encoding: .zstd, keeper: inbox.keeper, ends: inbox.ends,
            unsendable: inbox.unsendable)
        let identity = try await blocking { [replica] in try replica.identity() }
        let ours = try await blocking { [inbox] in try inbox.vector() }
        let opening = Frame(body: .open(cluster: identity.cluster, origin: origin))
        let wanted = onlyItsOwn ? [origin] : await transport.wanted(ours, of: origin)
        var have = have
        var sent = Pushed(theirs: have)
        var knowsBeginnings = false
        while true {
            let portion = try await source.portion(after: have, of: wanted, bytes: limits.bytesPerPush)
            sent.spared.merge(portion.spared)
            if portion.more, !knowsBeginnings {
                knowsBeginnings = true
                let before = have
                have.merge(try await beginnings(opening))
                if have != before { continue }
            }
            guard !portion.frames.isEmpty else {
                if let refusal = portion.refusal { throw refusal }
                sent.theirs = have
                return sent
            }
            let reply = try await transport.push(
                [opening] + portion.frames + [Frame(body: .end(vector: portion.vector, more: portion.more))])
            // Their memory counts as used until they are sent.
            withExtendedLifetime(portion.reservation) {}
            sent.changes += portion.changes
            meter.sent(portion.changes)
            sent.bytes += portion.bytes
            // Changes that the peer defers are not in its vector; they count as sent.
            let before = have
            have.merge(reply.vector)
            let carried = portion.frames.reduce(into: VersionVector()) { $0.merge($1.coveredVersions) }
            have.merge(carried)
            sent.heldBack.merge(reply.heldBack)
            guard have != before else {
                throw SyncError(.failed, "\(transport.name) accepted a push without making progress")
            }
            if !portion.more {
                // Not what the peer was thought to have before: it may have lost some of that since.
                guard reply.vector.merged(with: sent.heldBack).covers(carried) else {
                    throw SyncError(
                        .clockSkew, "\(transport.name) did not take all that it was sent",
                        hint: "Its clock may be behind this one's; compare the clocks.")
                }
                if let refusal = portion.refusal { throw refusal }
                sent.theirs = reply.vector
                return sent
            }
        }
    }

    /// What the peer has durably, with the beginnings of transactions. A hello tells only of whole ones. So
    /// an exchange that was cut off in a large transaction goes on where it was.
    private func beginnings(_ opening: Frame) async throws -> VersionVector {
        try await transport.push([opening, Frame(body: .end(vector: VersionVector(), more: true))]).vector
    }

    /// How long the peer may wait for news before it answers a pull, in seconds. Deferred changes are asked
    /// for again when they are due.
    func pollSeconds() async throws -> Int {
        guard let due = try await blocking({ [inbox] in try inbox.nextDue() }) else { return limits.longPollSeconds }
        return Int(min(Int64(limits.longPollSeconds), (due + 999) / 1_000))
    }

    /// The result of a push.
    struct Pushed: Sendable, Hashable {
        /// What the peer has durably.
        var theirs: VersionVector
        /// What the peer has seen and defers.
        var heldBack = VersionVector()
        /// What the peer does not get from here: others bring it, or, for a leaf, nothing is given on.
        var spared = VersionVector()
        var changes = 0
        var bytes = 0
    }

    /// Runs a full exchange in both directions, until neither side has news for the other. Then it compares the
    /// content, if that is due.
    ///
    /// - Throws: ``SyncError``; what was exchanged before the failure stays, also the beginning of a
    ///   transaction.
    package func exchange() async throws -> SyncReport {
        var report = try await recordedExchange()
        guard report.isLevel, case .recaptured = await compared(&report, recaptures: true) else { return report }
        report.add(try await recordedExchange())
        if report.isLevel { _ = await compared(&report, recaptures: false) }
        return report
    }

    private func recordedExchange() async throws -> SyncReport {
        var status = PeerStatus(name: transport.name)
        do {
            let report = try await exchange(&status)
            status.origin = report.peer
            status.vector = report.theirs
            status.lastContactMilliseconds = clock.wallMilliseconds()
            try await record(status)
            return report
        } catch {
            status.lastError = SyncError(wrapping: error)
            // The next exchange may be that of another process, and goes on behind what came of a
            // transaction.
            try? await blocking { [inbox] in try inbox.makePendingDurable() }
            try? await record(status)
            throw error
        }
    }

    private func record(_ status: PeerStatus) async throws {
        try await blocking { [inbox] in try inbox.peers.record(status) }
    }

    private func exchange(_ status: inout PeerStatus) async throws -> SyncReport {
        _ = try await blocking { [inbox] in try inbox.bringBackHeldRows() }
        let hello = try await greet()
        status.origin = hello.origin
        var report = SyncReport(peer: hello.origin)
        report.theirs = hello.vector
        var theirHeldBack = VersionVector()
        var refusal: SyncError?
        while true {
            switch try await pullOrRefusal(waitSeconds: 0, from: report.theirs) {
            case .failure(let error): refusal = error
            case .success(let (end, tally)):
                report.add(tally)
                report.theirs = end.vector
                theirHeldBack = end.heldBack
                if end.more { continue }
            }
            break
        }
        let pushed = try await push(lacking: report.theirs.merged(with: theirHeldBack))
        report.heldBackThere = pushed.heldBack.isEmpty ? theirHeldBack : pushed.heldBack
        let sent = await transport.sends(report.theirs)
        report.heldBackHere = try await blocking { [inbox] in try inbox.deferred(from: sent) }
        report.pushedChanges = pushed.changes
        report.pushedBytes = pushed.bytes
        if pushed.changes > 0 { report.theirs.merge(pushed.theirs) }
        // What the peer cannot send keeps nothing of this replica from it.
        if let refusal { throw refusal }
        // The peer learns that this replica has merged its changes, and the other way round.
        if report.pulledChanges > 0 || pushed.changes > 0 { _ = try await greet() }
        try await transport.finish()
        report.ours = try await blocking { [inbox] in try inbox.vector() }
        return report
    }

    /// - Parameter peer: The replica whose history the hello has samples of; nil when the peer is not known.
    private func hello(about peer: OriginID?) throws -> Hello {
        try replica.read { db in
            var hello = try Hello(db, wallMilliseconds: clock.wallMilliseconds())
            hello.acknowledgements = try inbox.acknowledgements.all(db)
            if let peer { try hello.addSamples(of: peer, upTo: .max, db) }
            return hello
        }
    }
}
