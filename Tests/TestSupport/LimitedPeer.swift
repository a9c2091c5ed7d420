import Foundation
import Journal
import Sync
import Synchronization

/// A peer behind a token that is limited to tables, body by body as over HTTP. It keeps the bytes of every answer, also
/// of refusals, without compression, so that a test can look for what must not be in them.
package final class LimitedPeer: Transport, SnapshotSource {
    package let name = "hub"
    private let service: LimitedEndpoint
    private let limits: Limits
    private let answers = Mutex<[UInt8]>([])

    package init(_ endpoint: Endpoint, _ tables: String..., limits: Limits = .standard) throws {
        guard let scope = TableScope(tables) else { throw SyncError(.configuration, "A limited peer needs tables") }
        service = LimitedEndpoint(endpoint, to: scope)
        self.limits = limits
    }

    /// True when some answer so far has one of the texts, in any case of its letters.
    package func hasTold(_ texts: [String]) -> Bool { answers.withLock { LimitedPeer.has($0, texts) } }

    package static func has(_ bytes: [UInt8], _ texts: [String]) -> Bool {
        let data = Data(bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        return texts.contains { data.range(of: Data($0.lowercased().utf8)) != nil }
    }

    @discardableResult
    private func keep(_ bytes: [UInt8]) -> [UInt8] {
        answers.withLock { $0 += bytes }
        return bytes
    }

    /// Runs `body` as the server does: a refusal is a JSON body.
    private func answering<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            let error = SyncError(wrapping: error)
            keep(error.jsonBody())
            throw error
        }
    }

    package func hello(_ hello: Hello) async throws -> Hello {
        try await answering {
            try Hello(decoding: keep(try await service.hello(body: hello.encoded())), limits: limits)
        }
    }

    package func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await answering {
            var request = request
            request.encodings = [.none]
            let checked = try await service.pullRequest(body: request.encoded())
            var stream = FrameStream(limits: limits)
            var body: [UInt8] = []
            try await service.pull(checked) { body += keep($0) }
            stream.append(body)
            while let frame = try await stream.next() {
                if case .end(let vector, let more, let heldBack) = frame.body {
                    return PullEnd(vector: vector, more: more, heldBack: heldBack)
                }
                try await onFrame(frame)
            }
            throw SyncError(.truncated, "no end")
        }
    }

    package func push(_ frames: [Frame]) async throws -> PushReply {
        try await answering {
            var receiver = service.beginPush()
            for frame in frames { try await receiver.receive(frame.encoded()) }
            return try PushReply(decoding: keep(try await receiver.finish().encoded()), limits: limits)
        }
    }

    package func digest(_ request: DigestRequest) async throws -> DigestReply {
        try await answering {
            try DigestReply(decoding: keep(try await service.digest(body: request.encoded())), limits: limits)
        }
    }

    package func snapshot() async throws -> SnapshotAnswer {
        try await answering {
            let answer = try await service.snapshot()
            keep(try answer.jsonBody())
            return answer
        }
    }

    package func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try await answering { keep(try await service.part(index, of: id, encoding: .none)) }
    }
}
