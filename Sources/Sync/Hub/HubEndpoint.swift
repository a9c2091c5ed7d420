import Journal

/// A hub, as servers of the protocol use it.
package struct HubEndpoint: WireService {
    package let hub: Hub
    /// The replicas whose pulls are waiting for news.
    package let pulls: WaitingPullers
    private let limits: Limits
    private let clock: any SyncClock
    private let bodies: WireBodies

    package init(_ hub: Hub) {
        self.hub = hub
        limits = hub.limits
        clock = hub.clock
        pulls = WaitingPullers(clock: hub.clock)
        bodies = WireBodies(limits: hub.limits)
    }

    // MARK: - Bodies

    package func hello(body: [UInt8]) async throws -> [UInt8] {
        try bodies.encode(try await hub.hello(try bodies.decode(Hello.self, body)))
    }

    /// A hub holds changes, not rows.
    ///
    /// - Throws: ``SyncError/Code/notFound``.
    package func digest(body: [UInt8]) async throws -> [UInt8] {
        _ = try bodies.decode(DigestRequest.self, body)
        throw HubEndpoint.noRows
    }

    package static let noRows = SyncError(
        .notFound, "A hub holds changes, not rows, so rows cannot be compared with it",
        hint: "Compare with another replica; `syncd store verify` checks the archive of the hub.")

    package func pullRequest(body: [UInt8]) async throws -> PullRequest {
        let request = try bodies.decode(PullRequest.self, body)
        guard request.scope == nil else { throw HubEndpoint.noLeaves }
        try await hub.check(request)
        return request
    }

    /// A hub passes on what the archive has, which is everything.
    package static let noLeaves = SyncError(
        .forbidden, "A hub has no replica's file, so it cannot give a part of the tables to anyone",
        hint: "Let the leaf follow a daemon that has a file: `syncd run`.")

    package func pull(_ request: PullRequest, write: ([UInt8]) async throws -> Void) async throws {
        let end = try await pull(request) { frame in try await write(try bodies.encode(frame)) }
        try await write(
            try bodies.encode(Frame(body: .end(vector: end.vector, more: end.more, heldBack: end.heldBack))))
    }

    package func beginPush() -> HubPush { HubPush(hub) }

    /// The newest snapshot of the archive.
    ///
    /// - Throws: ``SyncError``: `notFound` when there is none; `busy` when the store fails.
    package func snapshot() async throws -> SnapshotAnswer {
        do {
            return try await ArchiveSnapshots(hub.store, limits: limits).snapshot()
        } catch let error as SyncError where error.code == .notFound {
            throw error
        } catch {
            throw Hub.refusal(error)
        }
    }

    package func part(_ index: Int, of id: String, encoding: PayloadEncoding) async throws -> [UInt8] {
        try await hub.part(index, of: id, encoding: encoding)
    }

    // MARK: - Pulls

    /// As ``Endpoint/pull(_:send:)``.
    package func pull(_ request: PullRequest, send: (Frame) async throws -> Void) async throws -> PullEnd {
        try await hub.check(request)
        return try await pulls.serve(request) { try await answer(request, send: send) }
    }

    private func answer(_ request: PullRequest, send: (Frame) async throws -> Void) async throws -> PullEnd {
        let wanted = request.maxBytes > 0 ? min(request.maxBytes, limits.bytesPerPull) : limits.bytesPerPull
        let wait = Int64(min(max(request.waitSeconds, 0), limits.longPollSeconds))
        let deadline = clock.steadyMilliseconds() + wait * 1_000
        // Subscribed before the first look, so that no change falls between the look and the wait.
        let news = hub.news.listen()
        let generation = await hub.generation
        let before = await hub.known(except: request.origin)
        var position: Int?
        var sent = 0
        while true {
            let portion = try await hub.portion(
                after: request.have, of: request.origin, from: position, bytes: min(wanted - sent, limits.bytesPerPush),
                generation: generation)
            for frame in portion.frames { try await send(readable(frame, by: request)) }
            position = portion.next
            sent += portion.bytes
            if portion.isCut {
                if sent >= wanted { return await end(request, more: true) }
                continue
            }
            let left = deadline - clock.steadyMilliseconds()
            // What the caller could not push for want of others' changes, it tries again when those are here, also when
            // it has them already.
            guard sent == 0, left > 0, await hub.known(except: request.origin) == before else {
                return await end(request, more: false)
            }
            try await clock.wait(for: news, milliseconds: left)
        }
    }

    private func end(_ request: PullRequest, more: Bool) async -> PullEnd {
        let (vector, heldBack) = await hub.end(for: request.origin)
        return PullEnd(vector: vector, more: more, heldBack: heldBack)
    }

    /// The frame in an encoding that the caller can read.
    private func readable(_ frame: Frame, by request: PullRequest) async throws -> Frame {
        guard case .batch(_, let encoding, _) = frame.body, encoding != .none, !request.encodings.isEmpty,
            !request.encodings.contains(encoding)
        else { return frame }
        return try await blocking { [limits] in
            do throws(WireError) {
                return try Frame(frame.batch(limits: limits), encoding: .best(of: request.encodings))
            } catch {
                throw SyncError(error)
            }
        }
    }
}
