import Journal

/// The way to a peer for a single exchange: a request that the peer answers with "too many requests" is sent
/// again after the time that the peer names, with a random part on top.
///
/// Many machines behind one address share its limits. An exchange that a clock starts on all of them at once
/// would fail on most. Following a peer needs no such patience, because its lanes rest after a failure.
struct PatientTransport: Transport {
    let base: any Transport
    let limits: Limits
    let clock: any SyncClock
    /// 64 random bits at each call.
    let entropy: @Sendable () -> UInt64

    var name: String { base.name }
    var holdsRows: Bool { base.holdsRows }
    var gatheringMilliseconds: Int64 { base.gatheringMilliseconds }
    var storeRequests: StoreRequests? { base.storeRequests }

    func wanted(_ ours: VersionVector, of own: OriginID) async -> Set<OriginID>? {
        await base.wanted(ours, of: own)
    }

    func sends(_ vector: VersionVector) async -> VersionVector { await base.sends(vector) }

    func finish() async throws { try await patiently { try await base.finish() } }

    func hello(_ hello: Hello) async throws -> Hello { try await patiently { try await base.hello(hello) } }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        // The refusal comes before the first frame.
        try await patiently { try await base.pull(request, onFrame: onFrame) }
    }

    func push(_ frames: [Frame]) async throws -> PushReply { try await patiently { try await base.push(frames) } }

    func digest(_ request: DigestRequest) async throws -> DigestReply {
        try await patiently { try await base.digest(request) }
    }

    private func patiently<T>(_ send: () async throws -> T) async throws -> T {
        let end = clock.steadyMilliseconds() + limits.patienceMilliseconds
        var refusals = 0
        while true {
            do {
                return try await send()
            } catch let error as SyncError where error.code == .tooManyRequests {
                refusals += 1
                let asked = min(max(error.retryAfterSeconds ?? 1, 1), limits.retryAfterSeconds) * 1_000
                let delay = Backoff.delay(
                    failures: refusals, entropy: entropy(), minimumMilliseconds: asked, limits: limits)
                guard clock.steadyMilliseconds() + delay <= end else { throw error }
                try await clock.sleep(milliseconds: delay)
            }
        }
    }
}
