import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// Where files live only as long as memory: no test of histories is about the disk.
package final class MemoryDirectory: Sendable {
    package let path: String

    /// - Parameter kind: The beginning of its name.
    package init(_ kind: String = "tandem") {
        let memory = "/dev/shm"
        let base = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        path = base + "/\(kind)-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// One machine of a history: its file, the program that writes it, and its inbox.
package final class HistoryReplica {
    let name: Int
    let origin: OriginID
    private(set) var schema: ReferenceSchema
    private var additions: Set<Int> = []
    let replica: Replica
    private(set) var inbox: Inbox
    private let limits: Limits
    private let clock: TestClock
    private let writer: RawConnection
    private let recursiveTriggers: Bool
    private var time: Int64

    /// What has been read of the journal, in its order.
    private(set) var writes: [ReferenceWrite] = []
    private(set) var read = VersionVector()
    /// What was known of others from a version of this replica on, as the history itself saw it.
    private(set) var knowledge: [(fromVersion: Int64, merged: VersionVector)] = []

    /// Later than any real clock, so that nothing depends on when a history runs.
    package static let start: Int64 = 3_900_000_000_000
    static let now = Stamp(milliseconds: 4_000_000_000_000)

    init(
        _ name: Int, origin: OriginID, schema: HistorySchema, file: String, clock: TestClock, offset: Int64,
        recursiveTriggers: Bool, limits: Limits
    ) throws {
        self.name = name
        self.origin = origin
        self.schema = schema.reference
        self.clock = clock
        self.limits = limits
        self.recursiveTriggers = recursiveTriggers
        time = HistoryReplica.start + offset
        clock.set(milliseconds: time)
        writer = try RawConnection(
            path: file, vfs: clock.vfs, recursiveTriggers: recursiveTriggers, foreignKeys: true)
        try writer.run(schema.statements.joined(separator: ";"))
        var options = Replica.Options()
        options.durability = .normal
        options.maximumReaders = 1
        options.prepare = { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        replica = try Replica.create(at: file, InitializeRequest(origin: origin), options: options).replica
        inbox = try Inbox(replica: replica, limits: limits, wallClock: { HistoryReplica.now })
    }

    /// One transaction of some program.
    ///
    /// - Parameters:
    ///   - tick: Milliseconds by which the clock moves before it, forwards or backwards.
    ///   - isMarked: True to mark the transaction's end, as writers that know of the journal do.
    func write(_ statements: [String], tick: Int64, isMarked: Bool) throws {
        time += tick
        clock.set(milliseconds: time)
        try noteKnowledge()
        if try !commit(statements, isMarked: isMarked), statements.count > 1 {
            // One orphan is no reason to write nothing.
            for statement in statements { _ = try commit([statement], isMarked: isMarked) }
        }
    }

    /// - Returns: False when nothing was written, because a deferred foreign key was broken in the end or a statement rolled back.
    private func commit(_ statements: [String], isMarked: Bool) throws -> Bool {
        try writer.run("BEGIN IMMEDIATE")
        for statement in statements {
            // A statement that a constraint refuses is a part of the history like any other.
            _ = writer.execute(statement)
            if !writer.isInTransaction { return false }
        }
        if isMarked {
            try writer.run(
                "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
        }
        // Deferred foreign keys are looked at now.
        if writer.execute("COMMIT") != 0, writer.isInTransaction {
            try writer.run("ROLLBACK")
            return false
        }
        return true
    }

    private func noteKnowledge() throws {
        let vector = try plainVector()
        let others = vector.entries.filter { $0.origin != origin }
        knowledge.append((vector[origin] + 1, VersionVector(others)))
    }

    /// What is known here, read as anybody can read it: the engine's own reader is what is checked.
    private func plainVector() throws -> VersionVector {
        let own = try writer.rows("SELECT count(*) FROM _journal WHERE origin IS NULL")
        var entries = try writer.rows("SELECT origin, version FROM _journal_origins WHERE id <> 0").compactMap {
            row -> VersionVector.Entry? in
            guard case .blob(let bytes) = row[0], case .integer(let version) = row[1] else { return nil }
            return OriginID(bytes: bytes).map { .init(origin: $0, version: version) }
        }
        if case .integer(let versions) = own[0][0] { entries.append(.init(origin: origin, version: versions)) }
        return VersionVector(entries)
    }

    func hasWrittenNothing() throws -> Bool { try plainVector()[origin] == 0 }

    /// True when `target` certainly knows all that is known here; spares most exchanges of a history.
    func hasNothing(for target: HistoryReplica) throws -> Bool {
        try recursiveTriggers && target.plainVector().covers(plainVector())
    }

    func add(_ index: Int, _ addition: HistorySchema.Addition) throws {
        guard additions.insert(index).inserted else { return }
        for statement in HistorySchema.sql(of: addition) { try writer.run(statement) }
        schema.add(addition)
        try contact()
    }

    var schemaName: String { additions.sorted().map(String.init).joined(separator: ",") }

    func batches(for target: HistoryReplica, size: Int) throws -> [ChangeBatch] {
        try replica.refreshDerivedState()
        let have = try target.inbox.have()
        var limits = limits
        limits.changesPerBatch = size
        var batches: [ChangeBatch] = []
        try replica.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                batches.append(batch)
                return true
            }
        }
        return batches
    }

    /// Makes the file what it was when `fresh` was taken from it.
    func reset(to fresh: DatabaseQueue) throws {
        try inbox.close()
        try fresh.backup(to: replica.connections)
        inbox = try Inbox(replica: replica, limits: limits, wallClock: { HistoryReplica.now })
        writes = []
        read = VersionVector()
        knowledge = []
    }

    func restart() throws {
        try inbox.close()
        inbox = try Inbox(replica: replica, limits: limits, wallClock: { HistoryReplica.now })
    }

    /// What a daemon does at each contact with the file.
    func contact() throws {
        try noteKnowledge()
        try replica.refreshDerivedState()
        try inbox.bringBackHeldRows()
    }

    func close() throws {
        try inbox.close()
        try replica.close()
    }

    func rows(_ sql: String) throws -> [[Value]] { try writer.rows(sql) }

    /// All that the file holds of what was delivered, without the positions and numbers that only this file uses: tables, held rows,
    /// ledger, lives, ends of transactions, what is known, and the journal with what each writer had seen.
    func plainState() throws -> [String] {
        try readJournal()
        return try plainRows() + ["knows \(read)"] + writes.map { "\($0)" }.sorted()
    }

    private func plainRows() throws -> [String] {
        let queries =
            schema.tables.map { "SELECT '\($0.name)', * FROM \($0.name)" } + [
                "SELECT 'held', tbl, key, shown, reason, detail, image FROM _journal_held",
                """
                SELECT 'lost', c.tbl, key, kind, columns, o.origin, lost_version, kept_life, kept_stamp, kept_origin
                FROM _journal_conflicts AS c JOIN _journal_origins AS o ON o.id = lost_origin
                """,
                "SELECT 'life', tbl, key, life FROM _journal_lives",
                """
                SELECT 'end', o.origin, j.version FROM _journal AS j JOIN _journal_origins AS o ON o.id = j.origin
                WHERE tx = 1
                """,
            ]
        return try queries.flatMap { query in
            try rows(query).map { $0.map(\.plain).joined(separator: " ") }.sorted()
        }
    }

    // MARK: - The journal

    /// Reads what is new in the journal.
    func readJournal() throws {
        try replica.read { db in
            let reader = try JournalReader(db)
            try reader.forEachBatch(after: read, changes: 8_192, bytes: 1 << 24) { batch in
                writes += ReferenceWrite.all(in: batch, registry: reader.registry)
                return true
            }
            read = reader.vector()
        }
    }
}

extension ReferenceWrite {
    package static func all(in batch: ChangeBatch, registry: ShapeRegistry) -> [ReferenceWrite] {
        batch.runs.flatMap { run in
            run.changes.map { index in
                let change = batch.changes[index]
                let shape = batch.shapes[change.shape]
                let collations = registry.collations(of: shape.table)
                var columns: [String: Value] = [:]
                var values = batch.values[change.values.dropFirst(shape.keyCount)].makeIterator()
                change.mask.forEach { column in
                    guard column >= shape.keyCount, let value = values.next() else { return }
                    columns[shape.columns[column]] = value
                }
                if change.operation == .insert {
                    for (name, value) in zip(shape.keyColumns, batch.key(of: change)) { columns[name] = value }
                }
                return ReferenceWrite(
                    origin: run.origin, version: run.firstVersion + Int64(index - run.changes.lowerBound),
                    stamp: change.stamp, life: change.life, operation: change.operation,
                    isKeyChange: change.isKeyChange,
                    row: ReferenceRowID(
                        table: shape.table, key: Key(batch.key(of: change), collations: collations).bytes),
                    columns: columns, keyColumns: Set(shape.keyColumns), known: run.known)
            }
        }
    }
}

extension ShapeRegistry {
    fileprivate func collations(of table: String) -> [KeyCollation] {
        entries.values.filter { $0.shape.table == table }.max { $0.id < $1.id }?.collations ?? []
    }
}
