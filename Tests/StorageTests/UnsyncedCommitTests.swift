import GRDB
import Journal
import SimulatedDisk
import Sync
import Testing

/// Between the writes of a commit and their sync.
@Suite("Commits whose process ended before their sync")
struct UnsyncedCommitTests {
    private let disk = SimulatedDisk()

    private func count(_ replica: Replica) throws -> Int? {
        try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test("the writes of such a commit are durable before a peer can be told of them")
    func confirmed() throws {
        let first = try disk.makeReplica("a.sqlite", InitializeRequest())
        try first.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
        try first.refreshDerivedState()
        disk.add(.init(.crashBefore, .at(1), of: .sync, on: .log))
        #expect(throws: (any Error).self) { try first.write { try $0.execute(sql: "INSERT INTO t VALUES (1, 2)") } }
        disk.start()

        let second = try disk.openReplica("a.sqlite")
        #expect(try count(second) == 1)
        #expect(try count(disk.powerLoss(seed: 1, .all).openReplica("a.sqlite")) == 0)
        let inbox = try Inbox(replica: second) { Stamp(milliseconds: 3_900_000_000_000) }
        let promised = try inbox.have()
        #expect(promised.entries.map(\.version) == [1])

        let third = try disk.powerLoss(seed: 1, .all).openReplica("a.sqlite")
        #expect(try count(third) == 1)
        #expect(try Inbox(replica: third) { Stamp(milliseconds: 3_900_000_000_000) }.have() == promised)
    }

    @Test("an inbox does not open on a log that cannot be synced")
    func refused() throws {
        let replica = try disk.makeReplica("a.sqlite", InitializeRequest())
        disk.add(.init(.fail, .at(1), of: .sync, on: .log))
        #expect(throws: JournalError.self) { try Inbox(replica: replica) { Stamp(milliseconds: 3_900_000_000_000) } }
        _ = try Inbox(replica: replica) { Stamp(milliseconds: 3_900_000_000_000) }
    }
}
