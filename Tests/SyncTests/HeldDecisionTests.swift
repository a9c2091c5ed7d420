import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// `syncd held restore|drop|reparent`: what an operator decides about held rows reaches every replica.
@Suite("Decisions about held rows")
struct HeldDecisionTests {
    static let schema = """
        CREATE TABLE land(code TEXT PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE team(id INTEGER PRIMARY KEY, land TEXT REFERENCES land(code), name TEXT NOT NULL);
        CREATE TABLE person(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team(id), name TEXT, mail TEXT UNIQUE);
        CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person(id) ON DELETE SET NULL,
          vet INTEGER REFERENCES person(id));
        """
    private static let people = "SELECT id || ' ' || team || ' ' || name FROM person ORDER BY id"

    /// Two replicas that hold person 1 of team 1 and land 'x', because both parents were deleted meanwhile.
    private func holding() throws -> Cluster {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0, "INSERT INTO land VALUES('x', 'X'); INSERT INTO team VALUES(1, 'x', 'one'), (2, NULL, 'two')")
        try cluster.converge()
        try cluster.execute(
            0, "UPDATE team SET name = 'first' WHERE id = 1; DELETE FROM team WHERE id = 1; DELETE FROM land")
        try cluster.execute(1, "INSERT INTO person VALUES(1, 1, 'a', 'a@x')")
        try cluster.converge()
        try expect(cluster, people: [], held: ["foreign_key"])
        return cluster
    }

    private func id(_ cluster: Cluster, _ index: Int = 0, table: String = "person") throws -> Int64 {
        try #require(try cluster[index].read { db in try HeldEntries(db).all(table: table).first?.row?.id })
    }

    private func expect(
        _ cluster: Cluster, people: [String], held: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for index in cluster.replicas.indices {
            try cluster.inboxes[index].bringBackHeldRows()
            #expect(try cluster.text(index, Self.people) == people, "replica \(index)", sourceLocation: sourceLocation)
            #expect(try cluster.heldReasons(index) == held, "replica \(index)", sourceLocation: sourceLocation)
        }
        try cluster.expectEqual(sourceLocation: sourceLocation)
    }

    private func refused(_ code: JournalError.Code, _ words: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error")
        } catch let error as JournalError {
            #expect(error.code == code && error.message.contains(words), "\(error)")
            #expect(error.hint != nil, "\(error)")
        } catch {
            Issue.record(error)
        }
    }

    @Test("restore inserts the deleted parents again, as they last were, and the row returns everywhere")
    func restore() throws {
        let cluster = try holding()
        let restored = try cluster[0].restoreHeldRows([id(cluster)])
        #expect(restored.first?.restored.map(\.table) == ["team"])
        // The land of the team is gone, too, and the team is held for it.
        try cluster.converge()
        try expect(cluster, people: [], held: ["foreign_key", "foreign_key"])
        let again = try cluster[1].restoreHeldRows([id(cluster, 1)])
        #expect(again.first?.restored.map(\.table) == ["land"])
        try cluster.converge()
        try expect(cluster, people: ["1 1 a"], held: [])
        #expect(try cluster.text(1, "SELECT name || land FROM team WHERE id = 1") == ["firstx"])
    }

    @Test("drop deletes a held row everywhere, also when its parent comes back")
    func drop() throws {
        let cluster = try holding()
        #expect(try cluster[1].dropHeldRows([id(cluster, 1)]).map(\.table) == ["person"])
        try cluster.converge()
        try expect(cluster, people: [], held: [])
        try cluster.execute(0, "INSERT INTO team VALUES(1, NULL, 'again'); INSERT INTO person VALUES(1, 1, 'b', 'a@x')")
        try cluster.converge()
        try expect(cluster, people: ["1 1 b"], held: [])
    }

    @Test("drop of a row that lost a UNIQUE value frees what gave way to it")
    func dropUnique() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO team VALUES(1, NULL, 'one'); INSERT INTO person VALUES(1, 1, 'a', 'm')")
        try cluster.executeLater(
            1, "INSERT INTO team VALUES(2, NULL, 'two'); INSERT INTO person VALUES(2, 2, 'b', 'm')")
        try cluster.converge()
        try expect(cluster, people: ["1 1 a"], held: ["unique"])
        refused(.refused, "lacks no parent") { _ = try cluster[0].restoreHeldRows([id(cluster)]) }
        refused(.refused, "lacks no parent") { _ = try cluster[0].reparentHeldRow(id(cluster), to: [.integer(1)]) }
        _ = try cluster[0].dropHeldRows([id(cluster)])
        try cluster.converge()
        try expect(cluster, people: ["1 1 a"], held: [])
    }

    @Test("reparent makes a row refer to another one, keeps what others wrote to it, and the row returns everywhere")
    func reparent() throws {
        let cluster = try holding()
        let row = try cluster[0].reparentHeldRow(id(cluster), to: [.text(Array("2".utf8)[...])])
        #expect(row.key.map(\.value) == [.integer(1)])
        // Concurrently, another machine restores the parent and renames the person, which it sees then.
        _ = try cluster[1].restoreHeldRows([id(cluster, 1)])
        try cluster.converge()
        try expect(cluster, people: ["1 2 a"], held: ["foreign_key"])
        try cluster.execute(1, "UPDATE person SET name = 'b'")
        try cluster.converge()
        try expect(cluster, people: ["1 2 b"], held: ["foreign_key"])
        #expect(try cluster.ledger(0) == [])
    }

    @Test(
        "a row that is shown with a substitute: drop makes the substitute its value, reparent gives it another parent")
    func shown() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0, "INSERT INTO team VALUES(1, NULL, 'one'); INSERT INTO person VALUES(1, 1, 'a', 'x'), (2, 1, 'b', 'y')")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM person WHERE id = 1")
        try cluster.execute(1, "INSERT INTO pet VALUES(1, 1, NULL), (2, 1, NULL)")
        try cluster.converge()
        func pets(_ expected: [String], held: Int) throws {
            for index in cluster.replicas.indices {
                #expect(
                    try cluster.text(index, "SELECT id || ' ' || ifnull(owner, '-') FROM pet ORDER BY id") == expected)
                #expect(try cluster.text(index, "SELECT count(*) FROM _journal_held") == ["\(held)"])
            }
            try cluster.expectEqual()
        }
        try pets(["1 -", "2 -"], held: 2)
        _ = try cluster[0].dropHeldRows([id(cluster, table: "pet")])
        try cluster.converge()
        try pets(["1 -", "2 -"], held: 1)
        _ = try cluster[1].reparentHeldRow(id(cluster, 1, table: "pet"), to: [.integer(2)])
        try cluster.converge()
        try pets(["1 -", "2 2"], held: 0)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 1, 'again', 'x')")
        try cluster.converge()
        try pets(["1 -", "2 2"], held: 0)
    }

    @Test("what cannot be done is said with a remedy, and changes nothing")
    func refusals() throws {
        let cluster = try holding()
        let held = try id(cluster)
        let before = try cluster.content(0)
        refused(.unknownHeldRow, "has the number 99") { _ = try cluster[0].dropHeldRows([held, 99]) }
        refused(.refused, "shows no row") { _ = try cluster[0].reparentHeldRow(held, to: [.integer(7)]) }
        refused(.invalid, "1 columns") { _ = try cluster[0].reparentHeldRow(held, to: [.integer(7), .null]) }
        refused(.refused, "by name") { _ = try cluster[0].reparentHeldRow(held, to: [.integer(2)], column: "name") }
        #expect(try cluster.content(0) == before)
        try cluster.members[0].executeForeign(
            "INSERT INTO pet VALUES(7, 70, 71); INSERT INTO person VALUES(3, 99, 'c', 'c@x')")
        try cluster.inboxes[0].bringBackHeldRows()
        let pet = try id(cluster, table: "pet")
        refused(.refused, "no row of person") { _ = try cluster[0].restoreHeldRows([pet]) }
        refused(.refused, "several missing rows, by") { _ = try cluster[0].reparentHeldRow(pet, to: [.integer(1)]) }
    }
}
