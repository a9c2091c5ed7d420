import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("A hub") struct HubTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock(wall: ReplicaFixture.now.milliseconds)
    private let store: MemoryStore
    /// True while the store writes no packs.
    private let isDown = Flag()

    init() {
        store = MemoryStore(
            clock: { [clock] in clock.wallMilliseconds() },
            fault: { [isDown] verb, key in
                isDown.value && verb == .create && key.hasPrefix("1/w/") ? .refused : nil
            })
    }

    private var limits: Limits {
        var limits = Limits.standard
        limits.archive = limits.archive.ofOneExchange
        limits.archive.listMilliseconds = 0
        limits.archive.idleListMilliseconds = 0
        return limits
    }

    private func hub(_ limits: Limits? = nil, store: MemoryStore? = nil) -> Hub {
        Hub(store ?? self.store, limits: limits ?? self.limits, clock: clock)
    }

    private func replica(_ name: String, cluster: String? = nil) throws -> ReplicaFixture {
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        var request = InitializeRequest()
        if let cluster { request.cluster = cluster }
        return try ReplicaFixture(
            .make(
                at: directory.file(name), schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", request,
                options: settings.options), settings)
    }

    private func archive(_ fixture: ReplicaFixture) -> ArchiveTransport {
        ArchiveTransport(
            store, replica: fixture.replica, limits: limits, clock: clock,
            entropy: { UInt64.random(in: .min ... .max) })
    }

    private func rows(_ fixture: ReplicaFixture) throws -> [String] { try fixture.text("SELECT a FROM t ORDER BY id") }

    private var packs: [String] { store.keys.filter { $0.hasPrefix("1/w/") } }

    // MARK: - Serving

    @Test("replicas that know nothing else have the same rows, and the archive holds them")
    func serves() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        let hub = HubTransport(hub())
        try a.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
        let sent = try await a.exchange(over: hub)
        #expect(sent.pushedChanges == 2 && sent.isLevel)
        try b.execute("INSERT INTO t VALUES (3, 'three')")
        try await b.exchange(over: hub)
        try await a.exchange(over: hub)
        #expect(try rows(a) == ["one", "two", "three"] && rows(b) == rows(a))
        try await c.exchange(over: archive(c))
        #expect(try rows(c) == rows(a))
        #expect(try await ArchiveSurvey(store).verify().problems == [])
    }

    @Test("a hub has what was compacted before it came to the archive, also when it began before that")
    func readsLaterSnapshots() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let hub = hub()
        try await b.exchange(over: HubTransport(hub))
        try a.execute("INSERT INTO t VALUES (1, '')")
        for number in 0..<20 { try a.execute("UPDATE t SET a = '\(number)'") }
        try #require(try a.compact() > 0)
        try await a.exchange(over: archive(a))
        clock.advance(limits.archive.acknowledgementMilliseconds)
        try await hub.tick()

        let level = try await a.exchange(over: HubTransport(hub))
        #expect(level.isLevel)
        await #expect { try await b.exchange(over: HubTransport(hub)) } throws: {
            ($0 as? SyncError)?.code == .behindHorizon
        }
    }

    @Test("who has what the newest snapshot has is served, whatever other replicas had compacted apart from its maker")
    func servesOnTopOfNewestSnapshot() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        let hub = hub()
        for (key, fixture) in [a, c].enumerated() {
            try fixture.execute("INSERT INTO t VALUES (\(key), '')")
            for number in 0..<20 { try fixture.execute("UPDATE t SET a = '\(number)'") }
        }
        try await b.exchange(with: c)
        for fixture in [a, c] { try #require(try fixture.compact() > 0) }
        try await a.exchange(over: archive(a))
        try await hub.tick()
        await #expect { try await b.exchange(over: HubTransport(hub)) } throws: {
            ($0 as? SyncError)?.code == .behindHorizon
        }

        clock.advance(limits.archive.acknowledgementMilliseconds)
        try await c.exchange(over: archive(c))
        await #expect(throws: Hub.beginsAnew) { try await hub.tick() }
        try await hub.tick()
        #expect(try await b.exchange(over: HubTransport(hub)).isLevel)
    }

    @Test("what a replica that knows only a hub acknowledges for the names that it has finished is in the archive")
    func finishedNames() async throws {
        let a = try replica("a")
        let former = OriginID(high: 5, low: 5)
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try a.replica.write { try FinishedOrigins.add(former, time: 0, $0) }
        try await a.exchange(over: HubTransport(hub()))
        let bytes = try #require(store.content[ArchiveKeys.acknowledgement(former)])
        let stored: ArchivedAcknowledgement = try ArchiveJSON.decode(bytes, "An acknowledgement")
        #expect(try stored.acknowledgement.vector == a.vector)
    }

    @Test("what a replica acknowledges soon after a hello is in the archive a little later, unless it is old by then")
    func laterNews() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        func stored(_ fixture: ReplicaFixture) throws -> VersionVector {
            let bytes = try #require(store.content[ArchiveKeys.acknowledgement(fixture.origin)])
            let stored: ArchivedAcknowledgement = try ArchiveJSON.decode(bytes, "An acknowledgement")
            return stored.acknowledgement.vector
        }
        let hub = hub()
        var first: [VersionVector] = []
        for fixture in [a, b] {
            try await fixture.exchange(over: HubTransport(hub))
            first.append(try stored(fixture))
            try fixture.execute("INSERT INTO t VALUES (\(first.count), '')")
            try await fixture.exchange(over: HubTransport(hub))
            try await fixture.exchange(over: HubTransport(hub))
            #expect(try stored(fixture) == first.last)
        }
        // The second one tells another hub more.
        try b.execute("INSERT INTO t VALUES (3, '')")
        let other = self.hub()
        try await other.tick()
        for _ in 0..<2 {
            clock.advance(1_000)
            try await b.exchange(over: HubTransport(other))
        }
        let latest = try stored(b)
        #expect(latest != first[1])

        clock.advance(limits.archive.acknowledgementMilliseconds)
        try await hub.tick()
        #expect(try stored(a) == a.vector && stored(b) == latest)
    }

    @Test("a store that fails now and then lets a hub read in the end what many replicas have told")
    func readsOnAfterFailure() async throws {
        for (key, name) in ["a", "b", "c", "d"].enumerated() {
            let fixture = try replica(name)
            try fixture.execute("INSERT INTO t VALUES (\(key), '')")
            try await fixture.exchange(over: archive(fixture))
        }
        let gets = Mutex(0)
        let flaky = MemoryStore(fault: { verb, key in
            guard verb == .get, key.hasPrefix("1/l/") else { return nil }
            return gets.withLock { gets in
                gets += 1
                return gets % 2 == 0 ? .refused : nil
            }
        })
        for (key, bytes) in store.content { try await flaky.replace(key, bytes) }
        let hub = hub(store: flaky)
        for _ in 0..<3 { await #expect(throws: SyncError.self) { try await hub.tick() } }
        try await hub.tick()
        #expect(await hub.acknowledgements.count == 4)
    }

    @Test("what a dead hub has not announced is written again by the one that takes its place")
    func takesOverUnannounced() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        var rarely = limits
        rarely.archive.headMilliseconds = .max
        let first = hub(rarely)
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: HubTransport(first))
        let session = SyncSession(
            replica: b.replica, inbox: b.inbox, transport: archive(b), limits: limits, clock: clock)
        _ = try await session.greet()
        _ = try await session.pull(waitSeconds: 0)
        // Long after the last pack, who follows the archive looks behind that head no more.
        clock.advance(2 * limits.archive.activeMilliseconds)
        _ = try await session.pull(waitSeconds: 0)
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        try await a.exchange(over: HubTransport(first))

        let second = hub()
        try await second.tick()
        #expect(try await a.exchange(over: HubTransport(second)).isLevel)
        _ = try await session.pull(waitSeconds: 0)
        #expect(try rows(b) == ["one"])
        clock.advance(2 * limits.archive.activeMilliseconds)
        try await second.tick()
        try await second.tick()
        try await second.finish()
        _ = try await session.pull(waitSeconds: 0)
        #expect(try rows(b) == ["one", "two"])
        let packs = packs.count
        clock.advance(2 * limits.archive.activeMilliseconds)
        for hub in [second, hub()] {
            try await hub.tick()
            try await hub.tick()
        }
        #expect(self.packs.count == packs)
    }

    @Test("what replicas write to the archive themselves is served, also to a hub that starts later")
    func readsArchive() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: archive(a))
        let first = hub()
        try await first.tick()
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        try await a.exchange(over: archive(a))
        try await first.tick()
        #expect(await first.status.frames == 2)
        try await b.exchange(over: HubTransport(first))
        #expect(try rows(b) == ["one", "two"])
        let c = try replica("c")
        try await c.exchange(over: HubTransport(hub()))
        #expect(try rows(c) == ["one", "two"])
    }

    @Test("a pull that waits gets what another replica pushes, and not what its caller has pushed")
    func forwards() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let over = HubTransport(Hub(store, limits: limits, clock: SystemClock()))
        for fixture in [a, b] { try await fixture.exchange(over: over) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let (origin, cluster) = (try b.origin, try b.replica.identity().cluster)
        let own = PullRequest(cluster: cluster, origin: try a.origin, have: VersionVector(), waitSeconds: 0)
        let waiting = PullRequest(cluster: cluster, origin: origin, have: VersionVector(), waitSeconds: 25)
        let frames = Mutex(0)
        async let end = over.pull(waiting) { _ in frames.withLock { $0 += 1 } }
        while !over.endpoint.pulls.isWaiting(origin) { await Task.yield() }
        try await a.exchange(over: over)
        _ = try await end
        #expect(frames.withLock { $0 } == 1)
        _ = try await over.pull(own) { _ in frames.withLock { $0 += 1 } }
        #expect(frames.withLock { $0 } == 1)
    }

    @Test("a pull that waits ends when the hub gets what its caller has, and may have built on")
    func bringsNeeds() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let over = HubTransport(Hub(store, limits: limits, clock: SystemClock()))
        for fixture in [a, b] { try await fixture.exchange(over: over) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        try b.execute("UPDATE t SET a = 'two' WHERE id = 1")
        let session = SyncSession(replica: b.replica, inbox: b.inbox, transport: over, limits: limits, clock: clock)
        let own = VersionVector([.init(origin: try b.origin, version: try b.vector[b.origin])])
        #expect(try await session.push(lacking: a.vector).heldBack == own)
        let waiting = PullRequest(
            cluster: try b.replica.identity().cluster, origin: try b.origin, have: try b.vector, waitSeconds: 25)
        let time = ContinuousClock()
        let began = time.now
        async let end = over.pull(waiting) { _ in Issue.record("the caller has all changes") }
        while !over.endpoint.pulls.isWaiting(try b.origin) { await Task.yield() }
        try await a.exchange(over: over)
        // What the archive has, and what is on its way there.
        let known = try await end
        #expect(try known.vector.merged(with: known.heldBack) == a.vector)
        #expect(time.now - began < .seconds(20))
        #expect(try await session.push(lacking: a.vector).heldBack.isEmpty)
    }

    @Test("frames that no longer fit into memory are read from their packs")
    func dropsPayloads() async throws {
        var limits = limits
        limits.hub.cacheBytes = 0
        let (a, b) = (try replica("a"), try replica("b"))
        let hub = hub(limits)
        for id in 1...3 {
            try a.execute("INSERT INTO t VALUES (\(id), 'row \(id)')")
            try await a.exchange(over: HubTransport(hub))
        }
        let status = await hub.status
        #expect(status.cachedBytes == 0 && status.frames == 3)
        try await b.exchange(over: HubTransport(hub))
        #expect(try rows(b) == ["row 1", "row 2", "row 3"])

        // Each is passed on before the next pack is read.
        let request = PullRequest(
            cluster: "main", origin: try b.origin, have: VersionVector(), waitSeconds: 0, maxBytes: 0)
        let gets = Mutex<[Int]>([])
        let before = hub.store.requests.gets
        _ = try await HubEndpoint(hub).pull(request) { (_: Frame) in
            gets.withLock { $0.append(hub.store.requests.gets - before) }
        }
        #expect(gets.withLock { $0 } == [1, 2, 3])
    }

    // MARK: - Acknowledgement

    @Test("changes are not acknowledged before the store has them, and wait for it; others get them at once")
    func storeDown() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let hub = hub()
        let over = HubTransport(hub)
        for fixture in [a, b] { try await fixture.exchange(over: over) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        isDown.value = true
        for _ in 0..<2 {
            let error = await #expect(throws: SyncError.self) { try await a.exchange(over: over) }
            #expect(error?.code == .busy && error?.message.contains("store") == true)
        }
        #expect(await hub.status.waitingFrames == 1)
        let origin = try a.origin
        let request = PullRequest(
            cluster: try b.replica.identity().cluster, origin: try b.origin, have: VersionVector(), waitSeconds: 0)
        let frames = Mutex(0)
        let end = try await over.pull(request) { _ in frames.withLock { $0 += 1 } }
        #expect(frames.withLock { $0 } == 1 && end.vector[origin] == 0 && end.heldBack[origin] == 1)
        // The one who has got it need not push it, and a new hello promises nothing.
        #expect(try await b.exchange(over: over).pushedChanges == 0)
        #expect(try await hub.hello(Hello(b.replica, clock)).vector[origin] == 0)

        isDown.value = false
        try await hub.tick()
        #expect(await hub.status.waitingFrames == 0)
        #expect(try await a.exchange(over: over).isLevel)
        #expect(packs.count == 1)
        #expect(try rows(b) == ["one"])
    }

    @Test("what has waited for the store gathers no longer")
    func hasGathered() async throws {
        let a = try replica("a")
        let hub = hub()
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        isDown.value = true
        await #expect(throws: SyncError.self) { try await a.exchange(over: HubTransport(hub)) }
        isDown.value = false
        clock.advance(limits.hub.flushMilliseconds)
        let time = clock.steadyMilliseconds()
        try await hub.tick()
        #expect(await hub.status.waitingFrames == 0)
        #expect(clock.steadyMilliseconds() == time)
    }

    @Test("a push that is repeated after a failure of the store is stored once, by the repetition")
    func repeatedPush() async throws {
        let a = try replica("a")
        let hub = hub()
        let over = HubTransport(hub)
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        isDown.value = true
        await #expect(throws: SyncError.self) { try await a.exchange(over: over) }
        isDown.value = false
        #expect(try await a.exchange(over: over).isLevel)
        #expect(packs.count == 1)
        let status = await hub.status
        #expect(status.frames == 1 && status.receivedChanges == 1)
    }

    @Test("what waits for the store is bounded; more is refused until there is room")
    func bounded() async throws {
        var limits = limits
        limits.hub.waitingBytes = 1
        let (a, b) = (try replica("a"), try replica("b"))
        let over = HubTransport(hub(limits))
        for fixture in [a, b] { try await fixture.exchange(over: over) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        isDown.value = true
        for fixture in [a, b] {
            await #expect(throws: SyncError.self) { try await fixture.exchange(over: over) }
        }
        #expect(await over.endpoint.hub.status.waitingFrames == 1)
        isDown.value = false
        for fixture in [a, b, a] { try await fixture.exchange(over: over) }
        #expect(try rows(a) == ["one", "two"])
    }

    // MARK: - Ends of hubs

    @Test("what one hub has acknowledged, another serves; what it had not, is pushed again")
    func successor() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let first = HubTransport(hub())
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: first)
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        isDown.value = true
        await #expect(throws: SyncError.self) { try await a.exchange(over: first) }
        isDown.value = false
        // The first one is gone.
        let second = HubTransport(hub())
        try await b.exchange(over: second)
        #expect(try rows(b) == ["one"])
        #expect(try await a.exchange(over: second).pushedChanges == 1)
        try await b.exchange(over: second)
        #expect(try rows(b) == ["one", "two"])
    }

    @Test("two hubs of one archive take the same changes, and never write under the same name")
    func sideBySide() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        let (one, two) = (hub(), hub())
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        try b.execute("UPDATE t SET a = 'changed' WHERE id = 1")
        // Both open the archive before either has written.
        for hub in [one, two] { _ = try await hub.hello(Hello(a.replica, clock)) }
        try await b.exchange(over: HubTransport(one))
        try await a.exchange(over: HubTransport(two))
        for hub in [one, two] { try await hub.tick() }
        for over in [HubTransport(one), HubTransport(two)] {
            for fixture in [a, b] { try await fixture.exchange(over: over) }
        }
        #expect(Set(packs.map { $0.split(separator: "/")[2] }).count == 2)
        try await c.exchange(over: archive(c))
        #expect(try rows(a) == ["changed"] && rows(b) == rows(a) && rows(c) == rows(a))
        #expect(try await ArchiveSurvey(store).verify().problems == [])
    }

    @Test("one hub's news reach the other by the archive")
    func otherHub() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let (one, two) = (hub(), hub())
        for hub in [one, two] { _ = try await hub.hello(Hello(a.replica, clock)) }
        for id in 1...2 {
            try a.execute("INSERT INTO t VALUES (\(id), 'row')")
            try await a.exchange(over: HubTransport(one))
            try await two.tick()
            try await b.exchange(over: HubTransport(two))
            #expect(try rows(b).count == id)
        }
    }

    @Test("changes that lack what comes before them are a gap, unless another hub has written that")
    func gap() async throws {
        let a = try replica("a")
        let (one, two) = (HubTransport(hub()), HubTransport(hub()))
        for over in [one, two] { try await a.exchange(over: over) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        let frames = try a.batches(after: VersionVector(), changes: 1).map { try Frame($0, encoding: .zstd) }
        let identity = try a.replica.identity()
        func push(_ frame: Frame, over: HubTransport) async throws -> PushReply {
            try await over.push([
                Frame(body: .open(cluster: identity.cluster, origin: identity.origin)), frame,
                Frame(body: .end(vector: VersionVector(), more: true)),
            ])
        }
        let error = await #expect(throws: SyncError.self) { try await push(frames[1], over: two) }
        #expect(error?.code == .gap)
        _ = try await push(frames[0], over: one)
        #expect(try await push(frames[1], over: two).vector[identity.origin] == 2)
    }

    // MARK: - Hubs that follow each other

    /// Two hubs of which the second has got from the first what that could not write.
    private func relayed(from a: ReplicaFixture) async throws -> (one: Hub, two: Hub) {
        let (one, two) = (hub(), hub())
        for hub in [one, two] { _ = try await hub.hello(Hello(a.replica, clock)) }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        isDown.value = true
        await #expect(throws: SyncError.self) { try await a.exchange(over: HubTransport(one)) }
        isDown.value = false
        try await two.pull(from: HubTransport(one), as: .random(), waitSeconds: 0)
        return (one, two)
    }

    @Test("what one hub takes goes to replicas of the other at once, and only the first one writes it")
    func passesOn() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let (one, two) = try await relayed(from: a)
        try await b.exchange(over: HubTransport(two))
        #expect(try rows(b) == ["one"])
        #expect(packs.isEmpty)
        try await one.tick()
        try await two.tick()
        #expect(await two.status.waitingFrames == 0)
        clock.advance(60_000)
        try await two.tick()
        #expect(packs.count == 1)
    }

    @Test("what a hub that is gone has passed on is written by the other")
    func takesOver() async throws {
        let a = try replica("a")
        let (_, two) = try await relayed(from: a)
        try await two.tick()
        #expect(packs.isEmpty)
        clock.advance(10_000)
        try await two.tick()
        #expect(packs.count == 1)
        #expect(await two.status.waitingFrames == 0)
    }

    @Test("a push of what another hub has passed on waits until this one has written it")
    func pushedAgain() async throws {
        let a = try replica("a")
        let (_, two) = try await relayed(from: a)
        #expect(try await a.exchange(over: HubTransport(two)).isLevel)
        #expect(packs.count == 1)
    }

    @Test("what builds on changes that another hub has not written is written after them")
    func relayedOrder() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        let (_, two) = try await relayed(from: a)
        try await b.exchange(over: HubTransport(two))
        try b.execute("UPDATE t SET a = 'two' WHERE id = 1")
        #expect(try await b.exchange(over: HubTransport(two)).isLevel)
        try await c.exchange(over: archive(c))
        #expect(try rows(c) == ["two"])
        #expect(try await ArchiveSurvey(store).verify().problems == [])
    }

    // MARK: - Transactions

    @Test("half of a transaction is kept and never shown, by no hub and no replica, until its end comes")
    func tornTransaction() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let first = HubTransport(hub())
        try await a.exchange(over: first)
        try a.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        let identity = try a.replica.identity()
        let frames = try a.batches(after: VersionVector(), changes: 1).map { try Frame($0, encoding: .zstd) }
        #expect(frames.count == 3)
        func push(_ frames: some Sequence<Frame>, over: HubTransport) async throws -> PushReply {
            try await over.push(
                [Frame(body: .open(cluster: identity.cluster, origin: identity.origin))] + frames
                    + [Frame(body: .end(vector: VersionVector(), more: true))])
        }
        let reply = try await push(frames.prefix(2), over: first)
        #expect(reply.vector[identity.origin] == 2)
        let second = HubTransport(hub())
        for over in [first, second] {
            try await b.exchange(over: over)
            #expect(try rows(b) == [])
            #expect(try await over.hello(Hello(b.replica, clock)).vector[identity.origin] == 0)
        }
        _ = try await push(frames.suffix(1), over: second)
        try await b.exchange(over: second)
        #expect(try rows(b) == ["one", "two", "three"])
    }

    // MARK: - Refusals

    @Test("pushes that cannot be decoded, of others, or in the archive's name are refused, and nobody gets them")
    func refuses() async throws {
        let (a, b) = (try replica("a", cluster: "first"), try replica("b", cluster: "second"))
        let hub = hub()
        let over = HubTransport(hub)
        try await a.exchange(over: over)
        await #expect { try await b.exchange(over: over) } throws: { ($0 as? SyncError)?.code == .otherCluster }
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let identity = try a.replica.identity()
        let open = Frame(body: .open(cluster: identity.cluster, origin: identity.origin))
        let end = Frame(body: .end(vector: VersionVector(), more: false))
        var damaged = try Frame(a.batches(after: VersionVector())[0], encoding: .zstd)
        damaged.payload = damaged.payload.map { $0 ^ 0x55 }
        var forged = try a.batches(after: VersionVector())[0]
        forged.runs[0].origin = try await hub.hello(Hello(a.replica, clock)).origin
        for bad in [damaged, try Frame(forged, encoding: .zstd)] {
            await #expect { try await over.push([open, bad, end]) } throws: { ($0 as? SyncError)?.code == .invalid }
        }
        await #expect { try await over.push([damaged, end]) } throws: { ($0 as? SyncError)?.code == .invalid }
        await #expect { try await over.push([open]) } throws: { ($0 as? SyncError)?.code == .truncated }
        #expect(await hub.status.frames == 0)
        #expect(packs.isEmpty)
    }

    @Test("a replica that would be one writer too many is refused, and reads all the same")
    func full() async throws {
        var limits = limits
        limits.archive.mostWriters = 1
        let (a, b) = (try replica("a"), try replica("b"))
        let over = HubTransport(hub(limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: over)
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        await #expect { try await b.exchange(over: over) } throws: { ($0 as? SyncError)?.code == .tooLarge }
        #expect(try rows(b) == ["one", "two"])
        #expect(await over.endpoint.hub.status.frames == 1)
    }

    @Test("a copy of a file learns that it is one, and takes a new identity")
    func twin() async throws {
        let a = try replica("a")
        let over = HubTransport(hub())
        try await a.exchange(over: over)
        try a.close()
        try FileManager.default.copyItem(atPath: directory.file("a"), toPath: directory.file("twin"))
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        let first = try ReplicaFixture(Replica.open(at: directory.file("a"), options: .unsynced), settings)
        let twin = try ReplicaFixture(Replica.open(at: directory.file("twin"), options: .unsynced), settings)
        try first.execute("INSERT INTO t VALUES (2, 'by the first')")
        try twin.execute("INSERT INTO t VALUES (3, 'by the twin')")
        for _ in 0..<2 { for fixture in [first, twin] { try await fixture.exchange(over: over) } }
        #expect(try first.origin != twin.origin)
        #expect(try rows(first) == ["by the first", "by the twin"] && rows(twin) == rows(first))
    }

    // MARK: - The archive

    @Test("a store that has lost packs is filled again by those who have their changes")
    func restoredStore() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        let hub = hub()
        let over = HubTransport(hub)
        try await a.exchange(over: over)
        let before = store.content
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: over)
        store.restore(before)
        await #expect(throws: SyncError.self) { try await hub.tick() }
        try await hub.tick()
        #expect(await hub.status.frames == 0)
        try await a.exchange(over: over)
        try await b.exchange(over: over)
        #expect(try rows(b) == ["one"])
    }

    @Test("a collection counts what replicas have told a hub, and the hub itself holds nothing back")
    func collection() async throws {
        var limits = limits
        limits.archive.acknowledgementMilliseconds = 0
        limits.hub.cacheBytes = 0
        let (a, b) = (try replica("a"), try replica("b"))
        let hub = hub(limits)
        let over = HubTransport(hub)
        for id in 1...2 {
            try a.execute("INSERT INTO t VALUES (\(id), 'row')")
            for fixture in [a, b] { try await fixture.exchange(over: over) }
        }
        var settings = CollectionSettings()
        settings.keepMilliseconds = 0
        settings.graceMilliseconds = 1_000
        let snapshots = archive(a)
        try await a.exchange(over: snapshots)
        try await snapshots.writeSnapshot()
        let collector = ArchiveCollector(
            store, settings: settings, limits: limits, entropy: { UInt64.random(in: .min ... .max) })
        let marked = try await collector.run(isDryRun: false)
        #expect(marked.obstacles == [] && marked.markedPacks == packs.count)
        clock.advance(2_000)
        #expect(try await collector.run(isDryRun: false).removedPacks == 2)

        // Who has everything goes on; who lacks it is sent to the snapshot, by this hub and by a later one.
        let later = HubTransport(self.hub(limits))
        let c = try replica("c")
        for peer in [over, later] {
            #expect(try await b.exchange(over: peer).isLevel)
            await #expect { try await c.exchange(over: peer) } throws: { ($0 as? SyncError)?.code == .behindHorizon }
            guard case .ready(let manifest) = try await peer.endpoint.snapshot() else {
                Issue.record("no snapshot")
                continue
            }
            let part = try await peer.endpoint.part(0, of: manifest.id, encoding: .none)
            #expect(SHA256.digest(of: part) == manifest.parts[0].bytes)
        }
        try a.execute("INSERT INTO t VALUES (3, 'row')")
        try await a.exchange(over: later)
        try await b.exchange(over: later)
        #expect(try rows(b).count == 3)
        #expect(try await ArchiveSurvey(store).verify().problems == [])
    }
}

/// A switch that closures share.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension Hello {
    /// What a replica would say.
    fileprivate init(_ replica: Replica, _ clock: ManualClock) throws {
        self = try replica.read { try Hello($0, wallMilliseconds: clock.wallMilliseconds()) }
    }
}
