import Journal

@testable import Sync

/// A hub in the same process, as a peer.
struct HubTransport: Transport {
    let endpoint: HubEndpoint
    let name = "hub"

    init(_ hub: Hub) { endpoint = HubEndpoint(hub) }

    func hello(_ hello: Hello) async throws -> Hello { try await endpoint.hub.hello(hello) }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await endpoint.pull(request, send: onFrame)
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        var push = endpoint.beginPush()
        for frame in frames { try await push.receive(frame) }
        return try await push.finish()
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply { throw HubEndpoint.noRows }
}
