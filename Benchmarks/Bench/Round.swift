import BenchSupport
import CCompression
import Foundation
import GRDB
import Journal
import Sync

/// One repetition for one kind of key: each step on plain SQLite and then on a replica.
struct Round {
    let work: Workload
    let directory: String
    let synchronous: String

    /// The cost or size of each step.
    private(set) var costs: [String: (plain: Cost, ours: Cost)] = [:]
    private(set) var sizes: [String: (plain: Double, ours: Double)] = [:]

    init(work: Workload, directory: String, synchronous: String) {
        self.work = work
        self.directory = directory
        self.synchronous = synchronous
    }

    /// - Parameter parts: `local` and `exchange`, or one of them.
    mutating func run(_ parts: Set<String>) throws {
        try? FileManager.default.removeItem(atPath: directory)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if parts.contains("local") { try localSteps() }
        if parts.contains("exchange") { try exchangeSteps() }
        try FileManager.default.removeItem(atPath: directory)
    }

    // MARK: - Local writes

    private mutating func localSteps() throws {
        let plain = LocalSteps(work: work, database: try plainDatabase("plain"))
        let replica = try makeReplica("captured")
        let captured = LocalSteps(
            work: work, database: try PlainDatabase(path: replica.path, synchronous: synchronous))
        try compare("bulk insert", plain.bulkInsert, captured.bulkInsert)
        try compare("autocommit insert", plain.singleInserts, captured.singleInserts)
        try compare("bulk update", plain.bulkUpdate, captured.bulkUpdate)
        try compare("autocommit update", plain.singleUpdates, captured.singleUpdates)
        try compare("bulk delete", plain.bulkDelete, captured.bulkDelete)
        try plain.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try captured.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes["file size"] = (try fileSize("plain"), try fileSize("captured"))
        try replica.close()
    }

    // MARK: - Exchange

    private mutating func exchangeSteps() throws {
        let source = try makeReplica("source")
        let target = try makeReplica("target")
        let writer = LocalSteps(work: work, database: try PlainDatabase(path: source.path, synchronous: synchronous))
        try writer.bulkInsert()

        let plain = LocalSteps(work: work, database: try plainDatabase("rows"))
        try plain.bulkInsert()
        var packed: [UInt8] = []
        var frames: [Frame] = []
        let select = try plain.database.prepare("SELECT * FROM person")
        try compare(
            "export", { select.pack(into: &packed) }, { frames = try Round.export(source, after: VersionVector()) })
        sizes["wire bytes"] = (
            Double(Round.zlibSize(packed)), Double(try frames.reduce(0) { $0 + (try $1.encoded().count) })
        )

        let inbox = try Inbox(replica: target, wallClock: Round.now)
        let copy = LocalSteps(work: work, database: try plainDatabase("copy"))
        try compare("apply", copy.bulkInsert) { try Round.receive(frames, inbox) }
        let insertCost = costs["apply"]?.plain ?? Cost(cpu: 1, wall: 1)
        let again = try measure { try Round.receive(frames, inbox) }
        costs["apply again"] = (insertCost, again)

        let before = try target.read { try JournalReader($0).vector() }
        let rows = work.rows
        try writer.keyedUpdates("score", count: rows, offset: 0.5)
        let updates = try Round.export(source, after: before)
        try compare(
            "apply updates", { try copy.keyedUpdates("score", count: rows, offset: 0.5) },
            { try Round.receive(updates, inbox) })
        try mergeStep(source: source, target: target, inbox: inbox, writer: writer, plain: copy)
        try inbox.close()
        try source.close()
        try target.close()
    }

    /// Edits half of the rows on both sides in different columns, and measures both exports and both merges.
    /// As between two machines, each side gets what it lacks.
    private mutating func mergeStep(
        source: Replica, target: Replica, inbox: Inbox, writer: LocalSteps, plain: LocalSteps
    ) throws {
        let targetKnows = try target.read { try JournalReader($0).vector() }
        let other = LocalSteps(work: work, database: try PlainDatabase(path: target.path, synchronous: synchronous))
        try writer.keyedUpdates("age", count: work.rows / 2, offset: 1)
        try other.keyedUpdates("created", count: work.rows / 2, offset: 2)
        let back = try Inbox(replica: source, wallClock: Round.now)
        let sourceKnows = try back.have()
        let rows = work.rows / 2
        try compare(
            "merge",
            {
                try plain.keyedUpdates("age", count: rows, offset: 1)
                try plain.keyedUpdates("created", count: rows, offset: 2)
            },
            {
                try Round.receive(try Round.export(source, after: targetKnows), inbox)
                try Round.receive(try Round.export(target, after: sourceKnows), back)
            })
        try back.close()
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

    private static func receive(_ frames: [Frame], _ inbox: Inbox) throws {
        for frame in frames where !frame.isKnown(to: try inbox.have()) {
            _ = try inbox.receive(frame.batch(limits: .standard))
        }
    }

    private static func now() -> Stamp { Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    private static func zlibSize(_ bytes: [UInt8]) -> Int {
        var size = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        _ = compress2(&output, &size, bytes, UInt(bytes.count), 6)
        return Int(size)
    }

    // MARK: - Pieces

    private mutating func compare(_ step: String, _ plain: () throws -> Void, _ ours: () throws -> Void) throws {
        let plainCost = try measure(plain)
        costs[step] = (plainCost, try measure(ours))
    }

    private func plainDatabase(_ name: String) throws -> PlainDatabase {
        let database = try PlainDatabase(path: "\(directory)/\(name).sqlite", synchronous: synchronous)
        try database.execute(work.schema)
        return database
    }

    private func makeReplica(_ name: String) throws -> Replica {
        _ = try plainDatabase(name)
        var options = Replica.Options()
        options.durability = synchronous == "FULL" ? .full : .normal
        return try Replica.create(
            at: "\(directory)/\(name).sqlite", InitializeRequest(origin: .random()), options: options
        ).replica
    }

    private func fileSize(_ name: String) throws -> Double {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name).sqlite")
        return (attributes[.size] as? NSNumber)?.doubleValue ?? 0
    }
}
