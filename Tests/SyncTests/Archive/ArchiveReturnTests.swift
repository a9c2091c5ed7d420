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
            fixture.inbox, limits: archive.limits, clock: archive.clock, entropy: { 0 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do {
            let report = try await fixture.exchange(over: over)
            try await over.finish()
            let offered = try #require(await over.offered(report.theirs))
            guard try fixture.inbox.needsContent(of: offered) else { return false }
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
}
