import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("The write-ahead log of a file that others write")
struct LogTendingTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.file("a.sqlite") }
    private var logBytes: Int64 { get throws { try SystemFiles().status(of: path + "-wal")?.size ?? 0 } }

    private func replica() throws -> Replica {
        try Replica.make(at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    }

    /// Writes more than ``JournalLimits/walBytesPerRestart`` as a program that does not checkpoint.
    private func fill(_ program: RawConnection) throws {
        try program.run("PRAGMA wal_autocheckpoint = 0")
        for _ in 0..<10 { try program.run("INSERT INTO t (a) VALUES (randomblob(1000000))") }
    }

    @Test("a long log is truncated in a pause, and starts again for a writer without one")
    func tend() throws {
        let replica = try replica()
        let program = try RawConnection(path: path)
        try fill(program)
        let length = try logBytes
        #expect(length >= JournalLimits.walBytesPerRestart)
        // The file keeps its length, but the next writer begins at its start.
        #expect(try !replica.tendLog(isQuiet: false))
        try program.run("INSERT INTO t (a) VALUES (1)")
        let log = try #require(
            try replica.read { db in
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                return LogPosition(db)
            })
        #expect(log.bytes < 1 << 20)
        #expect(try logBytes == length)
        #expect(try replica.tendLog(isQuiet: true))
        #expect(try logBytes == 0)
        #expect(try replica.tendLog(isQuiet: true))
        try replica.close()
    }

    @Test("a reader in the way does not keep writers from writing for long, and is waited for later")
    func reader() throws {
        let replica = try replica()
        let program = try RawConnection(path: path)
        let reader = try RawConnection(path: path)
        try reader.run("BEGIN")
        _ = try reader.rows("SELECT count(*) FROM t")
        try fill(program)
        let began = ContinuousClock.now
        #expect(try !replica.tendLog(isQuiet: true))
        #expect(ContinuousClock.now - began < .seconds(5))
        try program.run("INSERT INTO t (a) VALUES (1)")
        try reader.run("COMMIT")
        #expect(try replica.tendLog(isQuiet: true))
        #expect(try logBytes == 0)
        try replica.close()
    }

    @Test("a short log is left alone")
    func short() throws {
        let replica = try replica()
        try RawConnection(path: path).run("INSERT INTO t (a) VALUES (randomblob(100000))")
        let before = try logBytes
        #expect(try before > 0 && replica.tendLog(isQuiet: true))
        #expect(try logBytes == before)
        try replica.close()
    }

    @Test("sealing a long tail takes the write lock only to write the result, in parts")
    func sealing() throws {
        var options = Replica.Options()
        options.busyTimeout = .zero
        let replica = try Replica.make(
            at: path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", options: options)
        let program = try RawConnection(path: path)
        func insert(_ count: Int64) throws {
            try program.run(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO t (a) SELECT i FROM n; DELETE FROM t WHERE id % 1000 = 0
                """)
        }
        func sealed() throws -> Int64 { try replica.identity().sealedSeq }
        try replica.refreshDerivedState()
        let start = try sealed()
        try insert(JournalLimits.tailPerSeal / 2)
        // Nothing is due, so the lock of another writer is not in the way.
        try program.run("BEGIN IMMEDIATE")
        try replica.refreshDerivedState()
        try program.run("ROLLBACK")
        #expect(try sealed() == start)
        try insert(JournalLimits.tailPerSeal * 2)
        let before = try replica.read { try JournalReader($0).entries(after: 0, limit: 100_000) }
        // Each time a part, with a snapshot of its own.
        #expect(try replica.hasLongTail())
        try replica.refreshDerivedState()
        #expect(try sealed() == start + JournalLimits.changesPerFold)
        while try replica.hasLongTail() { try replica.refreshDerivedState() }
        let last = try replica.read { try JournalReader.lastSeq($0) }
        #expect(try last - sealed() < JournalLimits.tailPerSeal)
        let after = try replica.read { try JournalReader($0).entries(after: 0, limit: 100_000) }
        #expect(after.count == before.count)
        for (old, new) in zip(before, after) where old.stamp != new.stamp || old.life != new.life {
            Issue.record("\(old) became \(new)")
        }
        #expect(after.contains { $0.life == 2 })
        try replica.close()
    }
}
