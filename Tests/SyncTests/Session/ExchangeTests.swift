import GRDB
import Journal
import Testing

@testable import Sync

/// The contract of an exchange over each transport.
@Suite struct ExchangeTests {
    @Test("an exchange brings each side what it lacks, and the next one nothing", arguments: ReplicaPair.Way.allCases)
    func bothWays(way: ReplicaPair.Way) async throws {
        let pair = try ReplicaPair(way)
        try ReplicaPair.insert(pair.a, 1..<50)
        try ReplicaPair.insert(pair.b, 100..<130)
        let first = try await pair.sync()
        #expect(first.pulledChanges == 30)
        #expect(first.pushedChanges == 49)
        #expect(first.isLevel)
        #expect(try pair.count(pair.a) == 79)
        #expect(try pair.count(pair.b) == 79)
        let second = try await pair.sync()
        #expect(second.pulledFrames == 0)
        #expect(second.pushedChanges == 0)
        #expect(try await pair.replicatorA.verify(pair.peerB).isEqual)
    }

    @Test("many small batches, pulls and pushes arrive like one", arguments: ReplicaPair.Way.allCases)
    func smallLimits(way: ReplicaPair.Way) async throws {
        var limits = Limits.standard
        limits.changesPerBatch = 7
        limits.bytesPerPull = 300
        limits.bytesPerPush = 300
        let pair = try ReplicaPair(way, limits: limits)
        // Two large transactions, each far larger than a batch, a pull and a push.
        try ReplicaPair.insert(pair.a, 1..<150)
        try ReplicaPair.insert(pair.b, 1_000..<1_150)
        let report = try await pair.sync()
        #expect(report.isLevel)
        #expect(report.pushedChanges == 149)
        #expect(try pair.count(pair.a) == 299)
        #expect(try pair.count(pair.b) == 299)
    }

    @Test("a peer of another cluster is refused before anything moves", arguments: ReplicaPair.Way.allCases)
    func otherCluster(way: ReplicaPair.Way) async throws {
        let pair = try ReplicaPair(way, clusterB: "other")
        try ReplicaPair.insert(pair.a, 1..<5)
        try ReplicaPair.insert(pair.b, 5..<9)
        do {
            try await pair.sync()
            Issue.record("they exchanged")
        } catch let error as SyncError {
            #expect(error.code == .otherCluster)
        }
        #expect(try pair.count(pair.a) == 4)
        #expect(try pair.count(pair.b) == 4)
    }

    @Test("a replica that meets itself reports it")
    func itself() async throws {
        let pair = try ReplicaPair(.local)
        do {
            _ = try await pair.replicatorB.syncOnce(pair.peerB)
            Issue.record("it exchanged with itself")
        } catch let error as SyncError {
            #expect(error.code == .selfPeer)
        }
    }

    @Test("a peer that knows more of this replica than the replica itself is an alarm")
    func restored() async throws {
        let pair = try ReplicaPair(.local)
        try ReplicaPair.insert(pair.a, 1..<3)
        try await pair.sync()
        let mine = Hello(
            cluster: "main", origin: try pair.a.identity().origin, formatVersion: 1, vector: VersionVector(),
            wallMilliseconds: 0)
        let theirs = Hello(
            cluster: "main", origin: try pair.b.identity().origin, formatVersion: 1,
            vector: try pair.replicatorB.inbox.vector(), wallMilliseconds: 0)
        do {
            try Handshake.check(mine: mine, theirs: theirs, peer: "B")
            Issue.record("the restored file was not noticed")
        } catch {
            #expect(error.code == .fork)
        }
    }

    @Test("a push that is cut off or in the wrong order is an error, and what came before it counts")
    func brokenPush() async throws {
        let pair = try ReplicaPair(.local)
        try ReplicaPair.insert(pair.a, 1..<10)
        let source = FrameSource(replica: pair.a, limits: pair.limits, encoding: .zstd, ends: SeenEnds())
        let portion = try await source.portion(after: VersionVector(), bytes: 1 << 20)
        let open = Frame(body: .open(cluster: "main", origin: try pair.a.identity().origin))

        var noOpen = pair.replicatorB.endpoint.beginPush()
        await #expect(throws: SyncError.self) { try await noOpen.receive(portion.frames[0].encoded()) }
        #expect(try pair.count(pair.b) == 0)

        var stranger = pair.replicatorB.endpoint.beginPush()
        let other = Frame(body: .open(cluster: "else", origin: OriginID(high: 9, low: 9)))
        await #expect(throws: SyncError.self) { try await stranger.receive(other.encoded()) }

        var cut = pair.replicatorB.endpoint.beginPush()
        try await cut.receive(open.encoded() + portion.frames[0].encoded())
        await #expect(throws: SyncError.self) { try await cut.finish() }
        #expect(try pair.count(pair.b) == 9)
    }

    @Test("the answer to a push is durable, also for a transaction whose end has not arrived")
    func durableAnswer() async throws {
        let (pair, limits, origin, portion) = try await ReplicaPair.sendingInParts()
        let open = Frame(body: .open(cluster: "main", origin: origin))
        var push = pair.replicatorB.endpoint.beginPush()
        try await push.receive(open.encoded() + portion.frames[0].encoded())
        try await push.receive(Frame(body: .end(vector: portion.vector, more: true)).encoded())
        let reply = try await push.finish()
        #expect(reply.vector[origin] == 4)

        // Another process, which has only the file.
        let restarted = try Inbox(replica: pair.b, limits: limits) { Stamp(milliseconds: 4_000_000_000_000) }
        #expect(try restarted.have().covers(reply.vector))
        #expect(try pair.count(pair.b) == 0)
        for frame in portion.frames.dropFirst() { _ = try restarted.receive(frame.batch(limits: limits)) }
        #expect(try pair.count(pair.b) == 9)
    }

    @Test("a push beyond the limit is refused with 413")
    func tooLarge() async throws {
        var limits = Limits.standard
        limits.streamBodyBytes = 100
        let pair = try ReplicaPair(.local, limits: limits)
        var receiver = pair.replicatorB.endpoint.beginPush()
        let origin = try pair.a.identity().origin
        let known = Frame(
            body: .batch(covers: [], encoding: .none, rawSize: 10), payload: [UInt8](repeating: 0, count: 10))
        do {
            try await receiver.receive(Frame(body: .open(cluster: "main", origin: origin)).encoded())
            for _ in 0..<10 { try await receiver.receive(known.encoded()) }
            Issue.record("it was taken")
        } catch let error as SyncError {
            #expect(error.httpStatus == 413)
        }
    }

    @Test("a followed peer exchanges changes by itself, and appears in the status")
    func follows() async throws {
        let pair = try ReplicaPair(.http, follows: true)
        try ReplicaPair.insert(pair.b, 1..<3)
        let run = Task { await pair.replicatorA.run() }
        try await reaches(pair.a, 2)
        try ReplicaPair.insert(pair.a, 10..<13)
        try await reaches(pair.b, 5)
        try ReplicaPair.insert(pair.b, 20..<21)
        try await reaches(pair.a, 6)
        let status = try #require(pair.replicatorA.status().peers.first)
        #expect(status.origin == (try pair.b.identity().origin))
        #expect(status.lastError == nil)
        run.cancel()
        await run.value
    }

    @Test("a peer that is down is retried, and followed when it starts")
    func comesLater() async throws {
        let pair = try ReplicaPair(.local)
        let server = try ScriptedServer.serving(pair.replicatorB.endpoint)
        let broken = try ScriptedServer { _, _ in false }
        broken.stop()
        var limits = Limits.standard
        limits.backoffBaseMilliseconds = 10
        limits.backoffCeilingMilliseconds = 20
        let replicator = try Replicator(
            replica: pair.a, peers: [PeerConfiguration(broken.url), PeerConfiguration(server.url)], limits: limits)
        let run = Task { await replicator.run() }
        try ReplicaPair.insert(pair.b, 1..<3)
        // One peer's failure does not delay the other.
        try await reaches(pair.a, 2)
        #expect(replicator.status().peers.map { $0.lastError?.code } == [.unreachable, nil])
        run.cancel()
        await run.value
        server.stop()
    }

    /// Waits for a number of rows by watching the file, as any reader does.
    private func reaches(_ replica: Replica, _ count: Int) async throws {
        let watch = try FileWatch(path: replica.path)
        defer { watch.stop() }
        let changes = watch.changes
        func isThere() throws -> Bool {
            try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == count
        }
        if try isThere() { return }
        for await _ in changes { if try isThere() { return } }
    }
}
