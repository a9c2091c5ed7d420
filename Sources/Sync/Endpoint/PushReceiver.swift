import Journal

/// The receiving end of one push. Frames are applied as they arrive, so memory stays bounded, and what
/// arrived before a broken connection stays applied.
public struct PushReceiver: Sendable {
    private let endpoint: Endpoint
    private var stream: FrameStream
    private let intake: FrameIntake
    /// The tables that the caller may write; nil for all.
    private let scope: TableScope?
    /// The caller, once it has said who it is.
    private var sender: OriginID?
    private var isEnded = false
    /// What the caller knows, as its last frame says.
    private var theirs = VersionVector()

    init(_ endpoint: Endpoint, in scope: TableScope? = nil) {
        self.scope = scope
        self.endpoint = endpoint
        stream = FrameStream(limits: endpoint.limits)
        intake = FrameIntake(inbox: endpoint.inbox, limits: endpoint.limits)
    }

    /// Takes the next piece of the body, of any size.
    ///
    /// - Throws: ``SyncError``; the rest of the push must not be read then.
    public mutating func receive(_ piece: some Collection<UInt8>) async throws {
        stream.append(piece)
        while let frame = try await stream.next() { try await receive(frame) }
    }

    /// Takes one frame.
    ///
    /// - Throws: ``SyncError`` when the frame is in the wrong place, or cannot be applied.
    mutating func receive(_ frame: Frame) async throws {
        guard !isEnded else { throw SyncError(.invalid, "The push continues after its end") }
        switch frame.body {
        case .open(let cluster, let origin):
            guard sender == nil else { throw SyncError(.invalid, "The push opens twice") }
            let identity = try await blocking { [endpoint] in try endpoint.replica.identity() }
            try LeafScope.checkServes(identity)
            let mine = Hello(
                cluster: identity.cluster, origin: identity.origin, formatVersion: 0, vector: VersionVector(),
                wallMilliseconds: 0)
            try Handshake.check(cluster: cluster, origin: origin, mine: mine, peer: "The caller")
            sender = origin
        case .batch:
            guard let sender else { throw SyncError(.invalid, "The push does not say who sends it") }
            if let scope {
                try await blocking { [endpoint] in
                    try LeafScope.check(frame, of: sender, in: scope, endpoint.replica, endpoint.limits)
                }
            }
            try await intake.take(frame, endpoint.meter, endpoint.clock)
        case .end(let vector, _, _):
            guard sender != nil else { throw SyncError(.invalid, "The push does not say who sends it") }
            isEnded = true
            // A caller for some tables proves nothing about what others wrote.
            theirs = scope == nil ? vector : VersionVector(vector.entries.filter { $0.origin == sender })
            try await intake.finish(theirs: theirs)
        }
    }

    /// Completes the push. Call it at the end of the body.
    ///
    /// - Returns: What is durable here, staged parts of unfinished transactions included.
    /// - Throws: ``SyncError/Code/truncated`` when the body was cut off; what arrived before stays applied.
    public mutating func finish() async throws -> PushReply {
        guard isEnded else { throw SyncError(.truncated, "The push ends before its last frame") }
        let (have, heldBack) = try await blocking { [endpoint, theirs] in
            try endpoint.inbox.makePendingDurable()
            // Only what is in the file is confirmed: a pull may add more to memory meanwhile.
            return (try endpoint.inbox.durable(), try endpoint.inbox.deferred(from: theirs))
        }
        return PushReply(vector: have, applied: await intake.tally.applied, heldBack: heldBack)
    }
}
