import Journal
import Logging
import Synchronization

/// Follows one peer until it is cancelled: performs the effects of its ``FollowState`` and reports their
/// results as events.
final class PeerFollower: Sendable {
    private let session: SyncSession
    private let pulls: WaitingPullers
    private let entropy: @Sendable () -> UInt64
    private let logger: Logger
    private let direction: SyncDirection
    /// Brings the replica back when it is behind the horizon of a peer, and tells whether it did; nil for never.
    /// It gets the way to the peer, what that has, its origin, and whose turn it is, if that is known.
    typealias ComingBack = @Sendable (any Transport, VersionVector, OriginID, ReturnTurn?) async -> Bool

    private let comingBack: ComingBack?
    private let status: Mutex<PeerStatus>

    /// What the peer last said that it has.
    private let theirs = Mutex(VersionVector())

    /// What the peer last said that is compacted there.
    private let theirHorizon = Mutex(VersionVector())

    /// What a hello tells that others wait for.
    private struct News: Hashable {
        /// What this replica has merged.
        let vector: VersionVector
        /// What it refuses for ever; nil for nothing.
        let refused: RefusedChanges?

        init(_ replica: Replica) throws {
            (vector, refused) = try replica.read { (try KnownVersions($0).vector, try RefusedChanges($0)) }
        }
    }

    /// The last hello: what it told, and when that was, in steady milliseconds.
    private let greeted = Mutex<(news: News, time: Int64)?>(nil)

    /// The last failures of the lanes that intervention has to end. Success of the other lane does not end them.
    private let lasting = Mutex<[FollowState.Lane: SyncError]>([:])

    /// When the status was last noted, in steady milliseconds.
    private let recorded = Mutex<Int64?>(nil)

    init(
        session: SyncSession, pulls: WaitingPullers, direction: SyncDirection = .both, comingBack: ComingBack? = nil,
        entropy: @escaping @Sendable () -> UInt64, logger: Logger
    ) {
        self.session = session
        self.pulls = pulls
        self.entropy = entropy
        self.logger = logger
        self.direction = direction
        self.comingBack = comingBack
        status = Mutex(PeerStatus(name: session.transport.name))
    }

    var transport: any Transport { session.transport }

    var currentStatus: PeerStatus {
        var status = status.withLock { $0 }
        status.storeRequests = transport.storeRequests
        return status
    }

    /// Requests a comparison of the content. It runs beside the exchange, because it may take long and must
    /// not delay changes.
    private let comparisons = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// How soon the next changes are asked for, or sent.
    private let pulling = Mutex(Pace.applying)
    private let pushing = Mutex(Pace.applying)

    /// When the next attempt at a comparison may start, in steady milliseconds.
    private let nextComparison = Mutex<Int64>(.min)

    /// True from when rows became changes until the comparison after it has a result.
    private let hasRecaptured = Mutex(false)

    /// Follows the peer until the task is cancelled, or the peer turns out to be this replica.
    ///
    /// - Parameter vectors: Yields what the local file holds, at the start and after each change.
    func run(vectors: AsyncStream<VersionVector>) async {
        let (events, inbox) = AsyncStream.makeStream(of: FollowState.Event.self)
        await withDiscardingTaskGroup { group in
            var state = FollowState(limits: session.limits, direction: direction)
            group.addTask { for await vector in vectors { inbox.yield(.changed(vector)) } }
            group.addTask { for await _ in self.comparisons.stream { await self.compare() } }
            inbox.yield(.started)
            for await event in events {
                for effect in state.handle(event, entropy: entropy()) {
                    if effect == .giveUp {
                        group.cancelAll()
                        return
                    }
                    group.addTask { await self.perform(effect, events: inbox) }
                }
            }
            group.cancelAll()
        }
        // A transport that gathers nothing has left nothing open.
        guard session.transport.gatheringMilliseconds > 0 else { return }
        await withoutCancellation { [session] in try? await session.transport.finish() }
    }

    private func perform(
        _ effect: FollowState.Effect, events: AsyncStream<FollowState.Event>.Continuation
    ) async {
        switch effect {
        case .greet:
            await attempt(.pull, events) {
                let hello = try await greet()
                // The peer's latest answer replaces the earlier one even when it holds less: it may have been
                // created again.
                status.withLock { status in
                    status.origin = hello.origin
                    status.vector = hello.vector
                }
                theirs.withLock { $0 = hello.vector }
                compareClocks(hello)
                if !direction.pulls { await succeeded(.pull, vector: hello.vector) }
                return .greeted(hello.vector)
            }
        case .pull(let waits):
            if waits { await rest(pulling.withLock { $0.delay(at: session.clock.steadyMilliseconds()) }) }
            await attempt(.pull, events) {
                try await acknowledgeIfDue()
                let (end, tally) = try await session.pull(
                    waitSeconds: waits ? session.pollSeconds() : 0, from: theirs.withLock { $0 })
                theirs.withLock { $0 = end.vector }
                status.withLock { $0.pulledChanges += tally.applied }
                if tally.applied > 0 { committed(pulling) }
                if let turn = try await turn(after: end), await comeBack(turn) {
                    throw SyncError(.busy, "The replica has got the content of \(session.transport.name)")
                }
                await succeeded(.pull, vector: end.vector)
                if !end.more { comparisons.continuation.yield() }
                return .pulled(end.vector.merged(with: end.heldBack), more: end.more)
            }
        case .push(let lacks):
            let pace = pushing.withLock { $0.delay(at: session.clock.steadyMilliseconds()) }
            await rest(max(pace, session.transport.gatheringMilliseconds))
            await attempt(.push, events) {
                var theirs = lacks
                if let origin = currentStatus.origin {
                    if pulls.isWaiting(origin) {
                        let vector = try await blocking { [session] in
                            try session.replica.read { try KnownVersions($0).vector }
                        }
                        return .leftToPull(vector)
                    }
                    // Its pulls tell earlier than its answers what it has got by them.
                    theirs.merge(pulls.have(of: origin))
                }
                let pushed = try await session.push(lacking: theirs)
                status.withLock { $0.pushedChanges += pushed.changes }
                if pushed.changes > 0 { committed(pushing) }
                await succeeded(.push, vector: pushed.theirs)
                return .pushed(pushed.theirs.merged(with: pushed.spared), deferred: pushed.heldBack)
            }
        case .rest(let lane, let milliseconds):
            do {
                try await session.clock.sleep(milliseconds: milliseconds)
                events.yield(.rested(lane))
            } catch {
                // Cancelled: the loop that handles events has ended.
            }
        case .giveUp:
            break
        }
    }

    private func greet() async throws -> Hello {
        let news = try await blocking { [session] in try News(session.replica) }
        let hello = try await session.greet()
        theirHorizon.withLock { $0 = hello.horizon }
        greeted.withLock { $0 = (news, session.clock.steadyMilliseconds()) }
        return hello
    }

    /// Tells the peer what this replica has merged since the last hello, and what it refuses, at a bounded rate, and from
    /// time to time that it is alive.
    private func acknowledgeIfDue() async throws {
        let now = session.clock.steadyMilliseconds()
        guard let last = greeted.withLock({ $0 }), now - last.time >= session.limits.acknowledgementMilliseconds else {
            return
        }
        if now - last.time < session.limits.aliveMilliseconds {
            guard try await blocking({ [session] in try News(session.replica) }) != last.news else { return }
        }
        _ = try await greet()
    }

    private func rest(_ milliseconds: Int64) async {
        // Cancelled: what follows fails, and the loop that handles events has ended.
        if milliseconds > 0 { try? await session.clock.sleep(milliseconds: milliseconds) }
    }

    private func committed(_ pace: borrowing Mutex<Pace>) {
        let now = session.clock.steadyMilliseconds()
        pace.withLock { $0.took(Pace.commitMilliseconds, until: now) }
    }

    private func compare() async {
        let now = session.clock.steadyMilliseconds()
        let isDue = nextComparison.withLock { next in
            guard now >= next else { return false }
            next = now + session.limits.comparisonRetryMilliseconds
            return true
        }
        guard isDue else { return }
        do {
            switch try await session.compareIfDue(recaptures: !hasRecaptured.withLock { $0 }) {
            case .none: break
            case .recaptured: hasRecaptured.withLock { $0 = true }
            case .done: hasRecaptured.withLock { $0 = false }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.log(
                .comparisonFailed,
                "The content could not be compared with \(session.transport.name): \(SyncError(wrapping: error))",
                peer: session.transport.name)
        }
    }

    private func attempt(
        _ lane: FollowState.Lane, _ events: AsyncStream<FollowState.Event>.Continuation,
        _ body: () async throws -> FollowState.Event
    ) async {
        do {
            events.yield(try await body())
        } catch {
            guard !Task.isCancelled else { return }
            let error = SyncError(wrapping: error)
            lasting.withLock { $0[lane] = error.isRetryable ? nil : error }
            await failed(error)
            if lane == .pull, error.code == .behindHorizon, await comeBack() {
                // The exchange starts over.
                events.yield(
                    .failed(lane, SyncError(.busy, "The replica has got the content of \(session.transport.name)")))
            } else {
                events.yield(.failed(lane, error))
            }
        }
    }

    /// Who has to take the other's content, this replica or the peer, when that has merged something that is refused
    /// here for ever; nil when it has not.
    private func turn(after end: PullEnd) async throws -> ReturnTurn? {
        guard let peer = currentStatus.origin, let offered = await session.transport.offered(end.vector) else {
            return nil
        }
        let horizon = theirHorizon.withLock { $0 }
        return try await blocking { [session] in
            guard session.transport.isArchive else {
                return try ReturnTurn(
                    refusing: session.replica, theirs: offered, horizon: horizon, isMutual: !end.heldBack.isEmpty,
                    peer: peer)
            }
            return try session.inbox.needsContent(ofSnapshot: offered) ? .here : nil
        }
    }

    private func comeBack(_ turn: ReturnTurn? = nil) async -> Bool {
        guard let comingBack, let peer = currentStatus.origin else { return false }
        return await comingBack(session.transport, theirs.withLock { $0 }, peer, turn)
    }

    /// Logs a warning when the clocks begin to differ by so much that one side defers changes.
    private func compareClocks(_ hello: Hello) {
        let (offset, overflow) = hello.wallMilliseconds.subtractingReportingOverflow(session.clock.wallMilliseconds())
        guard !overflow else { return }
        let most = session.limits.clockSkewMilliseconds
        let isNew = status.withLock { status in
            let before = status.clockOffsetMilliseconds ?? 0
            status.clockOffsetMilliseconds = offset
            return offset.magnitude > UInt64(most) && before.magnitude <= UInt64(most)
        }
        guard isNew else { return }
        let side = offset > 0 ? "ahead of" : "behind"
        logger.log(
            .peerClock,
            "the clock of \(session.transport.name) is \(offset.magnitude / 1_000) s \(side) this one: changes will be held back",
            peer: session.transport.name)
    }

    private func succeeded(_ lane: FollowState.Lane, vector: VersionVector) async {
        let now = session.clock.wallMilliseconds()
        let rest = lasting.withLock { errors in
            errors[lane] = nil
            return errors.values.first
        }
        let recovered = status.withLock { status in
            defer {
                status.vector.merge(vector)
                status.lastContactMilliseconds = now
                status.lastError = rest
                status.failures = rest == nil ? 0 : status.failures
            }
            return status.lastError != nil && rest == nil
        }
        if recovered {
            logger.log(.peerRecovered, "\(session.transport.name) answers again", peer: session.transport.name)
        }
        await record(atOnce: recovered)
    }

    /// Records a failure. A failure is logged when its code is new, not at every attempt.
    private func failed(_ error: SyncError) async {
        let isNew = status.withLock { status in
            defer {
                status.lastError = error
                status.failures += 1
            }
            return status.lastError?.code != error.code
        }
        guard isNew else { return }
        logger.log(.peerFailed, "\(error)", peer: session.transport.name)
        await record(atOnce: true)
    }

    /// Notes the status where other processes find it, but not too often.
    private func record(atOnce: Bool) async {
        let now = session.clock.steadyMilliseconds()
        let isDue = recorded.withLock { last in
            if !atOnce, let last, now - last < session.limits.peerRecordMilliseconds { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let status = currentStatus
        do {
            try await blocking { [session] in try session.inbox.peers.record(status) }
        } catch {
            logger.log(
                .peerNotesFailed, "The state of \(status.name) cannot be noted: \(SyncError(wrapping: error))",
                peer: status.name)
        }
    }
}
