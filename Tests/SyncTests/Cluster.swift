import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Replicas of one schema in temporary files, exchanging by hand: what a network would do, one batch at a time.
final class Cluster {
    let directory = TemporaryDirectory()
    let replicas: [Replica]
    let inboxes: [Inbox]
    var limits = Limits.standard
    /// Milliseconds since 1970, for all inboxes.
    static let now = Stamp(milliseconds: 4_000_000_000_000)

    convenience init(
        _ count: Int, schema: String, limits: Limits = .standard, functions: [ConflictFunctions] = []
    ) throws {
        try self.init(schemas: Array(repeating: schema, count: count), limits: limits, functions: functions)
    }

    /// One replica for each schema.
    ///
    /// - Parameter functions: For the conflicts of each replica; none when empty.
    init(schemas: [String], limits: Limits = .standard, functions: [ConflictFunctions] = []) throws {
        self.limits = limits
        var replicas: [Replica] = []
        for (index, schema) in schemas.enumerated() {
            let path = directory.file("\(index).sqlite")
            let queue = try DatabaseQueue(path: path)
            try queue.write { try $0.execute(sql: schema) }
            try queue.close()
            var options = Replica.Options()
            options.durability = .normal
            replicas.append(
                try Replica.create(
                    at: path, InitializeRequest(origin: OriginID(high: UInt64(index + 1), low: 1)), options: options
                ).replica)
        }
        self.replicas = replicas
        inboxes = try replicas.enumerated().map { index, replica in
            try Inbox(
                replica: replica, limits: limits,
                functions: index < functions.count ? functions[index] : ConflictFunctions(),
                wallClock: { Cluster.now })
        }
    }

    subscript(index: Int) -> Replica { replicas[index] }

    func execute(_ index: Int, _ sql: String) throws {
        try replicas[index].write { try $0.execute(sql: sql) }
    }

    /// Writes later than all others did, also within one tick of the clock.
    func executeLater(_ index: Int, _ sql: String) throws {
        try RawConnection.writeLater(sql, at: directory.file("\(index).sqlite"))
    }

    /// Everything that `target` lacks of what `source` knows.
    func batches(from source: Int, to target: Int) throws -> [ChangeBatch] {
        try batches(from: source, after: inboxes[target].have())
    }

    func batches(from source: Int, after have: VersionVector) throws -> [ChangeBatch] {
        try replicas[source].refreshDerivedState()
        var batches: [ChangeBatch] = []
        try replicas[source].read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                batches.append(batch)
                return true
            }
        }
        return batches
    }

    @discardableResult
    func pull(_ target: Int, from source: Int) throws -> ReceiveReport {
        var report = ReceiveReport()
        for batch in try batches(from: source, to: target) {
            #expect(batch.checkInvariants() == nil)
            // Through the codec, as over a wire.
            let bytes = try BatchCodec.encode(batch)
            report = report + (try inboxes[target].receive(BatchCodec.decode(bytes, limits: limits)))
        }
        return report
    }

    /// Exchanges until everybody knows everything.
    func converge() throws {
        for _ in 0..<(replicas.count * 2) {
            for target in replicas.indices {
                for source in replicas.indices where source != target { try pull(target, from: source) }
            }
            for inbox in inboxes { try inbox.bringBackHeldRows() }
            let vectors = try inboxes.map { try $0.vector() }
            if vectors.allSatisfy({ $0 == vectors[0] }) { return }
        }
        Issue.record("the replicas do not come to know the same")
    }

    /// All rows of all tables, and of the held table, as text with storage classes.
    func content(_ index: Int) throws -> [String] {
        try replicas[index].read { db in
            var lines: [String] = []
            for table in try TableInspection.all(db) {
                let columns = table.stored.map {
                    "typeof(\(SQLText.quote(identifier: $0.name))) || ':' || quote(\(SQLText.quote(identifier: $0.name)))"
                }
                for row in try String.fetchAll(
                    db,
                    sql:
                        "SELECT \(columns.joined(separator: " || ' | ' || ")) FROM \(SQLText.quote(identifier: table.name))"
                ).sorted() { lines.append("\(table.name): \(row)") }
            }
            for row in try String.fetchAll(
                db, sql: "SELECT tbl || ' ' || hex(key) || ' ' || reason || ' ' || hex(image) FROM _journal_held"
            ).sorted() { lines.append("held: \(row)") }
            return lines
        }
    }

    /// The ledger without what is local to a file.
    func ledger(_ index: Int) throws -> [String] {
        try replicas[index].read { db in
            try ConflictEntry.all(db).map {
                "\($0.kind) \($0.table) \($0.key) lost \($0.lostOrigin.short) \($0.lost) kept \($0.keptOrigin.short)"
            }.sorted()
        }
    }

    func integrity(_ index: Int) throws -> [String] {
        try replicas[index].read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
                + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "foreign key: \($0)" }
        }
    }

    /// The first column of each row of a query for text.
    func text(_ index: Int, _ sql: String) throws -> [String] {
        try replicas[index].read { try String.fetchAll($0, sql: sql) }
    }

    /// Why rows are held that are not shown, sorted; unknown tables and columns count too.
    func heldReasons(_ index: Int) throws -> [String] {
        try replicas[index].read { db in
            try HeldEntries(db).all().filter { !$0.isShown }.map(\.reason).sorted()
        }
    }

    /// Checks that all show and hold the same, to the bytes of held rows, and that no constraint is broken.
    func expectEqual(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for index in replicas.indices {
            let (mine, first, problems) = (try content(index), try content(0), try integrity(index))
            #expect(mine == first, "replica \(index)", sourceLocation: sourceLocation)
            #expect(problems.isEmpty, "replica \(index)", sourceLocation: sourceLocation)
        }
    }
}
