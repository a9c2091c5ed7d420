import BenchSupport
import Foundation
import GRDB
import Journal
import Sync

/// The growth of costs: merging with the length of the journal, applying with constraints, memory with the
/// size of a transaction.
struct Growth {
    let directory: String
    let isQuick: Bool

    func run() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try mergeByJournalLength()
        try applyWithConstraints()
    }

    /// Must run first: memory that other steps leave in the heap would hide the memory of this one.
    func runMemory() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try largeTransaction()
    }

    // MARK: - The journal's length

    private func mergeByJournalLength() throws {
        print("\nMerging 1 000 rows edited on both sides, by the length of the journal (CPU ms; flat is the goal)")
        for count in isQuick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000] {
            let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)"
            let (source, target) = (try replica("source", schema), try replica("target", schema))
            let inbox = try Inbox(replica: target, wallClock: Growth.now)
            try fill(source, "INSERT INTO t SELECT i, 0, 0 FROM n", count: count)
            try send(source, to: inbox)
            let before = try inbox.vector()
            try source.write { try $0.execute(sql: "UPDATE t SET a = 1 WHERE id <= 1000") }
            try target.write { try $0.execute(sql: "UPDATE t SET b = 1 WHERE id <= 1000") }
            try target.refreshDerivedState()
            let frames = try Growth.export(source, after: before)
            let cost = try measure {
                for frame in frames { _ = try inbox.receive(frame.batch(limits: .standard)) }
            }
            print("  \(String(format: "%9d", count)) entries: \(String(format: "%.1f", cost.cpu * 1_000))")
            try close([source, target], inbox)
        }
    }

    // MARK: - Constraints

    private func applyWithConstraints() throws {
        let count = isQuick ? 20_000 : 100_000
        let bare =
            "CREATE TABLE city(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT, city INTEGER)"
        let bound = """
            CREATE TABLE city(id INTEGER PRIMARY KEY);
            CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT UNIQUE, city INTEGER REFERENCES city(id));
            """
        // SQLite itself pays for the index, so the table without constraints has it, too.
        let indexed = bare + "; CREATE INDEX t_code ON t(code)"
        var ratios: [Double] = []
        for _ in 0..<(isQuick ? 3 : 5) {
            let costs = try [indexed, bound].map { try applyCost($0, count: count) }
            ratios.append(costs[1] / costs[0])
        }
        print(
            "\nApplying \(count) rows to a table with UNIQUE and a foreign key, against the same with a plain index (goal 1.50): "
                + String(format: "%.2f", median(ratios)))
    }

    private func applyCost(_ schema: String, count: Int) throws -> Double {
        let (source, target) = (try replica("source", schema), try replica("target", schema))
        let inbox = try Inbox(replica: target, wallClock: Growth.now)
        try source.write {
            try $0.execute(sql: "INSERT INTO city VALUES(0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
        }
        try fill(source, "INSERT INTO t SELECT i, 'code ' || i, i % 10 FROM n", count: count)
        let frames = try Growth.export(source, after: VersionVector())
        let cost = try measure { for frame in frames { _ = try inbox.receive(frame.batch(limits: .standard)) } }
        try close([source, target], inbox)
        return cost.cpu
    }

    // MARK: - Memory

    private func largeTransaction() throws {
        let count = isQuick ? 200_000 : 1_000_000
        let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c REAL)"
        let (source, target) = (try replica("source", schema), try replica("target", schema))
        let inbox = try Inbox(replica: target, wallClock: Growth.now)
        try fill(source, "INSERT INTO t SELECT i, 'a text of some length ' || i, i, i / 3.0 FROM n", count: count)
        try source.refreshDerivedState()
        let before = Memory.resetPeak()
        let cost = try measure { try send(source, to: inbox) }
        let rows = try target.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") ?? 0 }
        guard rows == count else { throw BenchError("\(rows) of \(count) rows arrived") }
        print(
            "\nOne transaction of \(count) rows, sent and applied at once: peak memory \(Memory.peak() / 1_048_576) MiB "
                + "(\(before / 1_048_576) MiB before; goal 128), \(Int(Double(count) / cost.wall)) rows/s")
        try close([source, target], inbox)
    }

    // MARK: - Pieces

    private func replica(_ name: String, _ schema: String) throws -> Replica {
        let path = "\(directory)/\(name).sqlite"
        try PlainDatabase(path: path).execute(schema)
        var options = Replica.Options()
        options.durability = .normal
        return try Replica.create(at: path, InitializeRequest(origin: .random()), options: options).replica
    }

    private func fill(_ replica: Replica, _ insert: String, count: Int) throws {
        try replica.write { db in
            try db.execute(
                sql: "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) \(insert)")
        }
    }

    /// Sends batch by batch through the codec, as over a wire.
    private func send(_ source: Replica, to inbox: Inbox) throws {
        try source.refreshDerivedState()
        let have = try inbox.vector()
        try source.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: .standard) { batch in
                _ = try inbox.receive(try Frame(batch, encoding: .zstd).batch(limits: .standard))
                return true
            }
        }
    }

    private static func export(_ replica: Replica, after have: VersionVector) throws -> [Frame] {
        try replica.refreshDerivedState()
        var frames: [Frame] = []
        try replica.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: .standard) { batch in
                frames.append(try Frame(batch, encoding: .zstd))
                return true
            }
        }
        return frames
    }

    private func close(_ replicas: [Replica], _ inbox: Inbox) throws {
        try inbox.close()
        for replica in replicas {
            try replica.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: replica.path + suffix) }
        }
    }

    @Sendable private static func now() -> Stamp { Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}

/// The process's resident memory, from `/proc` (proc_pid_status(5), proc_pid_clear_refs(5)).
enum Memory {
    /// Resets the peak to the memory that is resident.
    ///
    /// - Returns: The resident bytes.
    static func resetPeak() -> Int {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return field("VmRSS:")
    }

    /// The peak since the reset, in bytes.
    static func peak() -> Int { field("VmHWM:") }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
        }
        return 0
    }
}
