import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Compaction works among many replicas, and its cost is bounded")
struct ManyReplicasTests {
    private func meet(_ a: ReplicaFixture, _ b: ReplicaFixture) throws {
        try a.pull(from: b)
        try b.pull(from: a)
        try a.hear(b)
        try b.hear(a)
    }

    @Test("200 replicas, of which the leaves of ten hubs in a chain never meet, compact what all have")
    func twoHundred() throws {
        let directory = TemporaryDirectory()
        let replicas = try (0..<200).map {
            try ReplicaFixture(directory.file("\($0).sqlite"), schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
        }
        let hubs = replicas[..<10]
        let leaves = Array(replicas[10...])
        func round() throws {
            for (place, leaf) in leaves.enumerated() { try meet(hubs[place % hubs.count], leaf) }
            for (hub, next) in zip(hubs, hubs.dropFirst()) { try meet(hub, next) }
            for (hub, next) in zip(hubs, hubs.dropFirst()).reversed() { try meet(hub, next) }
        }
        // Every tenth writes; the others have nothing to say.
        for place in stride(from: 0, to: leaves.count, by: 10) {
            try leaves[place].execute("INSERT INTO t VALUES (\(place), 1)")
            for a in 2...3 { try leaves[place].execute("UPDATE t SET a = \(a)") }
        }
        // First the hubs have everything, then all have, then all know that all have.
        for _ in 1...3 { try round() }
        for replica in [hubs[0], hubs[9], leaves[0], leaves[189]] {
            let horizon = try replica.inbox.stableHorizon(lease: .max)
            #expect(horizon.members.count == 199 && horizon.holders.isEmpty)
            #expect(try horizon.vector == replica.vector && replica.compactWhatIsStable() > 0)
        }
        for replica in replicas { try replica.close() }
    }

    @Test(
        "a hello with the acknowledgements of all others is bounded",
        arguments: [(replicas: 10, bytes: 1_200), (100, 40_000), (1_000, 900_000)])
    func cost(replicas: Int, bytes: Int) throws {
        let origins = (1...replicas).map { OriginID(high: UInt64($0) &* 0x9E37_79B9_7F4A_7C15, low: UInt64($0)) }
        let vector = VersionVector(origins.map { .init(origin: $0, version: 1_000_000) })
        var hello = Hello(
            cluster: "main", origin: origins[0], formatVersion: 1, vector: vector,
            wallMilliseconds: ReplicaFixture.now.milliseconds)
        hello.acknowledgements = origins.prefix(Limits.standard.acknowledgementsPerHello).map {
            Acknowledgement(
                origin: $0, vector: vector, milliseconds: ReplicaFixture.now.milliseconds, witness: origins[0])
        }
        let size = try hello.encoded().count
        #expect(size <= bytes && size > bytes / 2)
    }
}
