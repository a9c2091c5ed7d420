import Journal
import Testing

@testable import Sync

@Suite("What a peer is told to be durable")
struct DurableAnswerTests {
    @Test("is what the file holds, without what arrived in memory since")
    func withoutPending() async throws {
        let (pair, limits, origin, portion) = try await ReplicaPair.sendingInParts()
        let inbox = pair.replicatorB.inbox
        _ = try inbox.receive(portion.frames[0].batch(limits: limits))
        try inbox.makePendingDurable()
        #expect(try inbox.durable()[origin] == 4)
        // A pull brings the next part afterwards.
        _ = try inbox.receive(portion.frames[1].batch(limits: limits))
        #expect(try inbox.have()[origin] == 8)
        #expect(try inbox.durable()[origin] == 4)
        try inbox.makePendingDurable()
        #expect(try inbox.durable()[origin] == 8)
    }
}
