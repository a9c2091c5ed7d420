import Journal

/// What to do next about one peer that is followed: event in, effects out.
///
/// Two lanes run side by side, so that a slow push never delays what the peer has to say:
///
///     pull   start -> greeting -> pulling -> pulling -> ...        (the long poll is asked again at once)
///                        ^            | failed
///                        +-- resting <+
///     push   closed -> idle -> pushing -> idle                     (opened by the first greeting)
///                        ^        | failed
///                        +-- resting
///
/// Pure: no clock, no randomness, nothing asynchronous; the random bits of each event are handed in.
public struct FollowState: Sendable, Hashable {
    /// One of the two that run side by side.
    public enum Lane: Sendable, Hashable {
        /// What the peer has for this replica: greetings and pulls.
        case pull
        /// What this replica has for the peer.
        case push
    }

    /// Something that happened.
    public enum Event: Sendable, Hashable {
        /// Follow the peer from now on.
        case started
        /// The peer said hello; it knows `vector`.
        case greeted(VersionVector)
        /// A pull ended; what it brought is applied.
        case pulled(VersionVector, more: Bool)
        /// A push ended; the peer has `vector` durably.
        case pushed(VersionVector)
        /// The peer is pulling from here at this moment and gets all of `vector` that way.
        case leftToPull(VersionVector)
        /// The local file now holds `vector`.
        case changed(VersionVector)
        /// What was running in a lane failed.
        case failed(Lane, SyncError)
        /// The rest that a lane took is over.
        case rested(Lane)
    }

    /// Something to do. Its end is told as an event.
    public enum Effect: Sendable, Hashable {
        /// Say hello.
        case greet
        /// Pull once; wait at the endpoint for news when there are none.
        case pull(waits: Bool)
        /// Push what `lacks` does not cover.
        case push(lacks: VersionVector)
        /// Let a lane be for so long, then tell ``Event/rested(_:)``.
        case rest(Lane, milliseconds: Int64)
        /// The peer is this replica itself: following it is pointless.
        case giveUp
    }

    /// What a lane is doing.
    public enum Phase: Sendable, Hashable {
        /// Not started, given up, or (push) not opened yet.
        case closed
        /// Push lane: the peer is not known to lack anything.
        case idle
        /// Pull lane: greeting or pulling. Push lane: pushing.
        case running
        /// Waiting after a failure.
        case resting
    }

    /// What the pull lane is doing.
    public private(set) var pull = Phase.closed
    /// What the push lane is doing.
    public private(set) var push = Phase.closed

    /// Failures in a row of the pull lane; a pull that succeeds makes it 0.
    public private(set) var pullFailures = 0
    /// Failures in a row of the push lane; a push that succeeds makes it 0.
    public private(set) var pushFailures = 0

    /// What the peer is known to have, or to hold back.
    public private(set) var theirs = VersionVector()
    /// What this replica has.
    public private(set) var ours = VersionVector()

    private let limits: Limits

    /// Both lanes closed, until ``Event/started``. Of the limits those of delays count.
    public init(limits: Limits = .standard) { self.limits = limits }

    /// - Parameter entropy: 64 random bits, new ones for each event.
    /// - Returns: What to do, in this order. An event that does not fit the state is ignored.
    public mutating func handle(_ event: Event, entropy: UInt64) -> [Effect] {
        switch event {
        case .started:
            guard pull == .closed else { return [] }
            pull = .running
            return [.greet]
        case .greeted(let vector):
            guard pull == .running else { return [] }
            theirs = vector
            if push == .closed { push = .idle }
            return [.pull(waits: false)] + pushIfNeeded()
        case .pulled(let vector, let more):
            guard pull == .running else { return [] }
            pullFailures = 0
            // The newest word of the peer, also when it knows less than was believed: it may have been restored.
            theirs = vector
            return [.pull(waits: !more)] + pushIfNeeded()
        case .pushed(let vector):
            guard push == .running else { return [] }
            push = .idle
            pushFailures = 0
            theirs.merge(vector)
            return pushIfNeeded()
        case .leftToPull(let vector):
            guard push == .running else { return [] }
            push = .idle
            theirs.merge(vector)
            return pushIfNeeded()
        case .changed(let vector):
            // Not merged: with a new name the replica may hold less under the old one.
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
        guard push == .idle, !theirs.covers(ours) else { return [] }
        push = .running
        return [.push(lacks: theirs)]
    }

    private func delay(after error: SyncError, failures: Int, _ entropy: UInt64) -> Int64 {
        guard error.isRetryable else { return Backoff.slowDelay(entropy: entropy, limits: limits) }
        // Checked against overflow by the clamp to the limit.
        let asked = min(max(error.retryAfterSeconds ?? 0, 0), limits.retryAfterSeconds) * 1_000
        return Backoff.delay(failures: failures, entropy: entropy, minimumMilliseconds: asked, limits: limits)
    }
}
