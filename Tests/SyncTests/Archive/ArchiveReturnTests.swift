import GRDB
import Journal
import Logging
import TestSupport
import Testing

@testable import Sync

@Suite("Replicas that compacted apart from each other, and meet in an archive")
struct ArchiveReturnTests {
    private let archive = ArchiveFixture()

    /// A replica that has compacted what it wrote before it knew of another one.
    private func compacted(_ name: String, row: Int) throws -> ReplicaFixture {
        let fixture = try archive.replica(name)
        try fixture.execute("INSERT INTO t VALUES (\(row), '')")
        for number in 0..<20 { try fixture.execute("UPDATE t SET a = '\(name) \(number)'") }
        try #require(try fixture.compact() > 0)
        return fixture
    }

    /// Exchanges as a daemon does: it comes back by the archive when it is told so, and would do so by a snapshot that
    /// has merged what is refused here.
    ///
    /// - Returns: True when the replica came back.
    private func follow(_ fixture: ReplicaFixture) async throws -> Bool {
        let over = archive.transport(fixture)
        let returning = Returning(
            fixture.inbox, pulls: WaitingPullers(clock: archive.clock), limits: archive.limits, clock: archive.clock,
            entropy: { 0 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do {
            let report = try await fixture.exchange(over: over)
            try await over.finish()
            let offered = try #require(await over.offered(report.theirs))
            guard try fixture.inbox.needsContent(ofSnapshot: offered) else { return false }
        } catch let error as SyncError where error.code == .behindHorizon {}
        archive.clock.advance(1_000)
        return await returning.attempt(over, VersionVector(), OriginID(high: .max, low: .max))
    }

    @Test("the one whose snapshot is the newest stays, the other comes back once, and both have all rows")
    func settles() async throws {
        let (a, b) = (try compacted("a", row: 1), try compacted("b", row: 2))
        try await archive.exchange(a)
        archive.clock.advance(1_000)
        try await archive.exchange(b)
        let (first, second) = (try a.origin, try b.origin)
        for _ in 0..<5 {
            for fixture in [a, b] {
                _ = try await follow(fixture)
                archive.clock.advance(60_000)
            }
        }
        #expect(try b.origin == second)
        #expect(try a.origin != first)
        let left = try a.origin
        #expect(try await !follow(a))
        #expect(try await !follow(b))
        #expect(try a.origin == left)
        for fixture in [a, b] { #expect(try fixture.text("SELECT a FROM t ORDER BY id") == ["a 19", "b 19"]) }
        #expect(try a.vector == b.vector)

        // What nobody takes any more does not keep regular snapshots away.
        archive.clock.advance(2 * archive.limits.archive.snapshotMilliseconds)
        let over = archive.transport(b)
        try await b.exchange(over: over)
        #expect(try await over.makeSnapshotIfDue())
    }

    @Test("who refuses what is in the newest snapshot comes back by it, although that lacks what is compacted here")
    func newestLacksCompacted() async throws {
        let (a, b) = (try compacted("a", row: 1), try archive.replica("b"))
        try b.execute("INSERT INTO t VALUES (2, 'b')")
        // Two snapshots at once: the maker of the later one does not know of the first.
        let ofB = archive.transport(b)
        try await b.exchange(over: ofB)
        try await archive.exchange(a)
        archive.clock.advance(1_000)
        try await ofB.writeSnapshot()
        let (first, second) = (try a.origin, try b.origin)
        for _ in 0..<5 {
            for fixture in [a, b] {
                _ = try await follow(fixture)
                archive.clock.advance(60_000)
            }
        }
        #expect(try a.origin != first && b.origin == second)
        for fixture in [a, b] { #expect(try fixture.text("SELECT a FROM t ORDER BY id") == ["a 19", "b"]) }
        #expect(try a.vector == b.vector)
        for fixture in [a, b] { #expect(try await !follow(fixture)) }
    }

    @Test("who waits for news is told, too, that the newest snapshot has what no pack holds")
    func toldWhileWaiting() async throws {
        let b = try archive.replica("b")
        try b.execute("INSERT INTO t VALUES (2, 'b')")
        let over = archive.transport(b)
        try await b.exchange(over: over)
        let a = try compacted("a", row: 1)
        try await archive.exchange(a)
        let session = SyncSession(
            replica: b.replica, inbox: b.inbox, transport: over, limits: archive.limits, clock: archive.clock)
        _ = try await session.greet()
        await #expect { _ = try await session.pull(waitSeconds: 1) } throws: {
            ($0 as? SyncError)?.code == .behindHorizon
        }
    }

    @Test("changes that need what only an older snapshot has reach nobody, and keep no snapshot away")
    func unreachable() async throws {
        let a = try compacted("a", row: 1)
        try await archive.exchange(a)
        let c = try archive.replica("c")
        #expect(try await follow(c))
        try c.execute("INSERT INTO t VALUES (3, 'c')")
        try await archive.exchange(c)
        archive.clock.advance(1_000)
        // What the third one wrote needs what the first one had compacted. Both are gone.
        let b = try compacted("b", row: 2)
        let over = archive.transport(b)
        try await b.exchange(over: over)
        archive.clock.advance(archive.limits.archive.snapshotMilliseconds)
        try await b.exchange(over: over)
        #expect(try await over.makeSnapshotIfDue())
    }

    @Test(
        "the snapshot that was written last is the newest, also when a machine with a wrong clock has made another one")
    func wrongClock() async throws {
        let (a, b) = (try archive.replica("a"), try archive.replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'old')")
        for fixture in [a, b] { try await archive.exchange(fixture) }
        let year: Int64 = 365 * 86_400_000
        let ahead = ManualClock(wall: archive.clock.wallMilliseconds() + year)
        let ofA = archive.transport(a, clock: ahead)
        try await a.exchange(over: ofA)
        #expect(try await ofA.makeSnapshotIfDue())
        try b.execute("UPDATE t SET a = 'new'")
        let ofB = archive.transport(b)
        try await b.exchange(over: ofB)
        #expect(try await !ofB.makeSnapshotIfDue())
        // By its own clock, the first machine would make one at each look.
        ahead.advance(1_000)
        try await a.exchange(over: ofA)
        #expect(try await !ofA.makeSnapshotIfDue())

        archive.clock.advance(archive.limits.archive.snapshotMilliseconds)
        try await b.exchange(over: ofB)
        #expect(try await ofB.makeSnapshotIfDue())
        #expect(await ofB.offered == (try b.vector))
        var clone = Clone(
            from: ArchiveSnapshots(archive.store, limits: archive.limits), to: archive.directory.file("clone"))
        clone.clock = archive.clock
        #expect(try await clone.run().snapshot == ArchiveSnapshots(archive.store).newest().manifest.id)
        let cloned = try Replica.open(at: archive.directory.file("clone"), options: .unsynced)
        #expect(try cloned.read { try String.fetchAll($0, sql: "SELECT a FROM t") } == ["new"])

        // A clock that is behind does not show that a snapshot is old: what this process has seen does.
        let behind = ManualClock(wall: archive.clock.wallMilliseconds() - year)
        let late = archive.transport(b, clock: behind)
        try await b.exchange(over: late)
        #expect(try await !late.makeSnapshotIfDue())
        behind.advance(archive.limits.archive.snapshotMilliseconds)
        try await b.exchange(over: late)
        #expect(try await late.makeSnapshotIfDue())
    }

    @Test(
        "who refuses for ever what another one has merged says so, and that one puts its content into the archive",
        arguments: [false, true])
    func snapshotOnDemand(byHub: Bool) async throws {
        let (a, b, c) = (try archive.replica("a"), try archive.replica("b"), try archive.replica("c"))
        try a.execute("INSERT INTO t VALUES (1, 'old'), (2, 'old')")
        for fixture in [a, b, c] { try await archive.exchange(fixture) }
        for number in 0..<20 { try a.execute("UPDATE t SET a = 'a \(number)' WHERE id = 1") }
        let ofA = archive.transport(a)
        try await a.exchange(over: ofA)
        #expect(try await ofA.makeSnapshotIfDue())
        try await archive.exchange(c)
        // The second one had not seen what the first one compacts; the third one has, and compacts nothing.
        try #require(try a.compact() > 0)
        try b.execute("UPDATE t SET a = 'b' WHERE id = 2")
        let ofB = SyncSession(
            replica: b.replica, inbox: b.inbox, transport: archive.transport(b), limits: archive.limits,
            clock: archive.clock)
        _ = try await ofB.greet()
        _ = try await ofB.push(lacking: VersionVector())
        try await ofB.transport.finish()
        let ofC = archive.transport(c)
        try await c.exchange(over: ofC)
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["a 19", "b"])
        #expect(try await !follow(a))
        #expect(try a.text("SELECT a FROM t ORDER BY id") == ["a 19", "old"])
        #expect(try await !ofC.makeSnapshotIfDue())

        archive.clock.advance(1_000)
        if byHub {
            let hub = Hub(archive.store, limits: archive.limits, clock: archive.clock)
            try await a.exchange(over: HubTransport(hub))
        } else {
            try await archive.exchange(a)
        }
        // The third one waits for news, and says no hello.
        _ = try await SyncSession(
            replica: c.replica, inbox: c.inbox, transport: ofC, limits: archive.limits, clock: archive.clock
        ).pull(waitSeconds: 0)
        #expect(try await ofC.makeSnapshotIfDue())
        #expect(try await !ofC.makeSnapshotIfDue())
        #expect(try await follow(a))
        for fixture in [a, b, c] { try await archive.exchange(fixture) }
        for fixture in [a, b, c] { #expect(try fixture.text("SELECT a FROM t ORDER BY id") == ["a 19", "b"]) }
    }
}
