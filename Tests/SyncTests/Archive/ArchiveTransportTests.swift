import Foundation
import GRDB
import Journal
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite struct ArchiveTransportTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock(wall: ReplicaFixture.now.milliseconds)
    private let store = MemoryStore()

    private var limits: Limits {
        var limits = Limits.standard
        limits.archive = limits.archive.ofOneExchange
        return limits
    }

    private func replica(_ name: String, _ limits: Limits? = nil, cluster: String? = nil) throws -> ReplicaFixture {
        var settings = ReplicaFixture.Settings(limits: limits ?? self.limits)
        settings.clock = clock
        var request = InitializeRequest()
        if let cluster { request.cluster = cluster }
        return try ReplicaFixture(
            .make(
                at: directory.file(name), schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", request,
                options: settings.options), settings)
    }

    private func transport(_ fixture: ReplicaFixture, to store: MemoryStore? = nil) -> ArchiveTransport {
        ArchiveTransport(
            store ?? self.store, replica: fixture.replica, limits: fixture.settings.limits, clock: clock,
            entropy: { UInt64.random(in: .min ... .max) })
    }

    @Test("two replicas that never meet have the same rows, and a whole transaction is one pack")
    func meetsNobody() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
        try await a.exchange(over: transport(a))
        let pulled = try await b.exchange(over: transport(b))
        #expect(pulled.pulledChanges == 2)
        #expect(try b.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 1)
    }

    private func events(_ record: LogRecord) -> [String] {
        record.all.compactMap { $0.metadata[Logger.eventKey]?.description }
    }

    @Test("two replicas that make an archive at once in a store that replaces objects mean the same one")
    func madeAtOnce() async throws {
        let store = MemoryStore(createsOnce: false)
        let (a, b) = (try replica("a"), try replica("b"))
        let first = transport(a, to: store)
        try await a.exchange(over: first)
        let before = store.content["1/meta"]
        // The second one had looked before the first one wrote.
        store.damage("1/meta", nil)
        try await b.exchange(over: transport(b, to: store))
        #expect(store.content["1/meta"] == before)
    }

    @Test("an archive of many writers says so once")
    func crowded() async throws {
        var limits = limits
        limits.archive.crowdedWriters = 2
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        let record = LogRecord()
        let over = ArchiveTransport(
            store, replica: b.replica, limits: limits, clock: clock, logger: record.logger,
            entropy: { UInt64.random(in: .min ... .max) })
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        try await b.exchange(over: over)
        #expect(events(record).isEmpty)
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        for _ in 0..<3 { try await b.exchange(over: over) }
        #expect(events(record) == ["archive.crowded"])
    }

    @Test("a replica that would be one writer too many is refused with a remedy; what others bring of it is taken")
    func full() async throws {
        var limits = limits
        limits.archive.mostWriters = 2
        let (a, b, c) = (try replica("a", limits), try replica("b", limits), try replica("c", limits))
        for (id, fixture) in [a, b].enumerated() {
            try fixture.execute("INSERT INTO t VALUES (\(id), 'row')")
            try await fixture.exchange(over: transport(fixture))
        }
        try c.execute("INSERT INTO t VALUES (3, 'row')")
        await #expect { try await c.exchange(over: transport(c)) } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .tooLarge && error.hint?.contains("Divide the replicas") == true
        }
        // It reads all the same.
        #expect(try c.text("SELECT a FROM t").count == 3)
        try a.execute("INSERT INTO t VALUES (4, 'row')")
        try a.pull(from: c)
        try await a.exchange(over: transport(a))
        try await b.exchange(over: transport(b))
        #expect(try b.text("SELECT a FROM t").count == 4)
        try await c.exchange(over: transport(c))
    }

    @Test("an archive of another cluster is refused, and nothing is written to it")
    func otherCluster() async throws {
        let (a, b) = (try replica("a", cluster: "first"), try replica("b", cluster: "second"))
        try await a.exchange(over: transport(a))
        let before = store.content
        await #expect { try await b.exchange(over: transport(b)) } throws: {
            ($0 as? SyncError)?.code == .otherCluster
        }
        #expect(store.content == before)
    }

    @Test("an archive of a later layout is refused with a hint")
    func laterLayout() async throws {
        let a = try replica("a")
        store.damage("1/meta", Array(#"{"layout":2,"archive":"x","cluster":"c","creates_once":true}"#.utf8))
        await #expect { try await a.exchange(over: transport(a)) } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .invalid || error.code == .unsupportedVersion
        }
    }

    @Test("a copy of a file that writes the same stream takes another one, and a new identity")
    func twin() async throws {
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        let old = try a.origin
        try a.close()
        for suffix in ["", "-archives"] {
            try FileManager.default.copyItem(
                atPath: directory.file("a") + suffix, toPath: directory.file("twin") + suffix)
        }
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        let first = try ReplicaFixture(Replica.open(at: directory.file("a"), options: .unsynced), settings)
        let twin = try ReplicaFixture(Replica.open(at: directory.file("twin"), options: .unsynced), settings)
        try first.execute("INSERT INTO t VALUES (2, 'by the first')")
        try twin.execute("INSERT INTO t VALUES (3, 'by the twin')")
        let (one, two) = (transport(first), transport(twin))
        for _ in 0..<3 {
            try await first.exchange(over: one)
            try await twin.exchange(over: two)
        }
        #expect(try first.origin != twin.origin)
        #expect(try [first.origin, twin.origin].contains(old))
        let rows = try first.text("SELECT a FROM t ORDER BY id")
        #expect(rows == ["one", "by the first", "by the twin"])
        #expect(try twin.text("SELECT a FROM t ORDER BY id") == rows)
    }

    /// The limits of a replica that leaves the changes of others to their writers for so long.
    private func bridging(after milliseconds: Int64) -> Limits {
        var limits = limits
        limits.archive.bridgeMilliseconds = milliseconds
        return limits
    }

    @Test("other replicas' changes are left to their writers, and written after a while when those do not come")
    func bridge() async throws {
        let limits = bridging(after: 60_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        let over = transport(b)
        try await b.exchange(over: over)
        #expect(store.keys.allSatisfy { !$0.hasPrefix("1/w/") })
        clock.advance(120_000)
        try await b.exchange(over: over)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 1)
    }

    @Test("what a replica has from the archive is not written again, whatever it knows of the archive at that moment")
    func notTwice() async throws {
        let limits = bridging(after: 60_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        let over = transport(b)
        try await b.exchange(over: over)
        // The lane that pushes may not have heard yet what the one that pulls has read.
        let session = SyncSession(
            replica: b.replica, inbox: b.inbox, transport: over, limits: limits, clock: clock)
        #expect(try await session.push(lacking: VersionVector()).changes == 0)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 1)
    }

    @Test("a change is not written before what its writer had merged, so each stream can be read in its order")
    func causalOrder() async throws {
        let limits = bridging(after: 60_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        try b.execute("UPDATE t SET a = 'two' WHERE id = 1")
        let over = transport(b)
        try await b.exchange(over: over)
        #expect(store.keys.allSatisfy { !$0.hasPrefix("1/w/") })
        try await a.exchange(over: transport(a))
        try await b.exchange(over: over)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 2)
        let c = try replica("c", limits)
        try await c.exchange(over: transport(c))
        #expect(try c.text("SELECT a FROM t") == ["two"])
    }

    /// Replica B has read two packs of A, whose head tells of the first one only. A is gone.
    private func deadWriter() async throws -> (b: ReplicaFixture, over: ArchiveTransport) {
        var limits = bridging(after: 60_000)
        limits.archive.headMilliseconds = 60_000
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        let session = SyncSession(
            replica: a.replica, inbox: a.inbox, transport: transport(a), limits: limits, clock: clock)
        _ = try await session.greet()
        for name in ["one", "two"] {
            try a.execute("INSERT OR REPLACE INTO t VALUES (1, '\(name)')")
            _ = try await session.push(lacking: VersionVector())
            _ = try await session.pull(waitSeconds: 0)
        }
        let over = transport(b)
        try await b.exchange(over: over)
        #expect(try b.text("SELECT a FROM t") == ["two"])
        return (b, over)
    }

    @Test("a replica that starts again counts packs that it has read, also those behind the head of a dead writer")
    func unannouncedAfterRestart() async throws {
        let (b, _) = try await deadWriter()
        try b.execute("UPDATE t SET a = 'three' WHERE id = 1")
        try await b.exchange(over: transport(b))
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 3)
        let c = try replica("c")
        try await c.exchange(over: transport(c))
        #expect(try c.text("SELECT a FROM t") == ["three"])
    }

    @Test("what a dead writer has not announced keeps nobody from building on it, and is written again later")
    func unannouncedForLong() async throws {
        let (b, over) = try await deadWriter()
        clock.advance(61_000)
        try await b.exchange(over: over)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 2)
        try b.execute("UPDATE t SET a = 'three' WHERE id = 1")
        try await b.exchange(over: over)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 3)
        clock.advance(120_000)
        try await b.exchange(over: over)
        #expect(try await ArchiveSurvey(store).summary().vector == b.vector)
    }

    @Test("the time that others leave to a dead writer counts from the reading of its packs")
    func unannouncedSinceRead() async throws {
        let (b, over) = try await deadWriter()
        // Looks at the heads in between: the minute ends, for which the packs count as held.
        for _ in 0..<2 {
            clock.advance(60_000)
            try await b.exchange(over: over)
        }
        #expect(try await ArchiveSurvey(store).summary().vector == b.vector)
    }

    @Test("who could not look for a while looks once more for packs that no head tells of")
    func looksOnceMore() async throws {
        var limits = bridging(after: 600_000)
        limits.archive.headMilliseconds = 60_000
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        let (first, second) = (transport(a), transport(b))
        let session = SyncSession(replica: a.replica, inbox: a.inbox, transport: first, limits: limits, clock: clock)
        _ = try await session.greet()
        for name in ["one", "two"] {
            try a.execute("INSERT OR REPLACE INTO t VALUES (1, '\(name)')")
            _ = try await session.push(lacking: VersionVector())
            _ = try await session.pull(waitSeconds: 0)
            guard name == "one" else { continue }
            try await b.exchange(over: second)
            clock.advance(30_000)
        }
        clock.advance(61_000)
        try await b.exchange(over: second)
        #expect(try b.text("SELECT a FROM t") == ["two"])
    }

    @Test("a single exchange writes again what no head tells of")
    func unannouncedInOneExchange() async throws {
        let (b, _) = try await deadWriter()
        let over = ArchiveTransport(
            store, replica: b.replica, limits: limits, clock: clock, entropy: { UInt64.random(in: .min ... .max) })
        try await b.exchange(over: over)
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 3)
        #expect(try await ArchiveSurvey(store).summary().vector == b.vector)
    }

    @Test("a pull that waits ends when the archive holds more, so that what waited for that can be written")
    func waitsForNeeds() async throws {
        let limits = bridging(after: 600_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        let over = transport(b)
        try await b.exchange(over: over)
        try await a.exchange(over: transport(a))
        let began = clock.steadyMilliseconds()
        let end = try await over.pull(
            PullRequest(cluster: b.replica.identity().cluster, origin: b.origin, have: b.vector, waitSeconds: 60)
        ) { _ in Issue.record("the replica has all changes") }
        #expect(try end.vector == a.vector)
        #expect(clock.steadyMilliseconds() - began <= limits.archive.listMilliseconds)
    }

    @Test("an archive that holds less than it was thought to hold is no wrong clock: what needs the rest waits")
    func holdsLess() async throws {
        let limits = bridging(after: 600_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try b.pull(from: a)
        try b.execute("UPDATE t SET a = 'two' WHERE id = 1")
        let session = SyncSession(
            replica: b.replica, inbox: b.inbox, transport: transport(b), limits: limits, clock: clock)
        _ = try await session.greet()
        let pushed = try await session.push(lacking: a.vector)
        #expect(pushed.theirs.isEmpty)
        #expect(try pushed.heldBack == VersionVector([.init(origin: b.origin, version: b.vector[b.origin])]))
    }

    @Test("a damaged pack is named, what others wrote arrives all the same, and its writer writes it again")
    func damagedPack() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = transport(a)
        try await a.exchange(over: over)
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        let pack = try #require(store.keys.first { $0.hasPrefix("1/w/") })
        store.damage(pack, Array((store.content[pack] ?? []).dropLast()))
        for replica in [b, c] {
            await #expect { try await replica.exchange(over: transport(replica)) } throws: {
                ($0 as? SyncError)?.message.contains("Pack 1 of stream") == true
            }
        }
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["two"])
        clock.advance(700_000)
        try await a.exchange(over: over)
        try await c.exchange(over: transport(c))
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
    }

    @Test("who says no hello for long hears of a damaged pack all the same, and writes it again")
    func damagedPackWhileWaiting() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let session = SyncSession(
            replica: a.replica, inbox: a.inbox, transport: transport(a), limits: limits, clock: clock)
        _ = try await session.greet()
        _ = try await session.push(lacking: VersionVector())
        try await session.transport.finish()
        let pack = try #require(store.keys.first { $0.hasPrefix("1/w/") })
        store.damage(pack, Array((store.content[pack] ?? []).dropLast()))
        await #expect(throws: SyncError.self) { try await b.exchange(over: transport(b)) }

        clock.advance(limits.archive.acknowledgementMilliseconds)
        let pulled = try await session.pull(waitSeconds: 0)
        #expect(pulled.end.vector == VersionVector())
        _ = try await session.push(lacking: pulled.end.vector)
        try await session.transport.finish()
        try await b.exchange(over: transport(b))
        #expect(try b.text("SELECT a FROM t") == ["one"])
    }

    @Test("what a replica refuses for ever is told with its next hello, and what it has merged soon after one")
    func tellsNews() async throws {
        let a = try replica("a")
        let over = transport(a)
        let session = SyncSession(
            replica: a.replica, inbox: a.inbox, transport: over, limits: limits, clock: clock)
        func told() throws -> ArchivedAcknowledgement {
            let bytes = try #require(store.content[ArchiveKeys.acknowledgement(try a.origin)])
            return try ArchiveJSON.decode(bytes, "An acknowledgement")
        }
        _ = try await session.greet()
        let first = try told()

        try a.execute("INSERT INTO t VALUES (1, 'one')")
        _ = try await session.greet()
        #expect(try told() == first)
        var mine = Hello(
            cluster: "main", origin: try a.origin, formatVersion: 1, vector: try a.vector,
            wallMilliseconds: clock.wallMilliseconds())
        mine.acknowledgements = try a.replica.read { try a.inbox.acknowledgements.all($0) }
        mine.refused = VersionVector([.init(origin: OriginID(high: 9, low: 9), version: 1)])
        _ = try await over.hello(mine)
        #expect(try told().refusedChanges == RefusedChanges(mine))

        try a.execute("INSERT INTO t VALUES (2, 'two')")
        _ = try await session.greet()
        #expect(try told().acknowledgement.vector[a.origin] == 1)
        clock.advance(limits.archive.acknowledgementMilliseconds)
        _ = try await session.pull(waitSeconds: 0)
        #expect(try told().acknowledgement.vector[a.origin] == 2)
    }

    @Test("what a restored store has lost is written again, also of a stream that was found damaged before")
    func restoredAfterDamage() async throws {
        // It writes no more than what is missing.
        var small = limits
        small.bytesPerPush = 1
        small.changesPerBatch = 1
        let (a, b, c, d) = (try replica("a"), try replica("b", small), try replica("c"), try replica("d"))
        let (ofA, ofB) = (transport(a), transport(b))
        for number in 1...2 {
            try a.execute("INSERT INTO t VALUES (\(number), '\(number)')")
            try await a.exchange(over: ofA)
        }
        let head = try #require(store.keys.first { $0.hasPrefix("1/h/") })
        let before = store.content[head]
        let packs = store.keys.filter { $0.hasPrefix("1/w/") }
        try a.execute("INSERT INTO t VALUES (3, '3')")
        try await a.exchange(over: ofA)
        let last = try #require(store.keys.first { $0.hasPrefix("1/w/") && !packs.contains($0) })
        try await b.exchange(over: ofB)
        store.damage(packs[0], nil)
        await #expect(throws: SyncError.self) { try await c.exchange(over: transport(c)) }
        clock.advance(700_000)
        try await b.exchange(over: ofB)
        try await c.exchange(over: transport(c))
        #expect(try c.text("SELECT a FROM t ORDER BY id") == ["1", "2", "3"])

        var content = store.content
        content[head] = before
        content[last] = nil
        store.restore(content)
        clock.advance(700_000)
        try await b.exchange(over: ofB)
        try await d.exchange(over: transport(d))
        #expect(try d.text("SELECT a FROM t ORDER BY id") == ["1", "2", "3"])
    }

    @Test("a store that lost the answer to a write does not get the pack twice")
    func lostAnswer() async throws {
        let loses = Mutex(true)
        let store = MemoryStore(fault: { verb, key in
            guard verb == .create, key.hasPrefix("1/w/"), loses.withLock({ $0 }) else { return nil }
            loses.withLock { $0 = false }
            return .answerLost
        })
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a, to: store))
        #expect(store.keys.filter { $0.hasPrefix("1/w/") }.count == 1)
    }

    @Test("a store that replaces objects never gets another pack in the place of one that somebody may have read")
    func replacingStore() async throws {
        // The answer to the first pack is lost, and so is the look whether it is there.
        let failures = Mutex<[MemoryStore.Verb]>([.create, .get])
        let store = MemoryStore(
            createsOnce: false,
            fault: { verb, key in
                guard key.hasPrefix("1/w/") else { return nil }
                return failures.withLock { failures in
                    guard failures.first == verb else { return nil }
                    failures.removeFirst()
                    return .answerLost
                }
            })
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = transport(a, to: store)
        await #expect(throws: SyncError.self) { try await a.exchange(over: over) }
        let first = store.content.filter { $0.key.hasPrefix("1/w/") }
        #expect(first.count == 1)
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        try await a.exchange(over: over)
        for (key, bytes) in first { #expect(store.content[key] == bytes) }
        let b = try replica("b")
        try await b.exchange(over: transport(b, to: store))
        #expect(try b.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
    }

    @Test("without a change nothing is written, and an idle look costs one listing")
    func idle() async throws {
        let a = try replica("a")
        let over = transport(a)
        try await a.exchange(over: over)
        let before = store.content
        let requests = try #require(over.storeRequests).total
        let end = try await over.pull(
            PullRequest(cluster: a.replica.identity().cluster, origin: a.origin, have: a.vector, waitSeconds: 60)
        ) { _ in }
        #expect(!end.more)
        #expect(store.content == before)
        let spent = try #require(over.storeRequests).total - requests
        #expect(spent <= 7, "a minute of waiting took \(spent) requests")
    }

    @Test(
        "changes that gather for longer are looked for less often",
        arguments: [(1, 30), (5, 6), (0, 30)] as [(Int64, Int)])
    func gathering(seconds: Int64, looks: Int) async throws {
        var limits = limits
        limits.archive.gather(for: seconds * 1_000)
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        let over = transport(b)
        try await b.exchange(over: over)
        let before = try #require(over.storeRequests).gets
        _ = try await over.pull(
            PullRequest(cluster: b.replica.identity().cluster, origin: b.origin, have: b.vector, waitSeconds: 30)
        ) { _ in }
        // One after each wait: the stream of the other one was written to lately.
        let gets = try #require(over.storeRequests).gets - before
        #expect(gets == looks)
    }

    @Test("each stream is looked at once a second, however often news of one of them end a pull")
    func rounds() async throws {
        // Heads come and are listed after 10 seconds.
        let limits = Limits.standard
        let (a, b, c) = (try replica("a", limits), try replica("b", limits), try replica("c", limits))
        let (overA, overB, overC) = (transport(a), transport(b), transport(c))
        for (fixture, over) in [(a, overA), (b, overB)] {
            try fixture.execute("INSERT INTO t(a) VALUES ('\(fixture.origin)')")
            try await fixture.exchange(over: over)
        }
        try await c.exchange(over: overC)
        clock.advance(limits.archive.pollMilliseconds)
        /// Pulls, waits a second at most, and counts what was read and got.
        func pull(after have: VersionVector) async throws -> (frames: Int, gets: Int) {
            let before = try #require(overC.storeRequests).gets
            let frames = Mutex(0)
            _ = try await overC.pull(
                PullRequest(cluster: c.replica.identity().cluster, origin: c.origin, have: have, waitSeconds: 1)
            ) { _ in frames.withLock { $0 += 1 } }
            return (frames.withLock { $0 }, try #require(overC.storeRequests).gets - before)
        }
        try a.execute("UPDATE t SET a = 'news'")
        try await a.exchange(over: overA)
        let news = try await pull(after: c.vector)
        #expect(news == (1, 2))
        // The next round comes at the end of the second.
        let nothing = try await pull(after: c.vector.merged(with: a.vector))
        #expect(nothing == (0, 2))
    }

    @Test("a new replica is made from the archive alone, and reads only what came after the snapshot")
    func birth() async throws {
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = transport(a)
        try await a.exchange(over: over)
        let manifest = try await over.writeSnapshot()
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        try await a.exchange(over: over)
        let snapshots = ArchiveSnapshots(store)
        let path = directory.file("new")
        let report = try await Clone(from: snapshots, to: path).run()
        #expect(report.snapshot == manifest.id)
        try await snapshots.noteCursors(of: path, snapshot: report.snapshot)
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        let new = try ReplicaFixture(Replica.open(at: path, options: .unsynced), settings)
        let pulled = try await new.exchange(over: transport(new))
        #expect(pulled.pulledFrames == 1)
        #expect(try new.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
    }

    @Test("what the maker of a snapshot held back is read by who is born of it")
    func birthBesideHeldBack() async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        // To this daemon, the first one's clock is far ahead.
        let inbox = try Inbox(replica: b.replica, limits: limits) { Stamp(milliseconds: 1_000) }
        let over = transport(b)
        let session = SyncSession(replica: b.replica, inbox: inbox, transport: over, limits: limits, clock: clock)
        _ = try await session.greet()
        // The second one says that the change need not come again.
        for _ in 0..<2 { _ = try await session.pull(waitSeconds: 0, from: a.vector) }
        let manifest = try await over.writeSnapshot()
        try inbox.close()
        let snapshots = ArchiveSnapshots(store)
        let path = directory.file("new")
        _ = try await Clone(from: snapshots, to: path).run()
        try await snapshots.noteCursors(of: path, snapshot: manifest.id)
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        let new = try ReplicaFixture(Replica.open(at: path, options: .unsynced), settings)
        try await new.exchange(over: transport(new))
        #expect(try new.text("SELECT a FROM t") == ["one"])
    }

    @Test(
        "a file that was restored from a backup gets again what it had read from the archive, and written to it",
        arguments: [false, true])
    func restored(isWriter: Bool) async throws {
        let (a, b) = (try replica("a"), try replica("b"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a))
        try await b.exchange(over: transport(b))
        let restored = isWriter ? a : b
        let backup = directory.file("backup")
        try restored.whileClosed { try FileManager.default.copyItem(atPath: restored.path, toPath: backup) }
        try a.execute("INSERT INTO t VALUES (2, 'two')")
        try await a.exchange(over: transport(a))
        try await b.exchange(over: transport(b))
        try restored.whileClosed {
            try FileManager.default.removeItem(atPath: restored.path)
            try FileManager.default.copyItem(atPath: backup, toPath: restored.path)
        }
        #expect(try restored.text("SELECT a FROM t") == ["one"])
        try await restored.exchange(over: transport(restored))
        #expect(try restored.text("SELECT a FROM t ORDER BY id") == ["one", "two"])
    }

    @Test("what was compacted before the archive began is there in a snapshot, and who lacks it is told to clone")
    func compactedBefore() async throws {
        let (a, late) = (try replica("a"), try replica("late"))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        for number in 0..<20 { try a.execute("UPDATE t SET a = \(number)") }
        try #require(try a.compact() > 0)
        try await a.exchange(over: transport(a))
        #expect(store.keys.contains { $0.hasPrefix("1/m/") })
        await #expect { try await late.exchange(over: transport(late)) } throws: {
            ($0 as? SyncError)?.code == .behindHorizon
        }
    }

    @Test("the archive acknowledges what it holds, so no replica drops an entry that it lacks")
    func acknowledges() async throws {
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = transport(a)
        try await a.exchange(over: over)
        try a.execute("UPDATE t SET a = 'two'")
        try a.execute("UPDATE t SET a = 'three'")
        let horizon = try a.inbox.stableHorizon(lease: .max)
        #expect(try horizon.vector[a.origin] == 1)
        try await a.exchange(over: over)
        #expect(try a.inbox.stableHorizon(lease: .max).vector[a.origin] == 3)
    }

    @Test("who follows no archive is heard of by those who follow nothing else")
    func acknowledgesByAnother() async throws {
        let (a, b, c) = (try replica("a"), try replica("b"), try replica("c"))
        for (key, fixture) in [a, b, c].enumerated() { try fixture.execute("INSERT INTO t VALUES (\(key), 'one')") }
        func meet() async throws {
            for _ in 0..<2 {
                for fixture in [a, b] {
                    let over = transport(fixture)
                    try await fixture.exchange(over: over)
                    try await over.finish()
                }
                try await c.exchange(with: b)
                clock.advance(limits.aliveMilliseconds)
            }
        }
        for _ in 0..<2 { try await meet() }
        for fixture in [a, b, c] {
            #expect(try fixture.inbox.stableHorizon(lease: .max).vector == a.vector)
        }
    }

    @Test("the beginning of a transaction that is held back here is read once, and does not keep what follows away")
    func beginningHeldBack() async throws {
        var limits = limits
        limits.changesPerBatch = 2
        // A pull ends after each frame.
        limits.bytesPerPull = 1
        let (a, b) = (try replica("a", limits), try replica("b", limits))
        try a.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four')")
        let archive = transport(a)
        _ = try await SyncSession(replica: a.replica, inbox: a.inbox, transport: archive, limits: limits, clock: clock)
            .greet()
        let source = FrameSource(replica: a.replica, limits: limits, encoding: .zstd, ends: SeenEnds())
        let beginning = try await source.portion(after: VersionVector(), bytes: 1)
        try #require(beginning.more && beginning.frames.count == 1)
        let opening = Frame(body: .open(cluster: "main", origin: try a.origin))
        let end = Frame(body: .end(vector: VersionVector(), more: true))
        _ = try await archive.push([opening] + beginning.frames + [end])
        try await archive.finish()

        // To this daemon, the first one's clock is far ahead. The rest of the transaction may never come.
        let inbox = try Inbox(replica: b.replica, limits: limits) { Stamp(milliseconds: 1_000) }
        for _ in 0..<2 {
            let session = SyncSession(
                replica: b.replica, inbox: inbox, transport: transport(b), limits: limits, clock: clock)
            #expect(try await session.exchange().heldBackHere[a.origin] == 2)
        }
        try inbox.close()
    }

    @Test("a replica that is gone and whose clock was ahead holds compaction back for one lease only")
    func leaseOfClockAhead() async throws {
        let lease: Int64 = 86_400_000
        let clock = clock
        func fixture(_ name: String, ahead: Int64) throws -> ReplicaFixture {
            var settings = ReplicaFixture.Settings(limits: limits) {
                Stamp(milliseconds: clock.wallMilliseconds() + ahead)
            }
            settings.clock = clock
            return try ReplicaFixture(
                .make(
                    at: directory.file(name), schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)",
                    options: settings.options), settings)
        }
        let store = MemoryStore(clock: { clock.wallMilliseconds() })
        let (a, b) = (try fixture("a", ahead: 365 * lease), try fixture("b", ahead: 0))
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        try await a.exchange(over: transport(a, to: store))
        let over = transport(b, to: store)
        try await b.exchange(over: over)
        try b.execute("INSERT INTO t VALUES (2, 'two')")
        for _ in 0..<3 {
            try await b.exchange(over: over)
            #expect(try b.inbox.stableHorizon(lease: lease).holders.map(\.origin) == [a.origin])
            clock.advance(lease / 3 + 1)
        }
        try await b.exchange(over: over)
        let horizon = try b.inbox.stableHorizon(lease: lease)
        #expect(try horizon.vector == b.vector)
        #expect(horizon.holders.isEmpty)
    }

    @Test("a name that a replica has finished holds nobody back who meets it in the archive only")
    func finishedName() async throws {
        let (a, b, gone) = (try replica("a"), try replica("b"), try replica("gone"))
        for (id, fixture) in [gone, a, b].enumerated() {
            try fixture.execute("INSERT INTO t VALUES (\(id), 'row')")
            try await fixture.exchange(over: transport(fixture))
        }
        try await a.exchange(over: transport(a))
        #expect(try a.inbox.stableHorizon(lease: .max).holders.map(\.origin).contains(gone.origin))
        // As after a return.
        try b.replica.write { try FinishedOrigins.add(gone.origin, time: 1, $0) }
        try await b.exchange(over: transport(b))
        for fixture in [a, b, a] { try await fixture.exchange(over: transport(fixture)) }
        let horizon = try a.inbox.stableHorizon(lease: .max)
        #expect(try horizon.vector == a.vector)
        #expect(horizon.holders.isEmpty)
    }

    @Test("a restore to a time shows what the tables held then, after the replica is gone")
    func pointInTime() async throws {
        let a = try replica("a")
        try a.execute("INSERT INTO t VALUES (1, 'one')")
        let over = transport(a)
        try await a.exchange(over: over)
        try await over.writeSnapshot()
        let first = try #require(
            try a.replica.read { try JournalReader($0).stamp(of: JournalReader($0).identity.origin, version: 1) })
        clock.advance(1_000)
        try RawConnection.writeLater("UPDATE t SET a = 'two'", at: a.path)
        try await a.exchange(over: over)
        try a.close()
        var restore = ArchiveRestore(
            store, path: directory.file("then"), at: Stamp(milliseconds: first.milliseconds + 1))
        restore.clock = clock
        _ = try await restore.run()
        #expect(try RawConnection(path: directory.file("then")).rows("SELECT a FROM t") == [[.text("one")]])
        restore = ArchiveRestore(store, path: directory.file("now"), at: ReplicaFixture.now)
        restore.clock = clock
        _ = try await restore.run()
        #expect(try RawConnection(path: directory.file("now")).rows("SELECT a FROM t") == [[.text("two")]])
    }
}
