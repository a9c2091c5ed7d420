import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Changes that were deferred for their clock are asked for when they are due")
struct DueOriginsTests {
    private let latest = Stamp(milliseconds: 1_000_000)

    private func holds(_ stamps: [Int64?]) -> DeferredOrigins {
        var origins = DeferredOrigins()
        for (index, stamp) in stamps.enumerated() {
            origins.set(
                DeferredOrigin(
                    origin: OriginID(high: UInt64(index + 1), low: 1), firstVersion: 1, lastVersion: 2,
                    stamp: stamp.map { Stamp(milliseconds: $0) }))
        }
        return origins
    }

    @Test("the first of them decides, and those that are due or never will be do not")
    func first() {
        #expect(holds([]).nextDue(latest: latest) == nil)
        #expect(holds([1_005_000, 1_002_000, nil]).nextDue(latest: latest) == 2_001)
        #expect(holds([999_000]).nextDue(latest: latest) == nil)
        var never = holds([1_005_000])
        never.set(
            DeferredOrigin(
                origin: OriginID(high: 1, low: 1), firstVersion: 1, lastVersion: 2, stamp: DeferredOrigin.never))
        #expect(never.nextDue(latest: latest) == nil)
        var allowed = holds([1_005_000])
        allowed.allow(3_000, of: OriginID(high: 1, low: 1))
        #expect(allowed.nextDue(latest: latest) == 2_001)
    }

    @Test("what is never taken, and what was written on top of it, is not waited for")
    func acceptable() {
        func origin(_ number: UInt64) -> OriginID { OriginID(high: number, low: 1) }
        func hold(_ number: UInt64, from first: Int64, _ stamp: Stamp?, cause: UInt64? = nil) -> DeferredOrigin {
            DeferredOrigin(
                origin: origin(number), firstVersion: first, lastVersion: 9, stamp: stamp, cause: cause.map(origin))
        }
        var origins = DeferredOrigins()
        origins.set(hold(1, from: 3, .init(milliseconds: 1_005_000)))
        origins.set(hold(2, from: 3, DeferredOrigin.behind))
        origins.set(hold(3, from: 3, DeferredOrigin.never))
        origins.set(hold(4, from: 3, nil, cause: 1))
        origins.set(hold(5, from: 1, nil, cause: 2))
        origins.set(hold(6, from: 3, nil, cause: 5))
        let all = VersionVector((1...7).map { .init(origin: origin($0), version: 9) })
        let expected: [UInt64: Int64] = [1: 9, 2: 2, 3: 2, 4: 9, 6: 2, 7: 9]
        #expect(
            origins.acceptable(of: all)
                == VersionVector(expected.map { .init(origin: origin($0.key), version: $0.value) }))
    }

    @Test("a waiting pull ends when they are due, and the next one brings them")
    func pull() async throws {
        let cluster = try ClockedCluster(2, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        let early = cluster.limits.clockSkewMilliseconds + 7_000
        cluster.advance(early, [1])
        try cluster.execute(1, "INSERT INTO t VALUES (1, 'early')")
        try cluster.pull(0, from: 1)
        #expect(try cluster[0].read { try String.fetchAll($0, sql: "SELECT a FROM t") } == [])
        let transport = LocalTransport(
            Endpoint(replica: cluster[1], inbox: cluster.inboxes[1], changes: { AsyncStream { $0.finish() } }),
            name: "1")
        let session = SyncSession(
            replica: cluster[0], inbox: cluster.inboxes[0], transport: transport, limits: cluster.limits,
            clock: SystemClock())
        #expect(try await (6...8).contains(session.pollSeconds()))
        cluster.advance(4_500, [0])
        #expect(try await (2...4).contains(session.pollSeconds()))
        cluster.advance(4_500, [0])
        #expect(try await session.pollSeconds() == cluster.limits.longPollSeconds)
        _ = try await session.pull(waitSeconds: 0, from: cluster.inboxes[1].vector())
        #expect(try cluster[0].read { try String.fetchAll($0, sql: "SELECT a FROM t") } == ["early"])
    }
}
