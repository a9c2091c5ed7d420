import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("An exchange that is cut off in a large transaction goes on where it was")
struct CutExchangeTests {
    @Test("what was pulled is in the file, and the next exchange asks for the rest only")
    func pull() async throws {
        let (pair, limits, origin, portion) = try await ReplicaPair.sendingInParts()
        let total = portion.frames.count
        #expect(total == 3)
        let whole = LocalTransport(pair.replicatorA.endpoint, name: "A")
        let cut = CutTransport(whole, afterFrames: 2)
        let first = session(pair, over: cut, limits)
        let error = await #expect(throws: SyncError.self) { try await first.exchange() }
        #expect(error?.code == .truncated)
        #expect(try pair.count(pair.b) == 0)
        // As another process finds it.
        let inbox = try Inbox(replica: pair.b, limits: limits) { ReplicaFixture.now }
        #expect(try inbox.have()[origin] == 8)
        let next = SyncSession(
            replica: pair.b, inbox: inbox, transport: CutTransport(whole, afterFrames: .max), limits: limits,
            clock: SystemClock())
        let report = try await next.exchange()
        #expect(report.pulledFrames == 1 && report.pulledChanges == 9)
        #expect(try pair.count(pair.b) == 9)
    }

    @Test("what was pushed is asked for first, and only the rest is sent")
    func push() async throws {
        let (pair, _, origin, portion) = try await ReplicaPair.sendingInParts()
        let own = try pair.a.identity()
        var receiver = pair.replicatorB.endpoint.beginPush()
        try await receiver.receive(Frame(body: .open(cluster: own.cluster, origin: own.origin)))
        for frame in portion.frames.prefix(2) { try await receiver.receive(frame) }
        try await receiver.receive(Frame(body: .end(vector: VersionVector(), more: true)))
        #expect(try await receiver.finish().vector[origin] == 8)

        var limits = pair.limits
        limits.changesPerBatch = 4
        limits.bytesPerPush = 1
        let counting = CutTransport(LocalTransport(pair.replicatorB.endpoint, name: "B"), afterFrames: .max)
        let session = SyncSession(
            replica: pair.a, inbox: pair.replicatorA.inbox, transport: counting, limits: limits, clock: SystemClock())
        #expect(try await session.exchange().pushedChanges == 1)
        #expect(counting.pushedBatches == 1)
        #expect(try pair.count(pair.b) == 9)
    }

    private func session(_ pair: ReplicaPair, over transport: any Transport, _ limits: Limits) -> SyncSession {
        SyncSession(
            replica: pair.b, inbox: pair.replicatorB.inbox, transport: transport, limits: limits, clock: SystemClock())
    }
}

/// A peer whose answer to a pull breaks off after some frames.
private final class CutTransport: Transport {
    let name = "cut"
    private let base: LocalTransport
    private let afterFrames: Int
    private let pulled = Mutex(0)
    private let pushed = Mutex(0)

    init(_ base: LocalTransport, afterFrames: Int) {
        self.base = base
        self.afterFrames = afterFrames
    }

    var pushedBatches: Int { pushed.withLock { $0 } }

    func hello(_ hello: Hello) async throws -> Hello { try await base.hello(hello) }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await base.pull(request) { frame in
            let number = pulled.withLock { count in
                count += 1
                return count
            }
            guard number <= afterFrames else { throw SyncError(.truncated, "The answer was cut off") }
            try await onFrame(frame)
        }
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        let batches = frames.filter {
            if case .batch = $0.body { true } else { false }
        }
        pushed.withLock { $0 += batches.count }
        return try await base.push(frames)
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply { try await base.digest(request) }
}
