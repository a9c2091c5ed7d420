import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// A peer whose answers a test changes.
private struct AlteredSource: SnapshotSource {
    let base: any SnapshotSource
    /// Returns the bytes to answer with in place of those of a part; called with the number of the request.
    let alter: @Sendable (Int, [UInt8]) throws -> [UInt8]
    private let requests = Counter()

    final class Counter: Sendable {
        private let value = Mutex(0)
        func next() -> Int {
            value.withLock {
                $0 += 1; return $0
            }
        }
    }

    init(_ base: any SnapshotSource, alter: @escaping @Sendable (Int, [UInt8]) throws -> [UInt8]) {
        self.base = base
        self.alter = alter
    }

    var name: String { base.name }
    func snapshot() async throws -> SnapshotAnswer { try await base.snapshot() }
    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try alter(requests.next(), try await base.part(index, of: id, size: size))
    }
}

/// A peer that notes how many parts are asked for at once.
private struct WatchedSource: SnapshotSource {
    let base: any SnapshotSource
    private let open = Count()

    private final class Count: Sendable {
        let value = Mutex((now: 0, most: 0))
    }

    init(_ base: any SnapshotSource) { self.base = base }

    var most: Int { open.value.withLock { $0.most } }

    var name: String { base.name }
    func snapshot() async throws -> SnapshotAnswer { try await base.snapshot() }
    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        open.value.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { open.value.withLock { $0.now -= 1 } }
        // Lets the others begin.
        for _ in 0..<100 { await Task.yield() }
        return try await base.part(index, of: id, size: size)
    }
}

@Suite("A replica from a peer's snapshot")
struct CloneTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private let peerClock = StandingClock()

    private var limits: Limits {
        var limits = Limits.standard
        limits.snapshotPartBytes = 4_096
        return limits
    }

    private func peer(rows: Int = 200) throws -> ReplicaFixture {
        let fixture = try ReplicaFixture(
            directory.file("a"), schema: "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, v)")
        try fixture.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO t SELECT 'k' || i, hex(randomblob(60)) FROM n
            """)
        return fixture
    }

    private func source(_ fixture: ReplicaFixture) -> LocalTransport {
        let endpoint = Endpoint(
            replica: fixture.replica, inbox: fixture.inbox, limits: limits, clock: peerClock
        ) {
            AsyncStream { $0.finish() }
        }
        return LocalTransport(endpoint, name: "peer")
    }

    private func clone(
        _ source: any SnapshotSource, _ name: String = "b", limits: Limits? = nil
    ) async throws -> Clone.Report {
        var clone = Clone(from: source, to: directory.file(name))
        clone.limits = limits ?? self.limits
        clone.clock = clock
        clone.entropy = { 0 }
        return try await clone.run()
    }

    private func rows(_ name: String) throws -> [String] {
        let queue = try DatabaseQueue(path: directory.file(name))
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT id || v FROM t ORDER BY id") }
    }

    @Test("what arrives is never written into a file that has another name besides")
    func leftover() throws {
        // As a process leaves it that was killed between link(2) and unlink(2).
        let (path, partial) = (directory.file("shop.sqlite"), directory.file("new.sqlite-partial"))
        try Data("a database".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.linkItem(atPath: path, toPath: partial)
        let file = try PartFile.writing(partial)
        #expect(try file.size() == 0)
        try file.write(Array("part".utf8), at: 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a database")
    }

    @Test("has the rows and the knowledge of the peer, an identity of its own, and sends nothing again")
    func whole() async throws {
        let a = try peer()
        let source = source(a)
        let report = try await clone(source)
        let other = try await clone(source, "c")
        #expect(try rows("b") == rows("a"))
        #expect(report.identity.reissued == 0)
        #expect(try report.identity.old == a.origin)
        #expect(Set([report.identity.new, other.identity.new, try a.origin]).count == 3)
        let b = try ReplicaFixture(.open(at: directory.file("b")))
        #expect(try b.vector == a.vector)
        #expect(b.inbox.lastRekey == nil, "opening it must not change the identity again")
        try b.execute("UPDATE t SET v = 'b' WHERE id = 'k1'")
        try a.execute("UPDATE t SET v = 'a' WHERE id = 'k2'")
        try a.pull(from: b)
        try b.pull(from: a)
        #expect(try a.text("SELECT v FROM t ORDER BY id") == b.text("SELECT v FROM t ORDER BY id"))
        #expect(try a.text("SELECT id FROM _journal_conflicts").isEmpty)
        try b.close()
        try a.close()
    }

    @Test(
        "asks for several parts at once, and for fewer when they are large",
        arguments: [(1 << 20, 4), (2 * 4_096, 2), (1, 1)])
    func partsAtOnce(bytes: Int, most: Int) async throws {
        var limits = limits
        limits.snapshotBytesAtOnce = bytes
        let source = WatchedSource(source(try peer()))
        _ = try await clone(source, limits: limits)
        #expect(source.most == most)
    }

    @Test("keeps what its source lacks until it hears of it, although it has no other news of anybody")
    func sourceCounts() async throws {
        let a = try peer(rows: 3)
        try a.execute("UPDATE t SET v = 'a' WHERE id = 'k1'")
        _ = try await clone(source(a))
        let b = try ReplicaFixture(.open(at: directory.file("b")))
        for value in ["one", "two"] { try b.execute("UPDATE t SET v = '\(value)' WHERE id = 'k2'") }
        let before = try b.inbox.stableHorizon()
        #expect(try before.members.map(\.origin) == [a.origin] && before.members[0].standing == .silent)
        #expect(try b.compactWhatIsStable() == 0)
        #expect(try LocalCompaction.look(at: b.replica) == .hasOthers)
        try a.pull(from: b)
        try b.hear(a)
        #expect(try b.compactWhatIsStable() > 0)
        try b.close()
        try a.close()
    }

    @Test("that was cut off goes on with the parts that it has, and fetches damaged ones again")
    func resumed() async throws {
        let a = try peer()
        let source = source(a)
        let cut = AlteredSource(source) { number, bytes in
            if number > 12 { throw SyncError(.cancelled, "killed") }
            return bytes
        }
        await #expect(throws: SyncError.self) { try await clone(cut) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("b")))
        let partial = try FileHandle(forUpdating: URL(fileURLWithPath: directory.file("b-partial")))
        try partial.write(contentsOf: Data("damage".utf8))
        try partial.close()
        let report = try await clone(source)
        #expect(report.fetchedBytes < report.bytes - 8 * 4_096 && report.fetchedBytes > 0)
        #expect(try rows("b") == rows("a"))
        #expect(!FileManager.default.fileExists(atPath: directory.file("b-partial")))
        try a.close()
    }

    @Test("that was killed while it took its identity drops the journal of SQLite, which would undo what arrives")
    func interruptedCommit() async throws {
        let a = try peer()
        _ = try await clone(source(a), "whole")
        // The rows of the killed clone, in the midst of a commit that has reached the file.
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 1; PRAGMA journal_mode = DELETE") }
        let killed = try DatabaseQueue(path: directory.file("whole"), configuration: configuration)
        try await killed.writeWithoutTransaction { [directory] db in
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE t SET v = 'half'")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(
                    atPath: directory.file("whole") + suffix, toPath: directory.file("b-partial") + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try killed.close()
        try a.execute("UPDATE t SET v = 'later'")
        let report = try await clone(source(a))
        #expect(report.fetchedBytes < report.bytes)
        #expect(try rows("b") == rows("a"))
        #expect(!FileManager.default.fileExists(atPath: directory.file("b-partial-journal")))
        try a.close()
    }

    @Test("goes on when the peer has made another snapshot meanwhile, and has what was written until then")
    func replaced() async throws {
        let a = try peer()
        let first = source(a)
        let cut = AlteredSource(first) { number, bytes in
            if number > 40 { throw SyncError(.cancelled, "killed") }
            return bytes
        }
        await #expect(throws: SyncError.self) { try await clone(cut) }
        try a.execute("UPDATE t SET v = 'later' WHERE id = 'k7'")
        // The daemon was restarted: the snapshot is another one, and most of its parts are the same.
        let report = try await clone(source(a))
        #expect(report.fetchedBytes < report.bytes)
        #expect(try rows("b").contains("k7later"))
        try a.close()
    }

    @Test("a snapshot in use is kept, and an old one is made anew")
    func age() async throws {
        let clock = peerClock
        let a = try peer()
        let source = source(a)
        func manifest() async throws -> SnapshotManifest {
            while true {
                if case .ready(let manifest) = try await source.snapshot() { return manifest }
                await Task.yield()
            }
        }
        let first = try await manifest()
        #expect(try await manifest().id == first.id)
        clock.advance(limits.snapshotAgeMilliseconds - 1)
        _ = try await source.part(0, of: first.id, size: 4_096)
        clock.advance(2)
        #expect(try await manifest().id == first.id, "it is in use")
        clock.advance(limits.snapshotUseMilliseconds)
        #expect(try await manifest().id != first.id)
        await #expect(throws: SyncError.self) { try await source.part(0, of: first.id, size: 4_096) }
        try a.close()
    }

    @Test("from a peer that sends other bytes than it announced ends with an error, and without a file")
    func lying() async throws {
        let a = try peer()
        let liar = AlteredSource(source(a)) { _, bytes in bytes.map { $0 ^ 1 } }
        let error = await #expect(throws: SyncError.self) { try await clone(liar) }
        #expect(error?.message.contains("is not the one that was announced") == true)
        let short = AlteredSource(source(a)) { _, bytes in Array(bytes.dropLast()) }
        await #expect(throws: SyncError.self) { try await clone(short) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("b")))
        // The next honest answer is enough.
        _ = try await clone(source(a))
        #expect(try rows("b") == rows("a"))
        try a.close()
    }

    @Test(
        "a manifest whose sizes do not fit together is refused",
        arguments: [
            #""bytes":0,"part_bytes":4096,"parts":[]"#,
            #""bytes":-4096,"part_bytes":4096,"parts":["D"]"#,
            #""bytes":9223372036854775807,"part_bytes":4096,"parts":["D"]"#,
            #""bytes":4097,"part_bytes":4096,"parts":["D"]"#,
            #""bytes":4096,"part_bytes":1,"parts":["D"]"#,
            #""bytes":4096,"part_bytes":4611686018427387904,"parts":["D"]"#,
            #""bytes":4096,"part_bytes":4096,"parts":["xyz"]"#,
        ])
    func manifests(sizes: String) {
        let head =
            #"{"state":"ready","snapshot":{"id":"aa","cluster":"c","origin":"00000000000000000000000000000001","vector":{},"#
        let text = head + sizes.replacingOccurrences(of: "D", with: String(repeating: "0", count: 64)) + "}}"
        #expect(throws: WireError.self) { try SnapshotAnswer(jsonBody: Array(text.utf8)) }
    }

    @Test("a manifest survives its JSON")
    func manifestRoundTrip() throws {
        let manifest = SnapshotManifest(
            id: "0a", cluster: "main", origin: OriginID(high: 1, low: 2),
            vector: VersionVector([.init(origin: OriginID(high: 1, low: 2), version: 7)]), bytes: 5_000,
            partBytes: 4_096,
            parts: [.init(SHA256.digest(of: [1])), .init(SHA256.digest(of: [2]))],
            profile: try JSONDecoder().decode(ContentProfile.self, from: Data(#"{"page_size":["4096"]}"#.utf8)))
        #expect(try SnapshotAnswer(jsonBody: SnapshotAnswer.ready(manifest).jsonBody()) == .ready(manifest))
        let preparing = SnapshotAnswer.preparing(completed: 3, total: 9)
        #expect(try SnapshotAnswer(jsonBody: preparing.jsonBody()) == preparing)
        #expect(throws: WireError.self) { try SnapshotAnswer(jsonBody: Array("{}".utf8)) }
    }
}
