import Journal

/// Decides the next steps with one followed peer: event in, effects out.
///
/// Two lanes run side by side, so that a slow push never delays the peer's changes:
///
///     pull   start -> greeting -> pulling -> pulling -> ...        (the long poll is asked again at once)
///                        ^            | failed
///                        +-- resting <+
///     push   closed -> idle -> pushing -> idle                     (opened by the first greeting)
///                        ^        | failed
///                        +-- resting
///
/// With the direction `pull`, the push lane stays closed. With `push`, the pull lane only greets, and rests
/// between two greetings as long as a long poll takes.
///
/// Pure: no clock, no randomness, nothing asynchronous; the random bits of each event are a parameter.
package struct FollowState: Sendable, Hashable {
    /// One of the two lanes.
    package enum Lane: Sendable, Hashable {
        /// Changes of the peer for this replica: greetings and pulls.
        case pull
        /// Changes of this replica for the peer: pushes.
        case push
    }

    /// Something that happened.
    package enum Event: Sendable, Hashable {
        /// Following the peer begins.
        case started
        /// The peer answered a hello; it knows `vector`.
        case greeted(VersionVector)
        /// A pull ended and its changes are applied; the peer has the vector or defers parts of it.
        case pulled(VersionVector, more: Bool)
        /// A push ended; the peer has `vector` durably, and defers what `deferred` has besides.
        case pushed(VersionVector, deferred: VersionVector = VersionVector())
        /// A pull of the peer is waiting here, so the peer gets all of `vector` that way.
        case leftToPull(VersionVector)
        /// The local file now holds `vector`.
        case changed(VersionVector)
        /// The request of a lane failed.
        case failed(Lane, SyncError)
        /// The delay of a lane is over.
        case rested(Lane)
    }

    /// Something to do. Its end is reported as an event.
    package enum Effect: Sendable, Hashable {
        /// Send a hello.
        case greet
        /// Pull once. If `waits` is true, the endpoint waits for news when there are none.
        case pull(waits: Bool)
        /// Push the changes that the vector does not cover.
        case push(lacks: VersionVector)
        /// Wait for the delay, then report ``Event/rested(_:)``.
        case rest(Lane, milliseconds: Int64)
        /// Stop following, because the peer is this replica itself.
        case giveUp
    }

    /// What a lane is doing.
    package enum Phase: Sendable, Hashable {
        /// Not started, stopped, or (push) not opened yet.
        case closed
        /// Push lane: the peer is not known to lack anything.
        case idle
        /// Pull lane: greeting or pulling. Push lane: pushing.
        case running
        /// Waiting after a failure.
        case resting
    }

    /// What the pull lane is doing.
    package private(set) var pull = Phase.closed
    /// What the push lane is doing.
    package private(set) var push = Phase.closed

    /// Failures in a row of the pull lane; a pull that succeeds makes it 0.
    package private(set) var pullFailures = 0
    /// Failures in a row of the push lane; a push that succeeds makes it 0.
    package private(set) var pushFailures = 0

    /// What the peer is known to have or to defer.
    package private(set) var theirs = VersionVector()
    /// What the peer gets by a pull that waits here. It does not have that yet: a push that began after it
    /// would leave a gap.
    private var left = VersionVector()
    /// True when a pull has ended since the last push began.
    private var hasPulled = false
    /// What this replica has.
    package private(set) var ours = VersionVector()

    private let limits: Limits
    private let direction: SyncDirection

    /// Creates a state with both lanes closed until ``Event/started``. Only the limits of delays are used.
    package init(limits: Limits = .standard, direction: SyncDirection = .both) {
        self.limits = limits
        self.direction = direction
    }

    /// Handles one event.
    ///
    /// - Parameter entropy: 64 random bits, new ones for each event.
    /// - Returns: What to do, in this order. An event that does not fit the state is ignored.
    package mutating func handle(_ event: Event, entropy: UInt64) -> [Effect] {
        switch event {
        case .started:
            guard pull == .closed else { return [] }
            pull = .running
            return [.greet]
        case .greeted(let vector):
            guard pull == .running else { return [] }
            theirs = vector
            left = VersionVector()
            if push == .closed, direction.pushes { push = .idle }
            guard direction.pulls else {
                // The next hello tells whether the peer is there, and what it has.
                pullFailures = 0
                pull = .resting
                return [.rest(.pull, milliseconds: Int64(limits.longPollSeconds) * 1_000)] + pushIfNeeded()
            }
            return [.pull(waits: false)] + pushIfNeeded()
        case .pulled(let vector, let more):
            guard pull == .running else { return [] }
            pullFailures = 0
            hasPulled = true
            // The peer's latest answer replaces the earlier one even when it knows less: it may have been
            // restored.
            theirs = vector
            left = VersionVector()
            return [.pull(waits: !more)] + pushIfNeeded()
        case .pushed(let vector, let deferred):
            guard push == .running else { return [] }
            push = .idle
            pushFailures = 0
            theirs.merge(vector)
            // Perhaps the peer had answered before the news came that ended the pull: then it can take more by now.
            if !hasPulled { theirs.merge(deferred) }
            return pushIfNeeded()
        case .leftToPull(let vector):
            guard push == .running else { return [] }
            push = .idle
            left.merge(vector)
            return pushIfNeeded()
        case .changed(let vector):
            // Replaced, not merged: with a new identity the replica may have fewer versions of its old
            // origin.
            ours = vector
            return pushIfNeeded()
        case .failed(.pull, let error):
            guard pull == .running else { return [] }
            guard error.code != .selfPeer else {
                pull = .closed
                push = .closed
                return [.giveUp]
            }
            pullFailures += 1
            pull = .resting
            return [.rest(.pull, milliseconds: delay(after: error, failures: pullFailures, entropy))]
        case .failed(.push, let error):
            guard push == .running else { return [] }
            pushFailures += 1
            push = .resting
            return [.rest(.push, milliseconds: delay(after: error, failures: pushFailures, entropy))]
        case .rested(.pull):
            guard pull == .resting else { return [] }
            pull = .running
            return [.greet]
        case .rested(.push):
            guard push == .resting else { return [] }
            push = .idle
            return pushIfNeeded()
        }
    }

    private mutating func pushIfNeeded() -> [Effect] {
        guard push == .idle, !theirs.merged(with: left).covers(ours) else { return [] }
        push = .running
        hasPulled = false
        return [.push(lacks: theirs)]
    }

    private func delay(after error: SyncError, failures: Int, _ entropy: UInt64) -> Int64 {
        guard error.isRetryable else { return Backoff.slowDelay(entropy: entropy, limits: limits) }
        // The clamp to the limit keeps the product from overflowing.
        let asked = min(max(error.retryAfterSeconds ?? 0, 0), limits.retryAfterSeconds) * 1_000
        return Backoff.delay(failures: failures, entropy: entropy, minimumMilliseconds: asked, limits: limits)
    }
}
