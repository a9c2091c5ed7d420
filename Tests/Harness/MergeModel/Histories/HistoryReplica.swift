import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// One machine of a history: its file, the program that writes it, and its inbox.
package final class HistoryReplica {
    let name: Int
    let origin: OriginID
    private(set) var schema: ReferenceSchema
    private var additions: Set<Int> = []
    private let fixture: ReplicaFixture
    private let clock: TestClock
    private let writer: RawConnection
    private let recursiveTriggers: Bool
    private var time: Int64

    /// The changes that were read from the journal, in its order.
    private(set) var writes: [ReferenceWrite] = []
    private(set) var read = VersionVector()
    /// What this replica knew of others from a version on, as the history itself saw it.
    private(set) var knowledge: [(fromVersion: Int64, merged: VersionVector)] = []

    /// Later than any real clock, so that nothing depends on when a history runs.
    package static let start: Int64 = 3_900_000_000_000

    var replica: Replica { fixture.replica }
    var inbox: Inbox { fixture.inbox }

    init(
        _ name: Int, origin: OriginID, schema: HistorySchema, file: String, clock: TestClock, offset: Int64,
        recursiveTriggers: Bool, limits: Limits
    ) throws {
        self.name = name
        self.origin = origin
        self.schema = schema.reference
        self.clock = clock
        self.recursiveTriggers = recursiveTriggers
        time = HistoryReplica.start + offset
        clock.set(milliseconds: time)
        writer = try RawConnection(
            path: file, vfs: clock.vfs, recursiveTriggers: recursiveTriggers, foreignKeys: true)
        try writer.run(schema.statements.joined(separator: ";"))
        var options = Replica.Options.unsynced
        options.maximumReaders = 1
        options.prepare = { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        let replica = try Replica.create(at: file, InitializeRequest(origin: origin), options: options).replica
        fixture = try ReplicaFixture(replica, ReplicaFixture.Settings(limits: limits))
    }

    /// Runs one transaction of some program.
    ///
    /// - Parameters:
    ///   - tick: Milliseconds by which the clock moves before it, forwards or backwards.
    ///   - isMarked: True to mark the transaction's end, as writers do that know the journal.
    ///   - isMigration: True when a part of the transaction must not be made without the rest.
    func write(_ statements: [String], tick: Int64, isMarked: Bool, isMigration: Bool = false) throws {
        time += tick
        clock.set(milliseconds: time)
        try noteKnowledge()
        if try !commit(statements, isMarked: isMarked), statements.count > 1, !isMigration {
            // One orphan must not make the whole transaction void.
            for statement in statements { _ = try commit([statement], isMarked: isMarked) }
        }
    }

    /// Runs a migration of some program: one transaction, which says so.
    ///
    /// - Parameter name: The migration's name.
    func migrate(_ name: String, _ statements: [String], tick: Int64) throws {
        let begin = MigrationMarks.begin.replacing("?", with: "'\(name)'")
        try write([begin] + statements + [MigrationMarks.end], tick: tick, isMarked: true, isMigration: true)
    }

    /// - Returns: False when nothing was written, because the end broke a deferred foreign key or a statement
    ///   rolled back.
    private func commit(_ statements: [String], isMarked: Bool) throws -> Bool {
        try writer.run("BEGIN IMMEDIATE")
        for statement in statements {
            // A statement that a constraint refuses is a part of the history, too.
            _ = writer.execute(statement)
            if !writer.isInTransaction { return false }
        }
        if isMarked {
            try writer.run(
                "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
        }
        // SQLite checks deferred foreign keys at COMMIT.
        if writer.execute("COMMIT") != 0, writer.isInTransaction {
            try writer.run("ROLLBACK")
            return false
        }
        return true
    }

    /// Compares the rows with the journal, after statements of a program that fire no trigger.
    ///
    /// - Returns: The number of changes that were found.
    func recapture(after statements: [String]) throws -> Int64 {
        try contact()
        try writer.enableTriggers(false)
        for statement in statements { _ = writer.execute(statement) }
        try writer.enableTriggers(true)
        // A few rows at a time, so that a table of a history has several parts.
        return try replica.recapture(rowsPerPart: 2)
    }

    private func noteKnowledge() throws {
        let vector = try plainVector()
        let others = vector.entries.filter { $0.origin != origin }
        knowledge.append((vector[origin] + 1, VersionVector(others)))
    }

    /// What is known here, by plain SQL: the engine's own reader is under test.
    private func plainVector() throws -> VersionVector {
        // The journal ends with a run of this replica, whose versions follow from the positions.
        let own = try writer.rows(
            """
            SELECT first_version + coalesce((SELECT max(seq) FROM _journal), 0) - first_seq
            FROM _journal_runs ORDER BY first_seq DESC LIMIT 1
            """)
        var entries = try writer.rows("SELECT origin, version FROM _journal_origins WHERE id <> 0").compactMap {
            row -> VersionVector.Entry? in
            guard case .blob(let bytes) = row[0], case .integer(let version) = row[1] else { return nil }
            return OriginID(bytes: bytes).map { .init(origin: $0, version: version) }
        }
        if case .integer(let versions) = own[0][0] { entries.append(.init(origin: origin, version: versions)) }
        return VersionVector(entries)
    }

    func hasWrittenNothing() throws -> Bool { try plainVector()[origin] == 0 }

    /// True when `target` certainly knows everything that is known here. This saves most exchanges of a
    /// history.
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
        try fixture.batches(after: target.inbox.have(), changes: size)
    }

    /// Resets the file to the content of `fresh`.
    func reset(to fresh: DatabaseQueue) throws {
        try inbox.close()
        try fresh.backup(to: replica.connections)
        try fixture.restartInbox()
        writes = []
        read = VersionVector()
        knowledge = []
    }

    func restart() throws { try fixture.restartInbox() }

    /// Hears what `other` has merged, and what that has heard.
    func hear(_ other: HistoryReplica) throws { try fixture.hear(other.fixture) }

    /// Removes from the journal what all replicas are known to have merged.
    ///
    /// - Returns: How many entries went, and the rows that the journal made before and makes now.
    func compact() throws -> (removed: Int, before: [String], after: [String]) {
        try contact()
        try readJournal()
        let before = try journalledRows()
        let removed = try fixture.compactWhatIsStable()
        return (removed, before, try journalledRows())
    }

    /// The living rows that the entries of the journal make.
    private func journalledRows() throws -> [String] {
        try replica.read { db in
            let reader = try JournalReader(db)
            let values = JournalValues(db)
            var spaces: [Int64: ColumnSpace] = [:]
            let tables = Set(reader.registry.entries.values.map(\.table))
            let rows = try reader.mergedRows(of: tables) { change in
                let shape = (reader.registry.tracked(tableID: change.shape.table) ?? change.shape).shape
                var space =
                    spaces[change.shape.table] ?? ColumnSpace(columns: shape.columns, keyCount: shape.keyCount)
                defer { spaces[change.shape.table] = space }
                return try change.rowChange(in: space.translation(of: change.shape)) { try values.value(of: $0) }
            }
            return rows.filter(\.value.isAlive).map { key, row in
                let cells = row.winners.enumerated().compactMap { column, winner in
                    winner.map { "\(column)=\($0.cell.plain) at \($0.order.stamp.plain)" }
                }
                return "\(key.table) \(row.key.map(\.plain)) life \(row.life): \(cells.joined(separator: " "))"
            }.sorted()
        }
    }

    /// Does what a daemon does at each contact with the file.
    func contact() throws {
        try noteKnowledge()
        try replica.refreshDerivedState()
        try inbox.bringBackHeldRows()
    }

    func close() throws { try fixture.close() }

    func rows(_ sql: String) throws -> [[Value]] { try writer.rows(sql) }

    /// Everything in the file that was delivered, without positions and numbers that only this file uses:
    /// tables, held rows, ledger, lives, ends of transactions, the vector, and the journal with what each
    /// writer had seen.
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

    /// Reads the new entries of the journal.
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
                    isKeyChange: change.isKeyChange, isMinted: change.isMinted, isCovering: change.isCovering,
                    migration: change.migration,
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
