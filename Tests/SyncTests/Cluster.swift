import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Replicas in temporary files that exchange batches by hand.
final class Cluster {
    let directory = TemporaryDirectory()
    let members: [ReplicaFixture]
    let limits: Limits
    /// The time for all inboxes.
    static let now = ReplicaFixture.now

    var replicas: [Replica] { members.map(\.replica) }
    var inboxes: [Inbox] { members.map(\.inbox) }

    convenience init(
        _ count: Int, schema: String, limits: Limits = .standard, functions: [ConflictFunctions] = []
    ) throws {
        try self.init(schemas: Array(repeating: schema, count: count), limits: limits, functions: functions)
    }

    /// Makes one replica for each schema.
    ///
    /// - Parameter functions: The functions for conflicts of each replica; replicas beyond its end have none.
    init(schemas: [String], limits: Limits = .standard, functions: [ConflictFunctions] = []) throws {
        self.limits = limits
        members = try schemas.enumerated().map { [directory] index, schema in
            var settings = ReplicaFixture.Settings(limits: limits)
            if index < functions.count { settings.functions = functions[index] }
            return try ReplicaFixture(
                directory.file("\(index).sqlite"), schema: schema,
                origin: OriginID(high: UInt64(index + 1), low: 1), settings)
        }
    }

    subscript(index: Int) -> Replica { members[index].replica }

    func execute(_ index: Int, _ sql: String) throws { try members[index].execute(sql) }

    /// Runs SQL with a stamp later than all other writes, also within one tick of the clock.
    func executeLater(_ index: Int, _ sql: String) throws {
        try RawConnection.writeLater(sql, at: members[index].path)
    }

    /// Everything that `source` knows and `target` lacks.
    func batches(from source: Int, to target: Int) throws -> [ChangeBatch] {
        try batches(from: source, after: inboxes[target].have())
    }

    func batches(from source: Int, after have: VersionVector) throws -> [ChangeBatch] {
        try members[source].batches(after: have)
    }

    @discardableResult
    func pull(_ target: Int, from source: Int) throws -> ReceiveReport {
        let batches = try batches(from: source, to: target)
        for batch in batches { #expect(batch.checkInvariants() == nil) }
        return try members[target].receive(batches)
    }

    /// Exchanges until all know the same.
    func converge() throws {
        let isDone = try members.converge { target, source in try pull(target, from: source) }
        if !isDone { Issue.record("the replicas do not converge") }
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

    /// The ledger without the numbers that are local to a file.
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

    func text(_ index: Int, _ sql: String) throws -> [String] { try members[index].text(sql) }

    /// The reasons of held rows that are not shown, sorted; with those of unknown tables and columns.
    func heldReasons(_ index: Int) throws -> [String] {
        try replicas[index].read { db in
            try HeldEntries(db).all().filter { $0.row?.isShown != true }.map(\.reason).sorted()
        }
    }

    /// Checks that all replicas show and hold the same, to the bytes of held rows, and that no constraint is
    /// broken.
    func expectEqual(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for index in replicas.indices {
            let (mine, first, problems) = (try content(index), try content(0), try integrity(index))
            #expect(mine == first, "replica \(index)", sourceLocation: sourceLocation)
            #expect(problems.isEmpty, "replica \(index)", sourceLocation: sourceLocation)
        }
    }
}
