import Journal
import Sync

/// A hub in the same process, as a peer.
package struct HubTransport: Transport {
    private let hub: Hub
    package let endpoint: HubEndpoint
    package let name = "hub"

    package init(_ hub: Hub) {
        self.hub = hub
        endpoint = HubEndpoint(hub)
    }

    package func hello(_ hello: Hello) async throws -> Hello { try await hub.hello(hello) }

    package func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await endpoint.pull(request, send: onFrame)
    }

    package func push(_ frames: [Frame]) async throws -> PushReply {
        var push = endpoint.beginPush()
        for frame in frames { try await push.receive(frame) }
        return try await push.finish()
    }

    package func digest(_ request: DigestRequest) async throws -> DigestReply { throw HubEndpoint.noRows }
}
