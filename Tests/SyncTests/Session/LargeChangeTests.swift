import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Large changes")
struct LargeChangeTests {
    private static func insertLarge(_ replica: Replica, _ id: Int, bytes: Int) throws {
        try replica.write {
            try $0.execute(sql: "INSERT INTO person VALUES (?, 'x', 1, randomblob(?))", arguments: [id, bytes])
        }
    }

    /// Brings rows of a third replica to `replica`.
    private static func insertOfAnother(_ pair: ReplicaPair, _ replica: Replica, _ ids: Range<Int>) async throws {
        let third = try ReplicaPair.make(
            pair.directory.file("c.sqlite"), schema: ReplicaPair.schema, number: 3)
        try ReplicaPair.insert(third, ids, name: "other")
        let name = replica === pair.a ? "a.sqlite" : "b.sqlite"
        _ = try await Replicator(replica: third).syncOnce(PeerConfiguration(pair.directory.file(name)))
        try third.close()
    }

    @Test(
        "a change beyond the limit of frames is named, and only what its machine wrote after it waits",
        arguments: ReplicaPair.Way.allCases, [true, false])
    func refused(way: ReplicaPair.Way, isHere: Bool) async throws {
        var limits = Limits.standard
        limits.rawBatchBytes = 20_000
        limits.bytesPerBatch = 1_000
        let pair = try ReplicaPair(way, limits: limits)
        let (sender, receiver) = isHere ? (pair.a, pair.b) : (pair.b, pair.a)
        try ReplicaPair.insert(sender, 1..<40)
        try Self.insertLarge(sender, 50, bytes: 30_000)
        try ReplicaPair.insert(sender, 60..<64)
        try await Self.insertOfAnother(pair, sender, 100..<120)
        try ReplicaPair.insert(receiver, 200..<210)
        do {
            try await pair.sync()
            Issue.record("it was taken")
        } catch let error as SyncError {
            #expect(error.code == .tooLarge)
            #expect(error.message.contains("table person, version 40 of"))
            #expect(error.hint?.isEmpty == false)
        }
        #expect(try pair.count(receiver) == 39 + 20 + 10)
        #expect(try pair.count(sender) == 39 + 1 + 4 + 20 + 10)
    }

    @Test("one that waits for memory arrives with everything after it", arguments: ReplicaPair.Way.allCases)
    func large(way: ReplicaPair.Way) async throws {
        var limits = Limits.standard
        limits.largeFrameBytes = 10_000
        limits.bytesPerBatch = 1_000
        let pair = try ReplicaPair(way, limits: limits)
        for replica in [pair.a, pair.b] {
            let first = replica === pair.a ? 0 : 1_000
            try ReplicaPair.insert(replica, first + 1..<first + 40)
            for id in 50..<54 {
                try Self.insertLarge(replica, first + id, bytes: 30_000)
                try ReplicaPair.insert(replica, first + id + 10..<first + id + 11)
            }
            // Compression makes a small frame of it.
            try replica.write {
                try $0.execute(
                    sql: "INSERT INTO person VALUES (?, 'x', 1, zeroblob(40000))", arguments: [first + 90])
            }
        }
        let report = try await pair.sync()
        #expect(report.isLevel)
        for replica in [pair.a, pair.b] {
            #expect(try pair.count(replica) == 2 * (39 + 8 + 1))
        }
    }

    @Test("one of more than 64 MiB travels")
    func veryLarge() async throws {
        let pair = try ReplicaPair(.http)
        try Self.insertLarge(pair.a, 1, bytes: 70 << 20)
        try ReplicaPair.insert(pair.a, 2..<10)
        #expect(try await pair.sync().isLevel)
        let (mine, theirs) = try (Self.sum(pair.a), Self.sum(pair.b))
        #expect(mine == theirs)
    }

    /// A length and the ends of the value.
    private static func sum(_ replica: Replica) throws -> String? {
        try replica.read {
            try String.fetchOne(
                $0,
                sql: """
                    SELECT length(photo) || ' ' || hex(substr(photo, 1, 1000)) || hex(substr(photo, -1000)) FROM person
                    WHERE id = 1
                    """)
        }
    }
}
