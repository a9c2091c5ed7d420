import GRDB
import Journal
import MergeModel
import Sync
import TestSupport
import Testing

/// The tables of docs/CONFLICTS.md, line by line: what A and B do concurrently, and what all machines end
/// with.
@Suite("The rules of conflict")
struct ConflictRulesTests {
    struct Rule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let a: String
        let b: String
        /// The rows of `artist`, then those of `album`.
        let rows: [String]
        var lost: [String] = []
        var held: [String] = []
    }

    private static let schema = """
        CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, born INTEGER, code TEXT UNIQUE);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artist(id));
        """

    /// Every rule begins with the artist `1 a 1900`. B's changes are the later ones.
    static let rules = [
        Rule(
            testDescription: "A changes name, B changes born: both edits", a: "UPDATE artist SET name = 'b'",
            b: "UPDATE artist SET born = 1950", rows: ["1 b 1950"]),
        Rule(
            testDescription: "both change name: B's, and A's is in the ledger", a: "UPDATE artist SET name = 'b'",
            b: "UPDATE artist SET name = 'c'", rows: ["1 c 1900"], lost: ["update/update [name='b']"]),
        Rule(
            testDescription: "both change name to x: no conflict", a: "UPDATE artist SET name = 'x'",
            b: "UPDATE artist SET name = 'x'", rows: ["1 x 1900"]),
        Rule(
            testDescription: "A deletes the row, B changes it: no row", a: "DELETE FROM artist",
            b: "UPDATE artist SET name = 'b'", rows: [], lost: ["update/delete [name='b']"]),
        Rule(
            testDescription: "A gives the row another key, B changes it: the row under the new key",
            a: "UPDATE artist SET id = 2", b: "UPDATE artist SET name = 'b'", rows: ["2 a 1900"],
            lost: ["key change [name='b']"]),
        Rule(
            testDescription: "A deletes the row and inserts it again, B changes the old one: A's new row",
            a: "DELETE FROM artist; INSERT INTO artist VALUES(1, 'new', 1, NULL)", b: "UPDATE artist SET name = 'b'",
            rows: ["1 new 1"], lost: ["update/delete [name='b']"]),
        Rule(
            testDescription: "both insert one key: B's values", a: "INSERT INTO artist VALUES(3, 'x', 1, NULL)",
            b: "INSERT INTO artist VALUES(3, 'y', 1, NULL)", rows: ["1 a 1900", "3 y 1"],
            lost: ["insert/insert [name='x']"]),
        Rule(
            testDescription: "both insert a row with one UNIQUE value: A's row, and B's is held",
            a: "INSERT INTO artist VALUES(4, 'x', 1, 'c')", b: "INSERT INTO artist VALUES(5, 'y', 1, 'c')",
            rows: ["1 a 1900", "4 x 1"], held: ["5 unique"]),
        Rule(
            testDescription: "A deletes a parent, B inserts a child of it: the child is held", a: "DELETE FROM artist",
            b: "INSERT INTO album VALUES(7, 1)", rows: [], held: ["7 foreign_key"]),
    ]

    @Test("concurrent changes of two machines end the same everywhere, as the table says", arguments: rules)
    func rule(_ rule: Rule) throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900, NULL)")
        try cluster.converge()
        try cluster.execute(0, rule.a)
        try cluster.execute(1, rule.b)
        // The third machine gets B's changes first.
        try cluster.pull(2, from: 1)
        try cluster.converge()
        for index in 0..<3 {
            #expect(try rows(cluster, index) == rule.rows, "replica \(index)")
            #expect(try lost(cluster, index) == rule.lost, "replica \(index)")
            #expect(try held(cluster, index) == rule.held, "replica \(index)")
            #expect(try cluster.integrity(index).isEmpty)
        }
    }

    @Test("an overwrite by a writer that had seen the value is no conflict, also when the overwrite arrives first")
    func overwrittenKnowingly() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900, NULL)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE artist SET name = 'b'")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "UPDATE artist SET name = 'c'")
        // Only the changes of replica 1.
        let writer = try cluster[1].identity().origin
        for batch in try cluster.batches(from: 1, to: 2) {
            for run in batch.runs where run.origin == writer { _ = try cluster.inboxes[2].receive(batch.only(run)) }
        }
        #expect(try rows(cluster, 2) == ["1 c 1900"])
        #expect(try cluster.pull(2, from: 0).applied == 1)
        try cluster.converge()
        for index in 0..<3 {
            #expect(try rows(cluster, index) == ["1 c 1900"], "replica \(index)")
            #expect(try lost(cluster, index).isEmpty, "replica \(index)")
        }
    }

    @Test("a row that breaks NOT NULL or CHECK here is held here, and returns when a change makes it valid")
    func refused() throws {
        let cluster = try Cluster(schemas: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n INTEGER)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, n INTEGER CHECK (n < 10))",
        ])
        try cluster.execute(0, "INSERT INTO t VALUES(1, NULL, 1), (2, 'b', 20), (3, 'c', 3)")
        try cluster.converge()
        #expect(try held(cluster, 1) == ["1 not_null", "2 check"])
        try cluster.execute(0, "UPDATE t SET name = 'a' WHERE id = 1; UPDATE t SET n = 2 WHERE id = 2")
        try cluster.converge()
        #expect(try held(cluster, 1).isEmpty)
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test("an update whose insert has not arrived is held, and becomes part of the row with the insert")
    func incomplete() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900, NULL)")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "UPDATE artist SET born = 1950")
        let known = try cluster.inboxes[0].vector()
        for batch in try cluster.batches(from: 1, to: 2) {
            for run in batch.runs where known[run.origin] == 0 { _ = try cluster.inboxes[2].receive(batch.only(run)) }
        }
        #expect(try rows(cluster, 2).isEmpty)
        #expect(try held(cluster, 2) == ["1 incomplete"])
        try cluster.pull(2, from: 0)
        #expect(try rows(cluster, 2) == ["1 a 1950"])
        #expect(try held(cluster, 2).isEmpty)
    }

    // MARK: - The content of a replica

    private func rows(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || name || ' ' || born FROM artist ORDER BY id")
                + String.fetchAll(db, sql: "SELECT id || ' of ' || artist FROM album ORDER BY id")
        }
    }

    private func lost(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read { db in
            try ConflictEntry.all(db).map { entry in
                let columns = entry.lost.map { "\($0.column)=\($0.value.literal)" }
                return "\(entry.kind.rawValue) [\(columns.joined(separator: " "))]"
            }
        }
    }

    private func held(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read { db in
            try HeldEntries(db).all().map { "\($0.key.map(\.value.literal).joined(separator: ", ")) \($0.reason)" }
        }
    }
}

extension Value {
    fileprivate var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}
