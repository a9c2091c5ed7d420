import GRDB
import Journal
import SimulatedDisk
import TestSupport
import Testing

/// SQLite before 3.51.3 may lose commits when a checkpoint begins on a log that is already checkpointed,
/// while another connection restarts the log (https://sqlite.org/wal.html, "the WAL-reset bug"). Tandem
/// checkpoints in one process at a time, under a lock, and never begins in that state.
@Suite("One checkpointer")
struct CheckpointLockTests {
    let disk = SimulatedDisk()

    private func makeReplica() throws -> Replica {
        let replica = try disk.makeReplica("a.sqlite", InitializeRequest())
        try replica.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
        try replica.refreshDerivedState()
        return replica
    }

    private func fill(_ replica: Replica, transactions: Int, bytes: Int = 40_000) throws {
        for _ in 0..<transactions {
            try replica.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (randomblob(\(bytes)))") }
        }
    }

    @Test("no write reaches the database outside of the lock, for any number of restarts of the log")
    func everyWay() throws {
        let replica = try makeReplica()
        let merging = try replica.openMergeConnection()
        for mode in [Checkpoint.Mode.passive, .restart, .truncate] {
            try fill(replica, transactions: 4)
            _ = try replica.checkpoint(mode)
            try merging.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (randomblob(20000))") }
        }
        // Far beyond the log size at which a commit checkpoints.
        try fill(replica, transactions: 500)
        try merging.close()
        try replica.close()
        let again = try disk.openReplica("a.sqlite")
        try fill(again, transactions: 3)
        try again.close()
        let checkpoints = disk.checkpoints
        #expect(checkpoints.writes > 1_000)
        #expect(checkpoints.restarts >= 3)
        #expect(checkpoints.outsideLock == 0)
        #expect(checkpoints.idleStarts == 0)
    }

    @Test(
        "the log does not grow with every write, with small pages and with large ones",
        arguments: [512, 65_536])
    func size(pageBytes: Int) throws {
        let writer = try RawConnection(path: disk.path("a.sqlite"))
        try writer.run("PRAGMA page_size = \(pageBytes); CREATE TABLE s (id INTEGER PRIMARY KEY)")
        let replica = try makeReplica()
        var largest: Int64 = 0
        for _ in 0..<600 {
            try fill(replica, transactions: 1)
            largest = max(largest, disk.size(of: "a.sqlite-wal") ?? 0)
        }
        #expect(largest > 4 << 20)
        #expect(largest < 6 << 20)
        try replica.close()
    }

    @Test("a checkpointed log is left alone, or first gets a new frame", arguments: [1, 2, 3])
    func movedLog(times: Int) throws {
        let replica = try makeReplica()
        try fill(replica, transactions: 2)
        for _ in 0..<times {
            let checkpoint = try #require(try replica.checkpoint())
            #expect(checkpoint.logPages > 0 && checkpoint.movedPages == checkpoint.logPages)
        }
        #expect(try replica.checkpoint(.restart)?.isBlocked == false)
        #expect(try replica.checkpoint()?.isBlocked == false)
        for _ in 0..<times { #expect(try replica.checkpoint(.truncate)?.isBlocked == false) }
        #expect(disk.size(of: "a.sqlite-wal") == 0)
        try replica.close()
        #expect(disk.checkpoints.idleStarts == 0)
    }

    @Test("while another process holds the lock, nobody checkpoints, and commits continue")
    func lockIsTaken() throws {
        let replica = try makeReplica()
        try fill(replica, transactions: 4)
        let before = disk.checkpoints
        try disk.files.withFile(disk.path("a.sqlite-checkpoint"), .exclusiveOrNothing) { _ in
            #expect(try replica.checkpoint(.truncate) == nil)
            try fill(replica, transactions: 150)
            #expect(disk.checkpoints.writes == before.writes)
            #expect(disk.checkpoints.restarts == before.restarts)
        }
        #expect(try replica.checkpoint(.truncate)?.isBlocked == false)
        #expect(disk.checkpoints.writes > before.writes)
        try replica.close()
    }

    @Test("a checkpoint of a program without Tandem is counted as outside of the lock")
    func witness() throws {
        let replica = try makeReplica()
        try fill(replica, transactions: 2)
        let program = try RawConnection(path: disk.path("a.sqlite"))
        try program.run("PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(PASSIVE)")
        #expect(disk.checkpoints.outsideLock > 0)
        #expect(disk.checkpoints.idleStarts == 1)
        try replica.close()
    }
}
