import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Snapshots of an archive that are not whole")
struct DamagedSnapshotTests {
    private let archive = ArchiveFixture()
    private var clock: ManualClock { archive.clock }
    private var store: MemoryStore { archive.store }
    private var limits: Limits { archive.limits }

    private var snapshots: ArchiveSnapshots { ArchiveSnapshots(store, limits: limits) }

    private func clone() async throws -> Clone.Report {
        var clone = Clone(from: snapshots, to: archive.directory.file("clone"))
        clone.clock = clock
        clone.limits = limits
        return try await clone.run()
    }

    private func parts(of id: String) -> [String] { store.keys.filter { $0.hasPrefix("1/s/\(id)/") } }

    private func cut(_ key: String) throws {
        let bytes = try #require(store.content[key])
        store.damage(key, Array(bytes.dropLast(bytes.count / 2)))
    }

    /// A replica whose only pack was removed, because its change is in a snapshot.
    private func collected() async throws -> (a: ReplicaFixture, snapshot: String) {
        let a = try archive.replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        for _ in 0..<2 { try await archive.exchange(a) }
        let over = archive.transport(a)
        try await a.exchange(over: over)
        let snapshot = try await over.writeSnapshot().id
        var settings = CollectionSettings()
        settings.keepMilliseconds = 0
        for _ in 0..<2 {
            _ = try await archive.collector(settings).run(isDryRun: false)
            clock.advance(settings.graceMilliseconds)
        }
        try #require(!store.keys.contains { $0.hasPrefix("1/w/") })
        return (a, snapshot)
    }

    /// A new replica misses the pack and says so; `a` then writes its changes again.
    private func expectHealing(by a: ReplicaFixture) async throws {
        let b = try archive.replica("b")
        // The first exchange hears of a damaged snapshot.
        for _ in 0..<2 { try? await archive.exchange(b) }
        #expect(try b.text("SELECT a FROM t") == [])
        try? await archive.exchange(a)
        try await archive.exchange(b)
        #expect(try b.text("SELECT a FROM t") == ["one"])
    }

    @Test("a snapshot without one of its parts holds nothing: who has its changes writes them again")
    func missingPart() async throws {
        let (a, snapshot) = try await collected()
        store.damage(try #require(parts(of: snapshot).last), nil)
        let problems = try await ArchiveSurvey(store).summary().problems
        #expect(problems.contains { $0.contains("of the snapshot \(snapshot),") }, "\(problems)")
        try await expectHealing(by: a)
        let record = LogRecord()
        let over = archive.transport(a, logger: record.logger)
        for _ in 0..<2 { try await a.exchange(over: over) }
        #expect(record.all.filter { $0.message.contains("of the snapshot \(snapshot),") }.count == 1)
    }

    @Test("a clone that finds a damaged part tells all readers, and who has the changes writes them again")
    func damagedPart() async throws {
        let (a, snapshot) = try await collected()
        try cut(try #require(parts(of: snapshot).first))
        await #expect { try await clone() } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .notFound && error.message.contains("holds no whole snapshot")
        }
        #expect(store.keys.contains("1/d/s/\(snapshot)"))
        let problems = try await ArchiveSurvey(store).summary().problems
        #expect(problems == ["a replica has found a part of the snapshot \(snapshot) missing or damaged"])
        try await expectHealing(by: a)
    }

    @Test("a clone takes the snapshot before one that is damaged, also without the right to say so")
    func olderSnapshot() async throws {
        let a = try archive.replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = archive.transport(a)
        try await a.exchange(over: over)
        let whole = try await over.writeSnapshot().id
        clock.advance(1_000)
        let damaged = try await over.writeSnapshot().id
        try cut(try #require(parts(of: damaged).first))
        let source = ArchiveSnapshots(ReadOnlyStore(base: store), limits: limits)
        var clone = Clone(from: source, to: archive.directory.file("clone"))
        clone.clock = clock
        #expect(try await clone.run().snapshot == whole)
        #expect(!store.keys.contains { $0.hasPrefix("1/d/") })
    }

    @Test("a snapshot that is not whole is no reason to make none, and is told of no more when it is gone")
    func replaced() async throws {
        let (a, snapshot) = try await collected()
        try cut(try #require(parts(of: snapshot).first))
        _ = try? await clone()
        let over = archive.transport(a)
        for _ in 0..<2 { try await a.exchange(over: over) }
        #expect(try await over.makeSnapshotIfDue())
        #expect(try await clone().snapshot != snapshot)
        store.damage("1/m/\(snapshot)", nil)
        for _ in 0..<2 { try await archive.exchange(a) }
        #expect(!store.keys.contains { $0.hasPrefix("1/d/") })
    }
}

/// A store whose credentials allow nothing but reading.
private struct ReadOnlyStore: ObjectStore {
    let base: MemoryStore

    var name: String { base.name }

    private var refusal: SyncError { SyncError(.forbidden, "Nothing can be written to \(name)") }

    func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool { throw refusal }

    func replace(_ key: String, _ bytes: [UInt8]) async throws { throw refusal }

    func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? { try await base.get(key, range: range) }

    func list(_ prefix: String, after: String?) async throws -> Listing { try await base.list(prefix, after: after) }

    func delete(_ key: String) async throws { throw refusal }
}
