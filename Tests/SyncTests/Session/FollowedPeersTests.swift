import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("The followed peers change while they are followed")
struct FollowedPeersTests {
    /// A follows B over HTTP. C is a third replica, which A reaches as a file.
    private struct Three {
        let pair: ReplicaPair
        let c: Replica
        let peerC: PeerConfiguration

        init() throws {
            pair = try ReplicaPair(.http, follows: true)
            let path = pair.directory.file("c.sqlite")
            c = try ReplicaPair.make(path, schema: ReplicaPair.schema, number: 3)
            peerC = try PeerConfiguration(path)
        }

        /// Waits for a number of rows in A.
        func reaches(_ count: Int) async throws {
            let watch = try FileWatch(path: pair.a.path)
            defer { watch.stop() }
            if try pair.count(pair.a) == count { return }
            for await _ in watch.changes where try pair.count(pair.a) == count { return }
        }
    }

    @Test("a peer that is added exchanges changes, and the others are followed on")
    func added() async throws {
        let three = try Three()
        let replicator = three.pair.replicatorA
        let run = Task { await replicator.run() }
        try ReplicaPair.insert(three.pair.b, 1..<3)
        try await three.reaches(2)
        try ReplicaPair.insert(three.c, 10..<13)
        try replicator.follow([three.pair.peerB, three.peerC])
        try await three.reaches(5)
        // A follower that had begun anew would have forgotten what it pulled.
        #expect(replicator.status().peers.first?.pulledChanges == 2)
        #expect(replicator.status().peers.map(\.name) == [three.pair.peerB.name, three.peerC.name])
        try ReplicaPair.insert(three.pair.b, 20..<21)
        try await three.reaches(6)
        run.cancel()
        await run.value
    }

    @Test("a peer that is removed is left alone, and followed again when it is added again")
    func removed() async throws {
        let three = try Three()
        let replicator = three.pair.replicatorA
        let run = Task { await replicator.run() }
        try ReplicaPair.insert(three.pair.b, 1..<3)
        try await three.reaches(2)
        try replicator.follow([])
        #expect(replicator.status().peers.isEmpty)
        try ReplicaPair.insert(three.pair.b, 3..<5)
        try ReplicaPair.insert(three.c, 10..<13)
        try replicator.follow([three.peerC])
        try await three.reaches(5)
        try replicator.follow([three.pair.peerB])
        try await three.reaches(7)
        run.cancel()
        await run.value
    }

    @Test("another token counts as another peer")
    func otherToken() throws {
        let three = try Three()
        let replicator = three.pair.replicatorA
        var peer = three.pair.peerB
        peer.token = try BearerToken("secret")
        try replicator.follow([peer])
        #expect(replicator.status().peers.count == 1)
        #expect(replicator.status().peers.first?.origin == nil)
    }

    @Test("a peer that cannot be followed changes nothing")
    func refused() throws {
        let three = try Three()
        let missing = try PeerConfiguration(three.pair.directory.file("none.sqlite"))
        #expect(throws: (any Error).self) { try three.pair.replicatorA.follow([three.peerC, missing]) }
        #expect(three.pair.replicatorA.status().peers.map(\.name) == [three.pair.peerB.name])
    }

    @Test("a replicator that was cancelled follows its peers again when it runs again")
    func runsAgain() async throws {
        let three = try Three()
        let replicator = three.pair.replicatorA
        for round in 1...2 {
            let run = Task { await replicator.run() }
            try ReplicaPair.insert(three.pair.b, round..<round + 1)
            try await three.reaches(round)
            run.cancel()
            await run.value
        }
    }
}
