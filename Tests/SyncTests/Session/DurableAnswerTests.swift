import Journal
import Testing

@testable import Sync

@Suite("What a peer is told to be durable")
struct DurableAnswerTests {
    @Test("is what the file holds, not what came into memory since")
    func withoutPending() async throws {
        var limits = Limits.standard
        limits.changesPerBatch = 4
        let pair = try ReplicaPair(.local, limits: limits)
        try ReplicaPair.insert(pair.a, 1..<10)
        let origin = try pair.a.identity().origin
        let source = FrameSource(replica: pair.a, limits: limits, encoding: .zstd)
        let portion = try await source.portion(after: VersionVector(), bytes: 1 << 20)
        let inbox = pair.replicatorB.inbox
        _ = try inbox.receive(portion.frames[0].batch(limits: limits))
        try inbox.makePendingDurable()
        #expect(try inbox.durable()[origin] == 4)
        // A pull brings the next part after that.
        _ = try inbox.receive(portion.frames[1].batch(limits: limits))
        #expect(try inbox.have()[origin] == 8)
        #expect(try inbox.durable()[origin] == 4)
        try inbox.makePendingDurable()
        #expect(try inbox.durable()[origin] == 8)
    }
}
