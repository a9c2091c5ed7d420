import Journal

/// The receiving end of one push to a hub. Frames go to other replicas as they arrive.
package struct HubPush: WirePush {
    private let hub: Hub
    private var stream: FrameStream
    /// Who pushes; nil before the first frame.
    private var caller: OriginID?
    private var isEnded = false
    /// What was pushed, and what of it was taken.
    private var pushed = VersionVector()
    private var taken = VersionVector()
    private var changes = 0

    init(_ hub: Hub) {
        self.hub = hub
        stream = FrameStream(limits: hub.limits)
    }

    /// As ``PushReceiver/receive(_:)``.
    package mutating func receive(_ piece: some Collection<UInt8>) async throws {
        stream.append(piece)
        while let frame = try await stream.next() { try await receive(frame) }
    }

    /// Takes one frame.
    ///
    /// - Throws: ``SyncError`` when the frame is in the wrong place, or cannot be taken.
    package mutating func receive(_ frame: Frame) async throws {
        guard !isEnded else { throw SyncError(.invalid, "The push continues after its end") }
        if case .open(let cluster, let origin) = frame.body {
            guard caller == nil else { throw SyncError(.invalid, "The push opens twice") }
            try await hub.check(cluster: cluster, origin: origin)
            caller = origin
            return
        }
        guard let caller else { throw SyncError(.invalid, "The push does not say who sends it") }
        guard case .batch = frame.body else {
            isEnded = true
            return
        }
        // Decoded in full: what cannot be is not passed on.
        let entry = try await blocking { [limits = hub.limits] in
            do throws(WireError) {
                return try Pack.Entry(frame, limits: limits)
            } catch {
                throw SyncError(error)
            }
        }
        pushed.merge(frame.coveredVersions)
        let (vector, new) = try await hub.take(entry, from: caller)
        taken.merge(vector)
        changes += new
    }

    /// Returns when everything that was taken is in the archive. Call it at the end of the body.
    ///
    /// - Throws: ``SyncError``: `truncated` when the body was cut off; `busy` when the store fails. What arrived before
    ///   is written as soon as the store allows it.
    package mutating func finish() async throws -> PushReply {
        guard isEnded else { throw SyncError(.truncated, "The push ends before its last frame") }
        try await hub.settle(taken)
        return await hub.reply(to: pushed, applied: changes)
    }
}
