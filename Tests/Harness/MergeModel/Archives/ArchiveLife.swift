import Foundation
import GRDB
import Journal
import Sync
import Synchronization
import TestSupport

/// One life of some replicas that share an archive, which its seed determines.
///
/// Requests fail or lose their answers, processes restart and lose their notes, replicas also meet directly and
/// compact, snapshots are made, packs are collected, and the store is restored from a backup. At the end all know the same, show the same,
/// and have everything that was committed.
final class ArchiveLife: Life {
    private struct Machine {
        var fixture: ReplicaFixture
        var transport: ArchiveTransport
    }

    private(set) var story: [String] = []

    private var random: SplitMix
    private let directory = TemporaryDirectory()
    private let clock = ManualClock(wall: ReplicaFixture.now.milliseconds)
    private let faults: StoreFaults
    private let store: MemoryStore
    private var limits = Limits.standard
    private var machines: [Machine] = []
    private var backup: [String: [UInt8]]?
    /// The changes that programs were told are committed, by the numbers in their rows.
    private var committed = 0
    /// The packs that collections removed.
    private var collected = 0
    var counts: [Int] { [collected] }

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        // A collection makes many requests, and would never end among many failures.
        let faults = StoreFaults(seed: seed ^ 0xFA, oneIn: random.chance(40) ? 14 : 400)
        self.faults = faults
        store = MemoryStore(
            createsOnce: random.chance(70), clock: { [clock] in clock.wallMilliseconds() },
            fault: { _, _ in faults.next() })
        limits.changesPerBatch = 1 + random.below(5)
        limits.bytesPerPush = random.chance(50) ? 200 : 8 << 20
        limits.bytesPerPull = random.chance(50) ? 300 : 32 << 20
        limits.archive = limits.archive.ofOneExchange
        if random.chance(50) { limits.archive.bridgeMilliseconds = 60_000 }
        if random.chance(50) { limits.archive.headMilliseconds = 10_000 }
        // Short enough for collections, or as long as ever.
        if random.chance(70) { limits.archive.acknowledgementMilliseconds = 10_000 }
        limits.archive.snapshotPartBytes = 16_384
        for index in 0..<(2 + random.below(3)) {
            var settings = ReplicaFixture.Settings(limits: limits)
            settings.clock = clock
            let fixture = try ReplicaFixture(
                directory.file("\(index).sqlite"),
                schema: """
                    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, u TEXT UNIQUE);
                    CREATE TABLE written(machine INTEGER, number INTEGER, PRIMARY KEY (machine, number));
                    """,
                origin: OriginID(high: UInt64(index + 1), low: 1), settings)
            machines.append(Machine(fixture: fixture, transport: transport(of: fixture)))
        }
    }

    private func transport(of fixture: ReplicaFixture) -> ArchiveTransport {
        let entropy = Mutex(SplitMix(seed: random.next()))
        return ArchiveTransport(
            store, replica: fixture.replica, limits: limits, clock: clock,
            entropy: { entropy.withLock { $0.next() } })
    }

    /// - Throws: ``Difference``, and errors of the files.
    func run() async throws {
        for _ in 0..<(20 + random.below(40)) { try await step() }
        faults.stop()
        story.append("no more faults")
        for _ in 0..<8 {
            clock.advance(700_000)
            for index in machines.indices { await exchange(index) }
            let vectors = try machines.map { try $0.fixture.vector }
            if vectors.allSatisfy({ $0 == vectors[0] }) { break }
        }
        try check()
        for machine in machines { try machine.fixture.close() }
    }

    private func check() throws {
        // Whoever has read a pack never reads another one in its place.
        if let pack = store.overwritten.first(where: { $0.hasPrefix("1/w/") }) {
            throw Difference(description: "Two packs were written to \(pack)")
        }
        let vectors = try machines.map { try $0.fixture.vector }
        guard vectors.allSatisfy({ $0 == vectors[0] }) else {
            throw Difference(description: "The replicas do not know the same: \(vectors.map(ArchiveLife.text))")
        }
        let rows = try machines.map {
            try $0.fixture.text("SELECT id || ':' || quote(a) || quote(u) FROM t ORDER BY id")
        }
        guard rows.allSatisfy({ $0 == rows[0] }) else { throw Difference(description: "The rows differ: \(rows)") }
        for machine in machines {
            let count = try machine.fixture.text("SELECT count(*) FROM written")
            guard count == [String(committed)] else {
                throw Difference(description: "\(committed) rows were committed, and \(count[0]) are there")
            }
        }
    }

    // MARK: - Steps

    private func step() async throws {
        clock.advance(Int64(random.below(20_000)))
        let index = random.below(machines.count)
        switch random.below(23) {
        case 0...8: try write(index)
        case 9...14: await exchange(index)
        case 15:
            let other = random.below(machines.count)
            guard other != index else { return }
            story.append("\(index) meets \(other)")
            _ = try? await machines[index].fixture.exchange(with: machines[other].fixture)
        case 16:
            story.append("\(index) restarts")
            machines[index].transport = transport(of: machines[index].fixture)
            if random.chance(30) {
                story.append("\(index) loses its notes")
                try? FileManager.default.removeItem(atPath: machines[index].fixture.path + "-archives")
            }
        case 17:
            // A replica of which nobody has heard holds nothing back: it is told to clone.
            let known = Set(try machines[index].fixture.inbox.stableHorizon(lease: .max).members.map(\.origin))
            let others = try machines.indices.filter { $0 != index }.map { try machines[$0].fixture.origin }
            guard known.isSuperset(of: others) else { return }
            let removed = try machines[index].fixture.compactWhatIsStable()
            story.append("\(index) compacts \(removed) entries")
        case 18:
            story.append("\(index) makes a snapshot")
            _ = try? await machines[index].transport.writeSnapshot()
        case 19:
            guard let key = store.keys.shuffled(using: &random).first, let bytes = store.content[key] else { return }
            // Without its description, an archive can only be made anew by hand.
            let isRemoved = key == "1/meta" || random.chance(50)
            story.append("\(key) is \(isRemoved ? "removed" : "cut")")
            store.damage(key, isRemoved ? nil : Array(bytes.dropLast(1 + random.below(bytes.count))))
        case 20, 21:
            if random.chance(60) {
                // What a day does: all have met, and one has made a snapshot.
                for index in machines.indices { await exchange(index) }
                clock.advance(20_000)
                for index in machines.indices { await exchange(index) }
                if random.chance(70) {
                    story.append("\(index) makes a snapshot")
                    _ = try? await machines[index].transport.writeSnapshot()
                }
                if random.chance(50) { try write(random.below(machines.count)) }
            }
            for _ in 0..<(1 + random.below(2)) {
                try await collect()
                clock.advance(Int64(random.below(60_000)))
            }
        default:
            if let backup, random.chance(50) {
                story.append("the store is restored")
                store.restore(backup)
            } else {
                story.append("the store is backed up")
                backup = store.content
            }
        }
    }

    private func write(_ index: Int) throws {
        let key = 1 + random.below(6)
        let text = "'\(random.below(1_000))'"
        let statement =
            switch random.below(6) {
            case 0...1:
                "INSERT OR IGNORE INTO t VALUES (\(key), \(text), \(random.chance(50) ? "NULL" : "'u\(random.below(3))'"))"
            case 2: "DELETE FROM t WHERE id = \(key)"
            case 3: "UPDATE t SET a = \(text)"
            default: "UPDATE t SET a = \(text) WHERE id = \(key)"
            }
        committed += 1
        try machines[index].fixture.execute("\(statement); INSERT INTO written VALUES (\(index), \(committed))")
        story.append("\(index) writes \(statement): \(ArchiveLife.text(try machines[index].fixture.vector))")
    }

    /// Removes what is needless, and checks that no snapshot lost what it needs.
    private func collect() async throws {
        guard store.content["1/meta"] != nil else { return }
        // A replica of which the archive does not know holds nothing back: it is told to clone.
        let known = try await survey().summary().acknowledgements.map(\.origin)
        let origins = try machines.map { try $0.fixture.origin }
        guard Set(known).isSuperset(of: origins) else { return }
        let before = try await survey().clones()
        var settings = CollectionSettings()
        settings.keepMilliseconds = 0
        settings.leaseMilliseconds = 1 << 50
        settings.graceMilliseconds = 30_000
        let entropy = Mutex(SplitMix(seed: random.next()))
        let collector = ArchiveCollector(
            store, settings: settings, limits: limits, entropy: { entropy.withLock { $0.next() } })
        do {
            let report = try await collector.run(isDryRun: false)
            story.append("a collection marks \(report.markedPacks) packs and removes \(report.removedPacks)")
            collected += report.removedPacks
        } catch {
            story.append("a collection: \(error)")
        }
        for (id, vector) in try await survey().clones() {
            guard let old = before[id], !vector.covers(old) else { continue }
            throw Difference(
                description:
                    "A clone of the snapshot \(id) got \(ArchiveLife.text(old)), and now \(ArchiveLife.text(vector))")
        }
    }

    /// A look at the store as it is, without faults.
    private func survey() throws -> ArchiveSurvey {
        let copy = MemoryStore()
        copy.restore(store.content)
        return ArchiveSurvey(copy, limits: limits)
    }

    private func exchange(_ index: Int) async {
        let machine = machines[index]
        var ending = ""
        do {
            let report = try await machine.fixture.exchange(over: machine.transport)
            if random.chance(30) { try await machine.transport.finish() }
            ending = "pulled \(report.pulledChanges), pushed \(report.pushedChanges)"
        } catch {
            ending = "\(error)"
            if (error as? SyncError)?.code == .behindHorizon { ending += await readSnapshot() }
        }
        let vector = (try? machine.fixture.vector).map(ArchiveLife.text) ?? ""
        story.append("\(index) exchanges: \(ending): \(vector)")
    }

    /// Reads the newest snapshot, as a replica does that comes back by it. So a damaged one is found.
    private func readSnapshot() async -> String {
        let snapshots = ArchiveSnapshots(store, limits: limits)
        var seen = ""
        do {
            // Each one that is damaged is not given again.
            while case .ready(let manifest) = try await snapshots.snapshot() {
                do {
                    for index in manifest.parts.indices {
                        _ = try await snapshots.part(index, of: manifest.id, size: manifest.partBytes)
                    }
                    return seen + "; \(manifest.id) is whole"
                } catch let error as SyncError where error.code == .notFound {
                    seen += "; \(error.message)"
                }
            }
            return seen
        } catch {
            return seen + "; \(error)"
        }
    }

    static func text(_ vector: VersionVector) -> String {
        vector.entries.map { "\($0.origin.description.prefix(16).drop { $0 == "0" }):\($0.version)" }.joined(
            separator: " ")
    }
}
