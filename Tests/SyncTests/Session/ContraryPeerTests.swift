import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Well-formed answers that no honest peer gives.
@Suite("A peer whose answers make no progress")
struct ContraryPeerTests {
    /// The endpoint of B, with the answers that a test changes.
    private struct ContraryPeer: Transport {
        let base: LocalTransport
        var compared: @Sendable (DigestRequest, DigestReply) -> DigestReply = { $1 }

        var name: String { "contrary" }
        func hello(_ hello: Hello) async throws -> Hello { try await base.hello(hello) }
        func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
            try await base.pull(request, onFrame: onFrame)
        }
        func push(_ frames: [Frame]) async throws -> PushReply { try await base.push(frames) }
        func digest(_ request: DigestRequest) async throws -> DigestReply {
            compared(request, try await base.digest(request))
        }
    }

    private let pair: ReplicaPair
    private let base: LocalTransport

    init() throws {
        pair = try ReplicaPair(.local)
        base = LocalTransport(pair.replicatorB.endpoint, name: "b")
        try ReplicaPair.insert(pair.a, 1..<20)
    }

    private func code(_ body: () async throws -> Void) async -> SyncError.Code? {
        do {
            try await body()
            return nil
        } catch { return SyncError(wrapping: error).code }
    }

    @Test("more rows without a digest, no rows where there are more, and rows of another length end a comparison")
    func comparisons() async throws {
        try await pair.sync()
        var peer = ContraryPeer(base: base)
        peer.compared = { request, reply in
            guard case .digests = request.question else { return reply }
            var reply = reply
            reply.digests = []
            reply.more = true
            return reply
        }
        let proof = ContentProof(inbox: pair.replicatorA.inbox, transport: peer, limits: pair.limits)
        #expect(await code { _ = try await proof.run() } == .invalid)
        let first = Verification(replica: pair.a, transport: peer, limits: pair.limits)
        #expect(await code { _ = try await first.run() } == .invalid)

        let lies: [@Sendable (inout DigestReply) -> Void] = [
            {
                $0.rows = []; $0.more = true
            }, { $0.rows = [[.integer(1)]] },
            {
                $0.rows = [[.integer(1), .null, .null, .null]]; $0.more = true
            },
        ]
        for lie in lies {
            peer.compared = { request, reply in
                var reply = reply
                switch request.question {
                case .tables, .recapture: break
                // Nothing is asked about rows whose digests are equal.
                case .digests: for index in reply.digests.indices { reply.digests[index].sha256[0] ^= 1 }
                case .rows: lie(&reply)
                }
                return reply
            }
            let verification = Verification(replica: pair.a, transport: peer, limits: pair.limits)
            #expect(await code { _ = try await verification.run() } == .invalid)
        }
    }

    @Test("pages that repeat in a circle end a comparison", .timeLimit(.minutes(1)), arguments: 1...3)
    func circles(pages: Int) async throws {
        try await pair.sync()
        var peer = ContraryPeer(base: base)
        peer.compared = { request, reply in
            guard case .digests(let shape, let after, _) = request.question else { return reply }
            var next: Int64 = 0
            if case .integer(let last)? = after?.first { next = (last + 1) % Int64(pages) }
            let key = Array(repeating: Value.integer(next), count: shape.keyCount)
            var reply = reply
            reply.digests = [RangeDigest(last: key, rows: 1, sha256: RowDigest.ofNothing)]
            reply.more = true
            return reply
        }
        let proof = ContentProof(inbox: pair.replicatorA.inbox, transport: peer, limits: pair.limits)
        #expect(await code { _ = try await proof.run() } == .invalid)
        let verification = Verification(replica: pair.a, transport: peer, limits: pair.limits)
        #expect(await code { _ = try await verification.run() } == .invalid)
    }

    @Test("a push that continues after its end, or that does not name its sender, is refused")
    func endless() async throws {
        let origin = try pair.a.identity().origin
        let end = Frame(body: .end(vector: VersionVector(), more: false))
        var push = pair.replicatorB.endpoint.beginPush()
        await #expect(throws: SyncError.self) { try await push.receive(end) }
        try await push.receive(Frame(body: .open(cluster: "main", origin: origin)))
        try await push.receive(end)
        await #expect(throws: SyncError.self) { try await push.receive(end) }
    }

    @Test("a repair of rows that have changed since the comparison is refused, and changes nothing")
    func staleRepair() async throws {
        try await pair.sync()
        let transport = ContraryPeer(base: base)
        let report = try await Verification(replica: pair.a, transport: transport, limits: pair.limits).run()
        try ReplicaPair.insert(pair.a, 100..<101)
        var outcome = RepairReport(after: report)
        let error = #expect(throws: SyncError.self) {
            try pair.replicatorA.inbox.repair(report, .fromJournal, into: &outcome)
        }
        #expect(error?.code == .busy && outcome.total == 0)
    }
}
