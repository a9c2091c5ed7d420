import Foundation
import GRDB
import Journal
import Logging
import TestSupport
import Testing

@testable import Sync

@Suite("The collection of an archive")
struct ArchiveCollectorTests {
    private let archive = ArchiveFixture()
    private var clock: ManualClock { archive.clock }
    private var store: MemoryStore { archive.store }
    private var limits: Limits { archive.limits }

    private var settings: CollectionSettings {
        var settings = CollectionSettings()
        settings.keepMilliseconds = 0
        settings.graceMilliseconds = 86_400_000
        return settings
    }

    private func collect(isDryRun: Bool = false) async throws -> ArchiveCollector.Report {
        try await archive.collector(settings).run(isDryRun: isDryRun)
    }

    private var packs: [String] { store.keys.filter { $0.hasPrefix("1/w/") } }

    /// Two replicas that know the same, each with a pack, and snapshots of the first, a second apart.
    private func filled(snapshots: Int = 1) async throws -> (a: ReplicaFixture, b: ReplicaFixture) {
        let (a, b) = (try archive.replica("a"), try archive.replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        for _ in 0..<3 { for fixture in [a, b] { try await archive.exchange(fixture) } }
        for number in 0..<snapshots {
            if number > 0 { clock.advance(1_000) }
            let transport = archive.transport(a)
            try await a.exchange(over: transport)
            try await transport.writeSnapshot()
        }
        return (a, b)
    }

    @Test("packs are marked, and removed a day later; all the same, the archive is whole and lacks nothing")
    func removes() async throws {
        let (a, b) = try await filled()
        #expect(packs.count == 2)
        let before = try await ArchiveSurvey(store).summary().vector

        let marked = try await collect()
        #expect((marked.markedPacks, marked.removedPacks) == (2, 0))
        #expect(marked.obstacles == [])
        #expect(packs.count == 2)
        clock.advance(86_399_000)
        let early = try await collect()
        #expect((early.removedPacks, early.waitingMarks) == (0, 2))
        clock.advance(1_000)
        let removed = try await collect()
        #expect((removed.markedPacks, removed.removedPacks) == (0, 2))
        #expect(packs == [])

        let survey = ArchiveSurvey(store)
        #expect(try await survey.summary().vector == before)
        #expect(try await survey.verify().problems == [])
        // A clone has what was removed, and takes what comes later.
        try b.execute("INSERT INTO t VALUES (3, 'three')")
        try await archive.exchange(b)
        var clone = Clone(from: ArchiveSnapshots(store, limits: limits), to: archive.directory.file("c"))
        clone.clock = clock
        _ = try await clone.run { _ in }
        let c = try ReplicaFixture(Replica.open(at: archive.directory.file("c"), options: .unsynced), archive.settings)
        try await archive.exchange(c)
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["one", "two", "three"])
        // Nobody writes again what was removed.
        try await archive.exchange(a)
        #expect(packs.count == 1)
        #expect(try await collect().removedPacks == 0)
    }

    @Test("a dry run says the same, and changes no object")
    func dryRun() async throws {
        _ = try await filled()
        let before = store.content
        let report = try await collect(isDryRun: true)
        #expect((report.markedPacks, report.removedPacks) == (2, 0))
        #expect(report.markedBytes > 0)
        #expect(store.content == before)
        _ = try await collect()
        clock.advance(86_400_000)
        let marked = store.content
        #expect(try await collect(isDryRun: true).removedPacks == 2)
        #expect(store.content == marked)
    }

    @Test("a replica that cannot get what was removed is told to clone, and applies nothing")
    func behind() async throws {
        let (_, b) = try await filled()
        _ = try await collect()
        clock.advance(86_400_000)
        _ = try await collect()
        try b.execute("INSERT INTO t VALUES (3, 'three')")
        try await archive.exchange(b)
        let late = try archive.replica("late")
        await #expect { try await archive.exchange(late) } throws: { ($0 as? SyncError)?.code == .behindHorizon }
        #expect(try late.text("SELECT a FROM t") == [])
        #expect(store.keys.filter { $0.hasPrefix("1/d/") } == [])
    }

    @Test("what a replica has not merged stays, also when it was marked before")
    func unmerged() async throws {
        let (a, b) = try await filled()
        try a.execute("INSERT INTO t VALUES (4, 'four')")
        try await archive.exchange(a)
        let over = archive.transport(a)
        try await a.exchange(over: over)
        try await over.writeSnapshot()
        // The snapshots have it, or not; the other replica has it not.
        #expect(try await collect().markedPacks == 2)
        #expect(packs.count == 3)
        // It forgets what it had told, as a store does that is restored: its packs are needed again.
        let key = try #require(store.keys.first { try $0 == "1/l/\(b.origin)" })
        store.damage(key, nil)
        clock.advance(86_400_000)
        let report = try await collect()
        #expect(report.removedPacks == 0)
        #expect(report.obstacles == ["\(try b.origin) writes, and has not told what it has merged"])
        try await archive.exchange(b)
        #expect(try await collect().removedPacks == 2)
        #expect(try b.text("SELECT a FROM t ORDER BY id") == ["one", "two", "four"])
    }

    @Test("when the snapshots are lost, what was removed counts as lost, and is written again")
    func lostSnapshot() async throws {
        let (a, b) = try await filled()
        _ = try await collect()
        clock.advance(86_400_000)
        _ = try await collect()
        for key in store.keys where key.hasPrefix("1/m/") { store.damage(key, nil) }
        // Who needs the packs finds them missing, and tells so.
        let c = try archive.replica("c")
        for _ in 0..<3 { for fixture in [c, a, b] { try? await archive.exchange(fixture) } }
        try await archive.exchange(c)
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
    }

    @Test("old snapshots go with their parts, and parts without a manifest")
    func snapshots() async throws {
        _ = try await filled(snapshots: 3)
        _ = try await store.create("1/s/0123456789abcdef0123456789abcdef/0", [1, 2, 3])
        #expect(try await collect().markedSnapshots == 1)
        clock.advance(86_400_000)
        let report = try await collect()
        #expect(report.removedSnapshots == 1)
        let left = Set(store.keys.filter { $0.hasPrefix("1/m/") }.map { $0.dropFirst(4) })
        let parts = Set(store.keys.filter { $0.hasPrefix("1/s/") }.map { $0.dropFirst(4).prefix { $0 != "/" } })
        #expect(left.count == 2)
        #expect(parts == left)
    }

    @Test("parts of a snapshot that is being written stay, however long a collector looks")
    func unfinished() async throws {
        _ = try await filled()
        let slow = MemoryStore(
            clock: { [clock] in clock.wallMilliseconds() },
            fault: { [clock] verb, key in
                if verb == .list, key == "1/m/" { clock.advance(86_400_000) }
                return nil
            })
        slow.restore(store.content)
        let part = "1/s/0123456789abcdef0123456789abcdef/0"
        _ = try await slow.create(part, [1, 2, 3])
        let collector = ArchiveCollector(
            slow, settings: settings, limits: limits, entropy: { UInt64.random(in: .min ... .max) })
        _ = try await collector.run(isDryRun: false)
        #expect(slow.keys.contains(part))
        _ = try await collector.run(isDryRun: false)
        #expect(!slow.keys.contains(part))
    }

    @Test("what several collectors marked at the same time is counted once, and removed once")
    func markedTwice() async throws {
        _ = try await filled(snapshots: 3)
        _ = try await collect()
        let mark = try #require(store.keys.first { $0.hasPrefix("1/g/") })
        clock.advance(1_000)
        #expect(try await store.create(mark + "f", try #require(store.content[mark])))
        let waiting = try await collect()
        #expect((waiting.waitingMarks, waiting.removedPacks, waiting.removedSnapshots) == (3, 0, 0))
        // The first mark is old enough, and the second is not.
        clock.advance(86_399_500)
        let dry = try await collect(isDryRun: true)
        #expect((dry.waitingMarks, dry.removedPacks, dry.removedSnapshots) == (0, 2, 1))
        let removed = try await collect()
        #expect((removed.waitingMarks, removed.removedPacks, removed.removedSnapshots) == (0, 2, 1))
        #expect((removed.removedBytes, removed.nextMilliseconds) == (dry.removedBytes, nil))
        clock.advance(1_000)
        let again = try await collect()
        #expect((again.removedPacks, again.removedSnapshots) == (0, 0))
        #expect(store.keys.filter { $0.hasPrefix("1/g/") }.count == 1)
    }

    @Test("a damaged pack stays with all behind it, and is named")
    func damaged() async throws {
        _ = try await filled()
        let key = try #require(packs.first)
        store.damage(key, [1, 2, 3])
        let report = try await collect()
        #expect(report.markedPacks == 1)
        #expect(report.obstacles == ["\(key) is damaged: what comes behind it stays"])
    }

    @Test("a daemon collects once a day where it is told to, and says so")
    func regularly() async throws {
        let (a, b) = (try archive.replica("a"), try archive.replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        for _ in 0..<2 { for fixture in [a, b] { try await archive.exchange(fixture) } }
        for isConfigured in [false, true] {
            var limits = limits
            if isConfigured { limits.archive.collection = settings }
            let record = LogRecord()
            let replicator = try Replicator(
                replica: a.replica, transports: [], limits: limits, clock: clock, logger: record.logger,
                entropy: { UInt64.random(in: .min ... .max) }, changes: { AsyncStream { $0.finish() } })
            let over = archive.transport(a)
            var collected: Int64?
            func tend() async throws -> [String] {
                try await a.exchange(over: over)
                let before = record.all.count
                await replicator.tend(over, collected: &collected)
                return record.all.dropFirst(before).compactMap { $0.metadata[Logger.eventKey]?.description }
            }
            let marks = isConfigured ? ["archive.collected"] : []
            #expect(try await tend() == (isConfigured ? [] : ["archive.snapshot"]) + marks)
            #expect(try await tend() == [])
            clock.advance(86_400_000)
            #expect(try await tend() == ["archive.snapshot"] + marks)
            #expect(packs.count == (isConfigured ? 0 : 1))
            try replicator.inbox.close()
        }
    }

    @Test("a place without an archive is refused")
    func noArchive() async {
        await #expect { try await collect() } throws: { ($0 as? SyncError)?.code == .notFound }
    }
}
