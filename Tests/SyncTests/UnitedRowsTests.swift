import GRDB
import Journal
import MergeModel
import Sync
import TestSupport
import Testing

/// Property: lives, rows and ledger are a function of the changes also where a writer told two rows of one key apart
/// that an insert, which it had not seen, makes one.
@Suite("An insert that is equal to one row of a key, and given like the other, makes both one row")
struct UnitedRowsTests {
    /// Machine 0 deletes Ann, whose key was chosen, and then writes the row under her key: that is Bob, whom it has
    /// from machine 1. The Ann of machine 2 is the deleted one, and her key was given like that of Bob.
    private static func cluster() throws -> Cluster {
        let cluster = try Cluster(4, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann'); DELETE FROM user")
        try cluster.executeLater(1, "INSERT INTO user VALUES (1, 'Bob')")
        try cluster.executeLater(2, "INSERT INTO user VALUES (1, 'Ann')")
        try cluster.pull(0, from: 1)
        #expect(try cluster.text(0, "SELECT id || ' ' || name FROM user") == ["1 Bob"])
        return cluster
    }

    private static let orders: [[(target: Int, source: Int)]] = [
        // Machine 2 has the one row when the last change of machine 0 arrives.
        [(2, 1), (2, 0), (3, 2)],
        // Machine 0 has that change when the rows become one.
        [(0, 2), (3, 0)],
        [(3, 2), (3, 1), (3, 0)], [(3, 1), (3, 2), (3, 0)], [(3, 0), (3, 2), (3, 1)],
    ]

    @Test(
        "the deletion of the one stands against what its writer wrote to the other, and the ledger has that",
        arguments: ["INSERT OR REPLACE INTO user VALUES (1, 'Cid')", "UPDATE user SET name = 'Cid'"], orders.indices)
    func outlived(_ write: String, _ order: Int) throws {
        let cluster = try Self.cluster()
        try cluster.executeLater(0, write)
        for (target, source) in Self.orders[order] { try cluster.pull(target, from: source) }
        try cluster.converge()
        try cluster.expectEqual()
        let writer = try cluster.members[0].origin
        for machine in cluster.members.indices {
            #expect(try cluster.text(machine, "SELECT name FROM user") == [], "machine \(machine)")
            let entries = try cluster[machine].read { try ConflictEntry.all($0) }
            let lost = entries.filter { $0.lostOrigin == writer && $0.lostVersion == 3 }
            #expect(lost.map(\.kind) == [.updateDelete], "machine \(machine)")
            #expect(lost.first?.lost.map(\.value) == [.text("Cid")], "machine \(machine)")
            #expect(try cluster.ledger(machine) == cluster.ledger(0), "machine \(machine)")
            #expect(try cluster.text(machine, "SELECT life FROM _journal_lives") == ["2"], "machine \(machine)")
        }
    }

    @Test("the life of a change follows from the row that its writer had under the key")
    func lives() throws {
        let cluster = try Self.cluster()
        try cluster.executeLater(0, "UPDATE user SET name = 'Cid'")
        try cluster.converge()
        let writes = try cluster[0].read { db in
            let reader = try JournalReader(db)
            return try ReferenceWrite.all(in: reader.batch(after: VersionVector()), registry: reader.registry)
        }
        let origin = try cluster.members[0].origin
        #expect(writes.filter { $0.origin == origin }.map(\.life) == [1, 2, 1])
        var schema = ReferenceSchema()
        let columns = [ReferenceColumn(name: "id"), ReferenceColumn(name: "name", isText: true)]
        schema.tables = [ReferenceTable(name: "user", columns: columns)]
        #expect(ReferenceModel(writes, schema: schema).brokenRules == [])
    }
}
