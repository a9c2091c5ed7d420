import Foundation
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("What replicas have merged travels with hellos")
struct AcknowledgementBookTests {
    private let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a)"

    private func meet(_ hub: ReplicaFixture, _ leaf: ReplicaFixture) throws {
        try hub.pull(from: leaf)
        try leaf.pull(from: hub)
        try hub.hear(leaf)
        try leaf.hear(hub)
    }

    @Test("leaves of a hub that never meet compact what all have, and nothing else")
    func hub() throws {
        let directory = TemporaryDirectory()
        let replicas = try (0..<4).map { try ReplicaFixture(directory.file("\($0).sqlite"), schema: schema) }
        let hub = replicas[0]
        for round in 1...3 {
            for leaf in replicas.dropFirst() {
                try leaf.execute("INSERT INTO t VALUES (1, \(round)) ON CONFLICT DO UPDATE SET a = \(round)")
                try meet(hub, leaf)
            }
        }
        for leaf in replicas.dropFirst() { try meet(hub, leaf) }
        let before = try replicas[1].inbox.stableHorizon(lease: .max)
        for leaf in replicas.dropFirst() { try meet(hub, leaf) }
        let after = try replicas[1].inbox.stableHorizon(lease: .max)
        #expect(before.members.count == 3 && after.members.allSatisfy { $0.standing == .acknowledged })
        #expect(try after.vector == replicas[1].vector, "everyone has everything")
        // One that is silent from now on holds back what it does not have.
        try replicas[1].execute("UPDATE t SET a = 9")
        for leaf in [replicas[1], replicas[2], replicas[1], replicas[2]] { try meet(hub, leaf) }
        let held = try replicas[1].inbox.stableHorizon(lease: .max)
        #expect(held.vector == after.vector)
        #expect(held.holders.map(\.origin) == [try replicas[3].origin])
        for replica in replicas { try replica.close() }
    }

    @Test("what was heard is beside the file, for other processes; a torn or foreign file counts as empty")
    func notes() throws {
        let directory = TemporaryDirectory()
        let a = try ReplicaFixture(directory.file("a.sqlite"), schema: schema)
        let b = try ReplicaFixture(directory.file("b.sqlite"), schema: schema)
        try b.execute("INSERT INTO t VALUES (1, 1)")
        try a.pull(from: b)
        try a.hear(b)
        try a.inbox.acknowledgements.flush()
        func members() throws -> [StableHorizon.Standing] {
            try a.replica.read {
                try AcknowledgementBook.stableHorizon(
                    of: a.replica, $0, now: ReplicaFixture.now.milliseconds, lease: .max)
            }.members.map(\.standing)
        }
        #expect(try members() == [.acknowledged])
        let path = a.path + "-acks"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for damaged in [Data(), bytes.dropLast(), Data(bytes.reversed()), Data("tandem acks 1 5 1\n{}".utf8)] {
            try damaged.write(to: URL(fileURLWithPath: path))
            #expect(try members() == [.silent])
        }
        try a.close()
        try b.close()
    }

    /// A clock that is set by hand.
    private final class SetClock: Sendable {
        private let ahead = Mutex<Int64>(0)

        var days: Int64 {
            get { ahead.withLock { $0 } }
            set { ahead.withLock { $0 = newValue } }
        }

        var stamp: Stamp { Stamp(milliseconds: ReplicaFixture.now.milliseconds + days * 86_400_000) }
    }

    @Test("a lease that began while the clock was ahead counts from when it was set right", arguments: [false, true])
    func clockSetRight(restarts: Bool) throws {
        let directory = TemporaryDirectory()
        let clock = SetClock()
        let a = try ReplicaFixture(directory.file("a"), schema: schema, .init(wallClock: { clock.stamp }))
        let b = try ReplicaFixture(directory.file("b"), schema: schema)
        try b.execute("INSERT INTO t VALUES (1, 1)")
        try a.pull(from: b)
        func standing(after days: Int64) throws -> [StableHorizon.Standing] {
            clock.days = days
            return try a.inbox.stableHorizon(lease: 30 * 86_400_000).members.map(\.standing)
        }
        clock.days = 3_650
        try a.hear(b)
        #expect(try standing(after: 0) == [.acknowledged])
        try a.inbox.acknowledgements.flush()
        if restarts { try a.whileClosed {} }
        #expect(try standing(after: 29) == [.acknowledged])
        #expect(try standing(after: 31) == [.expired])
        // It lives, and says so.
        try a.hear(b)
        #expect(try standing(after: 60) == [.acknowledged])
        #expect(try standing(after: 62) == [.expired])
        // A clock that is behind for a while ends no lease, and makes none longer.
        clock.days = 63
        try a.hear(b)
        #expect(try standing(after: -400) == [.acknowledged])
        #expect(try standing(after: 92) == [.acknowledged])
        #expect(try standing(after: 94) == [.expired])
        for replica in [a, b] { try replica.close() }
    }

    @Test("a peer that never wrote, and has not said yet what it has, makes nothing stable")
    func silentPeer() throws {
        let directory = TemporaryDirectory()
        let a = try ReplicaFixture(directory.file("a.sqlite"), schema: schema)
        try a.execute("INSERT INTO t VALUES (1, 1)")
        #expect(try a.inbox.stableHorizon(lease: .max).isAlone)
        var status = PeerStatus(name: "http://b:7707")
        status.origin = OriginID(high: 9, low: 9)
        status.lastContactMilliseconds = ReplicaFixture.now.milliseconds
        try a.replica.write { try PeerTable.record(status, $0) }
        let horizon = try a.inbox.stableHorizon(lease: .max)
        #expect(horizon.members.map(\.standing) == [.silent] && horizon.vector.isEmpty)
        try a.close()
    }

    @Test("a name that this replica has finished is no peer of it, also when its content is of a snapshot by that name")
    func finishedPeer() throws {
        let directory = TemporaryDirectory()
        let a = try ReplicaFixture(directory.file("a.sqlite"), schema: schema)
        try a.execute("INSERT INTO t VALUES (1, 1)")
        var status = PeerStatus(name: "a snapshot of 9")
        status.origin = OriginID(high: 9, low: 9)
        status.lastContactMilliseconds = ReplicaFixture.now.milliseconds
        try a.replica.write { db in
            try PeerTable.record(status, db)
            try FinishedOrigins.add(OriginID(high: 9, low: 9), time: 1, db)
        }
        #expect(try a.inbox.stableHorizon(lease: .max).isAlone)
        try a.close()
    }

    @Test("a wrong clock stops compaction while its replica says hello, and not for ever")
    func clocks() throws {
        let directory = TemporaryDirectory()
        let a = try ReplicaFixture(directory.file("a.sqlite"), schema: schema)
        let time = Mutex(ReplicaFixture.now)
        let book = AcknowledgementBook(replica: a.replica, limits: .standard) { time.withLock { $0 } }
        let (now, other) = (ReplicaFixture.now.milliseconds, OriginID(high: 9, low: 9))
        book.note(wallMilliseconds: now + 1_000, of: other)
        #expect(!book.hasDoubtfulClock)
        book.note(wallMilliseconds: now + 31_536_000_000, of: other)
        #expect(book.hasDoubtfulClock)
        time.withLock { $0 = Stamp(milliseconds: now + Limits.standard.aliveMilliseconds) }
        #expect(book.hasDoubtfulClock)
        time.withLock { $0 = Stamp(milliseconds: now + 3 * Limits.standard.aliveMilliseconds) }
        #expect(!book.hasDoubtfulClock)
        try a.close()
    }
}
