import GRDB
import Journal
import Logging
import TestSupport
import Testing

@testable import Sync

/// Property P21: what a replica refuses for ever, because its writer had not seen what is compacted there, comes to
/// it all the same when a peer has merged it.
@Suite("A replica that refuses what its peer has merged takes the content of that peer")
struct RefusedChangesTests {
    private let directory = TemporaryDirectory()
    /// A has compacted what B had not seen when it wrote. C had not, and has merged both.
    private let replicas: [Replica]

    private static let schema = "CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, price INTEGER)"

    private func replicator(_ place: Int, follows: [Int] = []) throws -> Replicator {
        try Replicator(
            replica: replicas[place], peers: follows.map { try PeerConfiguration(replicas[$0].path) })
    }

    private func sync(_ place: Int, with other: Int) async throws {
        _ = try await replicator(place).syncOnce(PeerConfiguration(replicas[other].path))
    }

    init() async throws {
        replicas = try (0..<3).map { [directory] number in
            try ReplicaPair.make(
                directory.file("\(number).sqlite"), schema: Self.schema, number: UInt64(number) + 1)
        }
        try write(0, "INSERT INTO item VALUES ('a', 1), ('b', 1)")
        try await sync(0, with: 1)
        try await sync(0, with: 2)
        for price in 2...4 { try write(0, "UPDATE item SET price = \(price) WHERE id = 'a'") }
        try await sync(0, with: 2)
        #expect(try await replicator(0).compact(keep: 0, lease: 0).removed > 0)
        try write(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        try await sync(1, with: 2)
        try await sync(0, with: 2)
    }

    private func write(_ place: Int, _ sql: String) throws {
        try replicas[place].write { try $0.execute(sql: sql) }
    }

    private func prices(_ place: Int) throws -> [Int] {
        try replicas[place].read { try Int.fetchAll($0, sql: "SELECT price FROM item ORDER BY id") }
    }

    private func turn(_ place: Int, with other: Int) throws -> ReturnTurn? {
        try turn(place, with: other, replicator(other).inbox.vector())
    }

    private func turn(_ place: Int, with other: Int, _ theirs: VersionVector) throws -> ReturnTurn? {
        try ReturnTurn(
            refusing: replicas[place], theirs: theirs, horizon: replicas[other].read { try Horizon($0).vector },
            isMutual: false, peer: replicas[other].identity().origin)
    }

    @Test("an exchange alone leaves them out")
    func refused() throws {
        #expect(try prices(2) == [4, 9])
        #expect(try prices(0) == [4, 1])
        #expect(try turn(0, with: 2) == .here)
        #expect(try turn(2, with: 0) == nil)
    }

    @Test("the daemon of the replica takes the content, and keeps what only that replica had written")
    func daemon() async throws {
        try write(0, "INSERT INTO item VALUES ('c', 7)")
        let replicator = try replicator(0, follows: [2])
        let watch = try FileWatch(path: replicas[0].path)
        let run = Task { await replicator.run() }
        for await _ in watch.changes where try prices(0) == [4, 9, 7] { break }
        watch.stop()
        run.cancel()
        await run.value
        try await sync(0, with: 2)
        #expect(try prices(2) == [4, 9, 7])
        #expect(try turn(0, with: 2) == nil)
        // Its new changes reach everyone.
        try write(0, "UPDATE item SET price = 8 WHERE id = 'c'")
        try await sync(0, with: 2)
        try await sync(1, with: 2)
        for place in 0..<3 { #expect(try prices(place) == [4, 9, 8], "replica \(place)") }
    }

    @Test("a peer that lacks what is compacted here has nothing to offer")
    func lacking() throws {
        let theirs = try VersionVector(
            replicator(2).inbox.vector().entries.map { entry in
                .init(origin: entry.origin, version: entry.origin == OriginID(high: 1, low: 7) ? 1 : entry.version)
            })
        #expect(try turn(0, with: 2, theirs) == .there)
    }

    /// Each lacks what the other has compacted: A because it refuses that.
    private func compactApart() async throws {
        for price in 5...7 { try write(0, "UPDATE item SET price = \(price) WHERE id = 'a'") }
        for place in [0, 2] { #expect(try await replicator(place).compact(keep: 0, lease: 0).removed > 0) }
    }

    @Test(
        "of two that have compacted apart, the one with the smaller origin takes the content, also when it refuses it")
    func apart() async throws {
        try await compactApart()
        #expect(try turn(0, with: 2) == .here)
        #expect(try turn(2, with: 0) == nil)
        let theirs = try replicator(0).inbox.vector()
        #expect(try ReturnTurn(replicas[2], theirs: theirs, peer: replicas[0].identity().origin) == .there)
    }

    @Test("the other one takes it when that one asks for nothing")
    func leftAlone() async throws {
        try await compactApart()
        let (first, theirs) = (try replicas[0].identity().origin, try replicator(0).inbox.vector())
        let clock = ManualClock(wall: SystemClock().wallMilliseconds())
        let (limits, pulls) = (Limits.standard, WaitingPullers(clock: clock))
        let replicator = try replicator(2)
        let session = try await replicator.session(with: PeerConfiguration(replicas[0].path))
        let returning = Returning(
            replicator.inbox, pulls: pulls, limits: limits, clock: clock, entropy: { 1 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        func attempt() async -> Bool { await returning.attempt(session.transport, theirs, first) }
        #expect(await !attempt())
        clock.advance(limits.returnTurnMilliseconds - 1)
        #expect(await !attempt())
        pulls.note(VersionVector(), of: first)
        clock.advance(limits.returnTurnMilliseconds - 1)
        #expect(await !attempt())
        clock.advance(1)
        #expect(await attempt())
        #expect(try prices(2) == [7, 9])
        try await sync(2, with: 0)
        #expect(try prices(0) == [7, 9])
    }

    @Test("the daemon of that one takes it, and both have all")
    func daemonApart() async throws {
        try await compactApart()
        let replicator = try replicator(0, follows: [2])
        let watch = try FileWatch(path: replicas[0].path)
        let run = Task { await replicator.run() }
        for await _ in watch.changes where try prices(0) == [7, 9] { break }
        watch.stop()
        run.cancel()
        await run.value
        try await sync(0, with: 2)
        #expect(try prices(2) == [7, 9])
    }
}
