import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

/// Decision 0034: `syncd init --foreign-keys keep|enforce`.
@Suite("The rule for rows whose parent is missing")
struct ForeignKeyRuleTests {
    static let schema = """
        CREATE TABLE team(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE person(id INTEGER PRIMARY KEY, team INTEGER REFERENCES team(id), mail TEXT UNIQUE);
        CREATE TABLE badge(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id) ON DELETE SET NULL);
        """
    private static let people = "SELECT id || ' ' || ifnull(team, '-') FROM person ORDER BY id"

    private func set(_ rule: ForeignKeyRule, _ cluster: Cluster, _ index: Int) throws {
        try cluster[index].write { try rule.set($0) }
    }

    private func keeping() throws -> Cluster {
        let cluster = try Cluster(3, schema: Self.schema)
        for index in cluster.replicas.indices { try set(.keep, cluster, index) }
        return cluster
    }

    @Test("under keep, rows that were written or left without a parent stay visible on every replica, and none is held")
    func keep() throws {
        let cluster = try keeping()
        try cluster.execute(
            0, "INSERT INTO team VALUES(1, 'a'), (2, 'b'); INSERT INTO person VALUES(1, 1, 'x'), (2, 2, 'y')")
        try cluster.converge()
        try cluster.members[0].executeForeign(
            "DELETE FROM team WHERE id = 1; INSERT INTO person VALUES(3, 9, 'z'); INSERT INTO badge VALUES(1, 7)")
        // Concurrently, another machine writes a child of the parent that goes.
        try cluster.execute(1, "INSERT INTO person VALUES(4, 1, 'w')")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        for index in cluster.replicas.indices {
            #expect(try cluster.content(index) == cluster.content(0))
            #expect(try cluster.text(index, Self.people) == ["1 1", "2 2", "3 9", "4 1"])
            #expect(try cluster.text(index, "SELECT person FROM badge") == ["7"])
            #expect(try cluster.heldReasons(index) == [])
        }
    }

    @Test("under keep, UNIQUE clashes are decided as always, and orphans take part in them")
    func unique() throws {
        let cluster = try keeping()
        try cluster.members[0].executeForeign("INSERT INTO person VALUES(1, 9, 'x')")
        try cluster.executeLater(1, "INSERT INTO person VALUES(2, NULL, 'x')")
        try cluster.converge()
        for index in cluster.replicas.indices {
            #expect(try cluster.text(index, Self.people) == ["1 9"])
            #expect(try cluster.heldReasons(index) == ["unique"])
        }
    }

    @Test("a file changes its rule while it is in use: keep brings held rows back, enforce holds them again")
    func change() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.members[0].executeForeign(
            "INSERT INTO person VALUES(1, 9, 'x'); INSERT INTO badge VALUES(1, 1), (2, 8)")
        try cluster.converge()
        func expect(people: [String], badges: [String], held: [String]) throws {
            for index in cluster.replicas.indices {
                try cluster.inboxes[index].bringBackHeldRows()
                #expect(try cluster.text(index, Self.people) == people)
                #expect(try cluster.text(index, "SELECT id || ifnull(person, '-') FROM badge ORDER BY id") == badges)
                #expect(try cluster.heldReasons(index) == held)
            }
        }
        try expect(people: [], badges: ["1-", "2-"], held: ["foreign_key"])
        for index in cluster.replicas.indices { try set(.keep, cluster, index) }
        try expect(people: ["1 9"], badges: ["11", "28"], held: [])
        for index in cluster.replicas.indices { try set(.enforce, cluster, index) }
        try expect(people: [], badges: ["1-", "2-"], held: ["foreign_key"])
    }

    @Test("replicas with different rules have equal journals, lose nothing, and are equal once their rules are")
    func different() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try set(.keep, cluster, 1)
        try cluster.members[1].executeForeign("INSERT INTO person VALUES(1, 9, 'x'), (2, NULL, 'y')")
        try cluster.converge()
        #expect(try cluster.text(0, Self.people) == ["2 -"])
        #expect(try cluster.text(1, Self.people) == ["1 9", "2 -"])
        // A program at the keeping side changes the row that the other one holds.
        try cluster.members[1].executeForeign("UPDATE person SET mail = 'z' WHERE id = 1")
        try cluster.converge()
        try set(.keep, cluster, 0)
        try cluster.inboxes[0].bringBackHeldRows()
        for index in cluster.replicas.indices {
            #expect(try cluster.content(index) == cluster.content(0))
            #expect(try cluster.text(index, "SELECT mail FROM person ORDER BY id") == ["z", "y"])
        }
    }

    @Test("under keep, references follow a row that gets another key")
    func rekeyed() throws {
        let cluster = try keeping()
        try cluster.execute(0, "INSERT INTO team(name) VALUES('a')")
        try cluster.executeLater(1, "INSERT INTO team(name) VALUES('b'); INSERT INTO person VALUES(1, 1, 'x')")
        try cluster.converge()
        for index in cluster.replicas.indices {
            #expect(
                try cluster.text(index, "SELECT name FROM person JOIN team ON team.id = person.team") == ["b"])
            #expect(try cluster.text(index, "SELECT count(*) FROM team") == ["2"])
        }
    }
}
