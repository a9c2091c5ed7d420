import GRDB
import Journal
import Sync
import Synchronization
import TestSupport

/// One life of replicas of which some know an archive and the others know hubs of it, which its seed determines.
///
/// Requests of the store fail or lose their answers, hubs die, and replicas start again. Nothing in the archive is lost
/// or damaged. Properties:
/// 1. What a push is told to be durable is in the archive by then: a hub that is born at that moment finds it.
/// 2. Once all faults are over, everything that was committed is everywhere soon: whatever a dead hub left unsaid,
///    nobody waits for it longer than ``patienceMilliseconds``.
/// 3. From then on, a replica that knows the archive has all that it wrote in there after an exchange: it can build on
///    each pack that it has read, also when no head tells of it.
final class HubLife: Life {
    private struct Machine {
        let fixture: ReplicaFixture
        /// The way to the archive; nil for a replica that knows hubs.
        var transport: ArchiveTransport?
    }

    /// The longest time until all know the same. Packs that no head tells of are written again two minutes after they
    /// were read, where the heads are read every ten seconds, and everybody exchanges every five.
    static let patienceMilliseconds: Int64 = 140_000

    private(set) var story: [String] = []
    /// How many hubs died.
    private var deaths = 0
    var counts: [Int] { [deaths] }

    private var random: SplitMix
    private let directory = TemporaryDirectory()
    private let clock = ManualClock(wall: ReplicaFixture.now.milliseconds)
    private let faults: StoreFaults
    private let store: MemoryStore
    private var limits = Limits.standard
    private var machines: [Machine] = []
    private var hubs: [Hub] = []
    /// The changes that programs were told are committed, by the numbers in their rows.
    private var committed = 0

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        let faults = StoreFaults(seed: seed ^ 0xFA, oneIn: random.chance(50) ? 40 : 400)
        self.faults = faults
        store = MemoryStore(
            createsOnce: random.chance(70), clock: { [clock] in clock.wallMilliseconds() },
            fault: { _, _ in faults.next() })
        limits.changesPerBatch = 1 + random.below(5)
        limits.archive.flushMilliseconds = 0
        limits.hub.flushMilliseconds = 0
        for _ in 0..<2 { hubs.append(hub()) }
        for index in 0..<(3 + random.below(3)) {
            var settings = ReplicaFixture.Settings(limits: limits)
            settings.clock = clock
            let fixture = try ReplicaFixture(
                directory.file("\(index).sqlite"),
                schema: """
                    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
                    CREATE TABLE written(machine INTEGER, number INTEGER, PRIMARY KEY (machine, number));
                    """,
                origin: OriginID(high: UInt64(index + 1), low: 1), settings)
            machines.append(Machine(fixture: fixture, transport: index % 2 == 0 ? transport(of: fixture) : nil))
        }
    }

    private func hub() -> Hub {
        let entropy = Mutex(SplitMix(seed: random.next()))
        return Hub(store, limits: limits, clock: clock, entropy: { entropy.withLock { $0.next() } })
    }

    private func transport(of fixture: ReplicaFixture) -> ArchiveTransport {
        let entropy = Mutex(SplitMix(seed: random.next()))
        return ArchiveTransport(
            store, replica: fixture.replica, limits: limits, clock: clock,
            entropy: { entropy.withLock { $0.next() } })
    }

    /// - Throws: ``Difference``, and errors of the files.
    func run() async throws {
        for _ in 0..<(30 + random.below(50)) { try await step() }
        faults.stop()
        story.append("no more faults")
        let began = clock.steadyMilliseconds()
        while try !isLevel() {
            guard clock.steadyMilliseconds() - began < HubLife.patienceMilliseconds else {
                throw Difference(
                    description:
                        "After \(HubLife.patienceMilliseconds / 1_000) s without a fault, the replicas do not know the same"
                )
            }
            clock.advance(5_000)
            await tick()
            for index in machines.indices {
                try await exchange(index)
                try await checkWritten(index)
            }
        }
        try check()
        for machine in machines { try machine.fixture.close() }
    }

    private func isLevel() throws -> Bool {
        let vectors = try machines.map { try $0.fixture.vector }
        return vectors.allSatisfy { $0 == vectors[0] }
    }

    private func check() throws {
        let rows = try machines.map { try $0.fixture.text("SELECT id || ':' || quote(a) FROM t ORDER BY id") }
        guard rows.allSatisfy({ $0 == rows[0] }) else {
            throw Difference(description: "The rows differ: \(rows)")
        }
        for machine in machines {
            let count = try machine.fixture.text("SELECT count(*) FROM written")
            guard count == [String(committed)] else {
                throw Difference(description: "\(committed) rows were committed, and \(count[0]) are there")
            }
        }
    }

    // MARK: - Steps

    private func step() async throws {
        clock.advance(Int64(random.below(random.chance(10) ? 60_000 : 3_000)))
        let index = random.below(machines.count)
        switch random.below(20) {
        case 0...6: try write(index)
        case 7...14: try await exchange(index)
        case 15...16: await tick()
        case 17...18:
            let dead = random.below(hubs.count)
            story.append("hub \(dead) dies")
            deaths += 1
            hubs[dead] = hub()
        default:
            guard machines[index].transport != nil else { return }
            story.append("\(index) starts again")
            machines[index].transport = transport(of: machines[index].fixture)
        }
    }

    private func write(_ index: Int) throws {
        let key = 1 + random.below(4)
        committed += 1
        let text = "'\(committed)'"
        let statement =
            switch random.below(4) {
            case 0: "DELETE FROM t WHERE id = \(key)"
            case 1: "UPDATE t SET a = \(text)"
            default: "INSERT INTO t VALUES (\(key), \(text)) ON CONFLICT (id) DO UPDATE SET a = excluded.a"
            }
        try machines[index].fixture.execute("\(statement); INSERT INTO written VALUES (\(index), \(committed))")
        story.append("\(index) writes \(committed)")
    }

    private func tick() async {
        for (index, hub) in hubs.enumerated() {
            do { try await hub.tick() } catch { story.append("hub \(index): \(error)") }
        }
    }

    /// One round of a daemon.
    private func exchange(_ index: Int) async throws {
        let machine = machines[index]
        let way = LastingTransport(base: machine.transport ?? HubTransport(hubs[random.below(hubs.count)]))
        var ending: String
        do {
            let report = try await machine.fixture.exchange(over: way)
            ending = "pulled \(report.pulledChanges), pushed \(report.pushedChanges)"
        } catch {
            ending = "\(error)"
        }
        let vector = (try? machine.fixture.vector).map(ArchiveLife.text) ?? ""
        story.append("\(index) exchanges: \(ending): \(vector)")
        let promised = way.promised
        guard !promised.isEmpty else { return }
        let stored = try await stored(machine.fixture)
        guard stored.covers(promised) else {
            throw Difference(
                description: """
                    A push was told that the archive has \(ArchiveLife.text(promised)), and it has \
                    \(ArchiveLife.text(stored))
                    """)
        }
    }

    private func checkWritten(_ index: Int) async throws {
        let (fixture, transport) = (machines[index].fixture, machines[index].transport)
        guard transport != nil else { return }
        let origin = try fixture.origin
        let (written, stored) = (try fixture.vector[origin], try await stored(fixture)[origin])
        guard stored < written else { return }
        throw Difference(
            description: "\(index) has written \(written) changes, and the archive has \(stored) after an exchange")
    }

    /// What a hub that begins now, with a store that does not fail, finds in the archive.
    private func stored(_ caller: ReplicaFixture) async throws -> VersionVector {
        let copy = MemoryStore(clock: { [clock] in clock.wallMilliseconds() })
        copy.restore(store.content)
        let hub = Hub(copy, limits: limits, clock: clock, entropy: { 0 })
        let cluster = try caller.replica.identity().cluster
        let opening = try Frame(body: .open(cluster: cluster, origin: caller.origin))
        try await hub.tick()
        return try await HubTransport(hub).push([opening, Frame(body: .end(vector: VersionVector(), more: false))])
            .vector
    }
}

/// A way to a peer that a daemon keeps: an exchange does not end it, so heads are announced when they are due.
private final class LastingTransport: Transport {
    private let base: any Transport
    private let told = Mutex(VersionVector())

    init(base: any Transport) { self.base = base }

    /// What pushes were told to be durable.
    var promised: VersionVector { told.withLock { $0 } }

    var name: String { base.name }
    var holdsRows: Bool { false }
    func hello(_ hello: Hello) async throws -> Hello { try await base.hello(hello) }
    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await base.pull(request, onFrame: onFrame)
    }
    func push(_ frames: [Frame]) async throws -> PushReply {
        let reply = try await base.push(frames)
        told.withLock { $0.merge(reply.vector) }
        return reply
    }
    func digest(_ request: DigestRequest) async throws -> DigestReply { try await base.digest(request) }
    func wanted(_ ours: VersionVector, of own: OriginID) async -> Set<OriginID>? {
        await base.wanted(ours, of: own)
    }
}
