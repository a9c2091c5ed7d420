import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Compaction changes what a journal holds, not what it says")
struct CompactionTests {
    static let schema = """
        CREATE TABLE person(id TEXT PRIMARY KEY, name TEXT, age INTEGER, mail TEXT UNIQUE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, person TEXT REFERENCES person(id) ON DELETE SET NULL, text TEXT);
        """

    private func entries(_ replica: Replica) throws -> Int {
        try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal") ?? 0 }
    }

    /// Two replicas that know the same: 3 rows, one of which was updated ten times and one deleted.
    private func pair() throws -> Cluster {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0, "INSERT INTO person VALUES ('a', 'A', 1, 'a@x'), ('b', 'B', 2, 'b@x'), ('c', 'C', 3, NULL)")
        try cluster.converge()
        for age in 10..<20 {
            try cluster.execute(age % 2, "UPDATE person SET age = \(age) WHERE id = 'a'"); try cluster.converge()
        }
        try cluster.execute(1, "DELETE FROM person WHERE id = 'b'")
        try cluster.converge()
        return cluster
    }

    @Test("superseded entries and deleted rows go, the rows stay, and later changes merge as before")
    func removes() throws {
        let cluster = try pair()
        let content = try cluster.content(0)
        #expect(try entries(cluster[0]) == 14)
        #expect(try cluster.members[0].compact() > 0)
        // What stays: the inserts of a and c, the last age of a, the newest stable entry of each origin, and the
        // newest entry of all.
        #expect(try entries(cluster[0]) <= 6)
        #expect(try cluster.content(0) == content)
        try cluster.execute(
            1, "UPDATE person SET name = 'AA' WHERE id = 'a'; INSERT INTO person VALUES ('b', 'again', 9, 'b@x')")
        try cluster.execute(0, "UPDATE person SET age = 50 WHERE id = 'a'; DELETE FROM person WHERE id = 'c'")
        try cluster.converge()
        try cluster.expectEqual()
        #expect(try cluster.text(0, "SELECT name || age FROM person ORDER BY id") == ["AA50", "again9"])
        #expect(try cluster.ledger(0).isEmpty)
    }

    @Test(
        "stamps and versions of local entries stay as they were, however many entries before them went",
        arguments: [1, 4, 6, 8, 10, 11, 12, nil])
    func stamps(steps: Int?) throws {
        let cluster = try Cluster(2, schema: Self.schema)
        // One transaction: all entries have one time, and their stamps count on from one another.
        try cluster.execute(
            0,
            (0..<40).map {
                "INSERT INTO person VALUES ('p\($0)', 'x', 0, NULL); UPDATE person SET age = \($0) WHERE id = 'p\($0)';"
            }
            .joined() + (0..<20).map { "DELETE FROM person WHERE id = 'p\($0 * 2)';" }.joined())
        try cluster.converge()
        let before = try cluster[0].read { try JournalReader($0).entries(after: 0, limit: 1_000) }
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.seq, $0) })
        // Killed after some transactions, and done again.
        for steps in [steps, nil] {
            try cluster.members[0].compact(rowsPerStep: 7, steps: steps)
            let after = try cluster[0].read { try JournalReader($0).entries(after: 0, limit: 1_000) }
            for entry in after {
                #expect(entry.stamp == known[entry.seq]?.stamp && entry.version == known[entry.seq]?.version)
            }
            if steps == nil { #expect(after.count < before.count && after.count >= 40) }
        }
        try cluster.execute(0, "UPDATE person SET name = 'y'")
        try cluster.converge()
        try cluster.expectEqual()
    }

    @Test("a new identity keeps the names of compacted changes, also when the mark of their transaction is gone")
    func newIdentity() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        for sql in ["INSERT INTO person VALUES ('p', 'x', 0, NULL)"] + (1...4).map({ "UPDATE person SET age = \($0)" })
        {
            try cluster.execute(0, sql)
            try cluster.converge()
        }
        #expect(try cluster.members[0].compact() > 0)
        try cluster.execute(0, "UPDATE person SET age = 5")
        let old = try cluster.members[0].origin
        let horizon = try cluster[0].read { try Horizon($0).vector[old] }
        #expect(horizon > 0)
        let outcome = try cluster[0].write { try NewIdentity(.manual, of: old, time: 1).run($0, fingerprint: nil) }
        #expect(try #require(outcome).kept >= horizon)
    }

    @Test(
        "a transaction is compacted as a whole or not at all, whether its end is marked, seen, or neither",
        arguments: ["marked", "seen", "neither"])
    func wholeTransactions(end: String) throws {
        let cluster = try Cluster(1, schema: Self.schema)
        let member = cluster.members[0]
        func write(_ statements: [String]) throws {
            try member.executeForeign("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
            switch end {
            case "marked":
                try member.execute("UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal)")
            case "seen":
                try member.replica.read { try member.inbox.ends.note(FrameSource.Position($0), $0) }
            default: break
            }
        }
        try write(["INSERT INTO person VALUES ('a', 'x', 0, NULL)"] + (1...2).map { "UPDATE person SET age = \($0)" })
        try write((1...4).map { "UPDATE person SET age = \($0)" })
        try write(["UPDATE person SET age = 9"])
        let origin = try member.origin
        let whole: [Int64] = end == "neither" ? [0, 8] : [0, 3, 7, 8]
        let entries = try member.replica.read { try JournalReader($0).entries(after: 0, limit: 100) }
        for entry in entries {
            try member.compact(until: entry.stamp)
            let horizon = try member.replica.read { try Horizon($0).vector[origin] }
            #expect(horizon == whole.last { $0 <= entry.version })
        }
    }

    @Test("work that ends after any number of transactions leaves a journal that says the same")
    func interrupted() throws {
        for steps in 0..<8 {
            let cluster = try pair()
            let content = try cluster.content(0)
            try cluster.members[0].compact(rowsPerStep: 2, steps: steps)
            try cluster.members[0].restartInbox()
            #expect(try cluster.content(0) == content)
            try cluster.execute(1, "UPDATE person SET age = age + 1, name = 'z'")
            try cluster.execute(0, "INSERT INTO person VALUES ('d', 'D', 4, 'b@x')")
            try cluster.converge()
            try cluster.expectEqual()
            try cluster.members[0].compact()
            #expect(try entries(cluster[0]) < 12, "after \(steps) transactions")
        }
    }

    @Test("a change whose writer had not seen what is compacted is held, and named; what follows of others is taken")
    func behind() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES ('a', 'A', 1, NULL)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM person WHERE id = 'a'")
        // The newest entry never counts as stable.
        try cluster.execute(0, "INSERT INTO person VALUES ('m', 'M', 1, NULL)")
        try cluster.pull(1, from: 0)
        // Replica 2 has not heard of the deletion, and would bring the row back.
        try cluster.execute(2, "UPDATE person SET name = 'late' WHERE id = 'a'")
        try cluster.members[1].compact()
        let report = try cluster.pull(1, from: 2)
        #expect(report.isDeferred && report.applied == 0)
        let origin = try cluster.members[2].origin
        let clock = try cluster[1].read { try ClockReport($0, now: ReplicaFixture.now) }
        #expect(clock.origins.map(\.origin) == [origin] && clock.origins[0].isBehindHorizon)
        #expect(throws: JournalError.self) {
            try cluster[1].write { try ClockDecision.accept([origin], now: ReplicaFixture.now, $0) }
        }
        #expect(try cluster.text(1, "SELECT name FROM person") == ["M"])
        try cluster.execute(0, "INSERT INTO person VALUES ('n', 'N', 1, NULL)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.text(1, "SELECT name FROM person ORDER BY id") == ["M", "N"])
        // Through a relay that has not compacted anything, the change is held as well.
        try cluster.pull(0, from: 2)
        try cluster.pull(1, from: 0)
        #expect(try cluster.text(1, "SELECT name FROM person ORDER BY id") == ["M", "N"])
    }

    @Test("rows in the conflict ledger keep their whole history, and a lost value can be restored")
    func ledger() throws {
        let cluster = try pair()
        try cluster.execute(0, "UPDATE person SET name = 'first' WHERE id = 'c'")
        try cluster.executeLater(1, "UPDATE person SET name = 'second' WHERE id = 'c'")
        try cluster.converge()
        let ledger = try cluster.ledger(0)
        #expect(ledger.count == 1)
        try cluster.members[0].compact()
        #expect(try cluster.ledger(0) == ledger)
        try cluster[0].write { db in
            let id = try #require(try ConflictEntry.all(db).first?.id)
            try ConflictLedger(db).restore([id], time: 1)
        }
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT name FROM person WHERE id = 'c'") == ["first"])
        try cluster.expectEqual()
    }

    @Test("columns and tables that this file lacks keep the entries that have their values")
    func unknownColumns() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)",
        ])
        try cluster.execute(1, "INSERT INTO t VALUES (1, 'x', 'y'); UPDATE t SET b = 'z'; UPDATE t SET a = 'w'")
        try cluster.converge()
        let shown = try cluster[0].read { db in
            var knowledge = ShownKnowledge()
            return try knowledge.read(db)
        }
        // What it tells others that it has seen ends before the first change that it cannot show.
        #expect(shown[try cluster.members[1].origin] == 0)
        try cluster.members[0].compact()
        try cluster.execute(0, "ALTER TABLE t ADD COLUMN b")
        try cluster.members[0].inbox.bringBackHeldRows()
        #expect(try cluster.text(0, "SELECT a || b FROM t") == ["wz"])
    }

    @Test("runs without entries become one, whatever the number of exchanges")
    func runs() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES ('a', 'A', 0, NULL)")
        for age in 1...60 {
            try cluster.execute(age % 2, "UPDATE person SET age = \(age)")
            try cluster.converge()
        }
        func runs() throws -> Int {
            try cluster[0].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_runs") ?? 0 }
        }
        #expect(try runs() > 50)
        try cluster.members[0].compact()
        #expect(try runs() < 10)
        try cluster.execute(1, "UPDATE person SET age = 100")
        try cluster.converge()
        try cluster.expectEqual()
    }

    @Test("history that is kept stays whole, and a time before the horizon is refused")
    func history() throws {
        let cluster = try pair()
        let all = try cluster[0].read { try JournalReader($0).entries(after: 0, limit: 100) }
        let middle = all[7]
        try cluster.members[0].compact(until: middle.stamp)
        let after = try cluster[0].read { try JournalReader($0).entries(after: 0, limit: 100) }
        #expect(
            after.filter { $0.stamp > middle.stamp }.map(\.seq) == all.filter { $0.stamp > middle.stamp }.map(\.seq))
        try cluster[0].read { db in
            let reader = try JournalReader(db)
            let row = try reader.row(of: "person", until: middle.stamp) { $0 == [.text("a")] }
            #expect(row?.columns.first { $0.name == "age" }?.value == middle.columns.first { $0.name == "age" }?.value)
            #expect(throws: JournalError.self) {
                try reader.row(of: "person", until: Stamp(rawValue: middle.stamp.rawValue - 1)) { _ in true }
            }
        }
    }

    @Test("a column that was dropped holds nothing back, and its rows are compacted")
    func droppedColumn() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
        for value in 0..<20 {
            try cluster.execute(1, "INSERT INTO t VALUES (1, \(value), 0) ON CONFLICT DO UPDATE SET a = \(value)")
            try cluster.converge()
        }
        for index in 0..<2 {
            try cluster.execute(index, "ALTER TABLE t DROP COLUMN b")
            try cluster.members[index].inbox.bringBackHeldRows()
        }
        try cluster.execute(1, "UPDATE t SET a = 'last'; INSERT INTO t VALUES (2, 'x')")
        try cluster.converge()
        let shown = try cluster[0].read { db in
            var knowledge = ShownKnowledge()
            return try knowledge.read(db)
        }
        #expect(try shown == cluster.members[0].vector)
        #expect(try cluster.members[0].compact() >= 15)
        try cluster.expectEqual()
    }

    @Test("a repair removes a deleted row again whose entries are gone, also when only the peer shows it")
    func repair() async throws {
        let pair = try ReplicaPair(.local)
        try pair.a.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'x', 5, NULL)") }
        try pair.a.write { try $0.execute(sql: "DELETE FROM person") }
        try pair.a.write { try $0.execute(sql: "INSERT INTO person VALUES (2, 'y', 5, NULL), (3, 'z', 6, NULL)") }
        try await pair.sync()
        #expect(try await pair.replicatorA.compact(keep: 0).removed == 2)
        for replica in [pair.a, pair.b] {
            // The merging connection writes past the journal, as damage would.
            let merge = try replica.openMergeConnection()
            try merge.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'back', 5, NULL)") }
            try merge.close()
            #expect(try await pair.replicatorA.repair(pair.peerB, .fromJournal).after.isEqual)
            for replica in [pair.a, pair.b] {
                #expect(try replica.read { try Int.fetchAll($0, sql: "SELECT id FROM person") } == [2, 3])
            }
        }
    }
}
