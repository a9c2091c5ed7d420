import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("An exchange with a peer whose clock is ahead")
struct DeferredExchangeTests {
    /// A replica whose SQLite runs 10 years ahead, and a replica whose daemon has the real time.
    private func pair(_ way: ReplicaPair.Way) throws -> ReplicaPair {
        let pair = try ReplicaPair(way)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let clock = TestClock(milliseconds: now + ClockedCluster.year * 10)
        try RawConnection(path: pair.a.path, vfs: clock.vfs).run("INSERT INTO person VALUES (1, 'mad', 1, NULL)")
        try ReplicaPair.insert(pair.b, 10..<12)
        return pair
    }

    @Test(
        "both sides get the other changes, nothing fails, and the report says what was held back",
        arguments: ReplicaPair.Way.allCases)
    func pushed(_ way: ReplicaPair.Way) async throws {
        let pair = try pair(way)
        let report = try await pair.sync()
        #expect(report.pulledChanges == 2)
        #expect(report.heldBackThere.entries.map(\.origin) == [try pair.a.identity().origin])
        #expect(report.heldBackHere.isEmpty && !report.isLevel)
        #expect(try pair.count(pair.a) == 3 && pair.count(pair.b) == 2)
        // They are not sent again before they are due.
        #expect(try await pair.sync().pushedChanges == 0)
        try ReplicaPair.insert(pair.b, 20..<21)
        #expect(try await pair.sync().pulledChanges == 1)
    }

    @Test("pulled changes are held back in the same way", arguments: ReplicaPair.Way.allCases)
    func pulled(_ way: ReplicaPair.Way) async throws {
        let pair = try pair(way)
        let endpoint = pair.replicatorA.endpoint
        let session = SyncSession(
            replica: pair.b, inbox: pair.replicatorB.inbox, transport: LocalTransport(endpoint, name: "A"),
            limits: pair.limits, clock: SystemClock())
        let report = try await session.exchange()
        #expect(report.pulledChanges == 0 && report.pulledFrames == 1)
        #expect(report.heldBackHere.entries.map(\.version) == [1])
        #expect(try pair.count(pair.a) == 3)
        #expect(try await session.exchange().pulledFrames == 0)
        // A running daemon says so in its answers, so that peers do not push them again.
        let (end, _) = try await SyncSession(
            replica: pair.a, inbox: pair.replicatorA.inbox,
            transport: LocalTransport(pair.replicatorB.endpoint, name: "B"),
            limits: pair.limits, clock: SystemClock()
        ).pull(waitSeconds: 0)
        #expect(end.heldBack.entries.map(\.version) == [1])
    }

    @Test("following such a peer does not fail and does not push for ever")
    func followed() throws {
        var state = FollowState()
        let (mad, own) = (OriginID(high: 1, low: 1), OriginID(high: 2, low: 2))
        let ours = VersionVector([.init(origin: mad, version: 4), .init(origin: own, version: 1)])
        let heldBack = VersionVector([.init(origin: mad, version: 4)])
        _ = state.handle(.started, entropy: 0)
        _ = state.handle(.changed(ours), entropy: 0)
        #expect(state.handle(.greeted(VersionVector()), entropy: 0).count == 2)
        let theirs = VersionVector([.init(origin: own, version: 1)])
        #expect(state.handle(.pushed(theirs, deferred: heldBack), entropy: 0).isEmpty)
        #expect(
            state.handle(.pulled(theirs.merged(with: heldBack), more: false), entropy: 0) == [.pull(waits: true)])
        // The clock is closer, so the peer no longer reports them as held back.
        #expect(
            state.handle(.pulled(theirs, more: false), entropy: 0) == [.pull(waits: true), .push(lacks: theirs)])
    }
}
