import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: each inserted row is there once, and each reference leads to the row that its writer meant, also
/// when SQLite chooses the key of a row that its table does not show.
@Suite("A held row's key counts as taken")
struct HeldKeyTests {
    private static let schema = """
        CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user(id), body TEXT);
        """
    private static let users = "SELECT name || ':' || mail FROM user ORDER BY name"
    private static let owned = """
        SELECT user.name || ': ' || group_concat(body, ' ') FROM
          (SELECT * FROM note ORDER BY body) AS note JOIN user ON user.id = user_id GROUP BY user.id ORDER BY name
        """

    /// Exchanges everything, as daemons do that look at local changes first.
    private static func exchange(_ cluster: Cluster) throws {
        for inbox in cluster.inboxes { try inbox.bringBackHeldRows() }
        try cluster.converge()
    }

    /// Bob's row is held on both machines: Ann has his address.
    private static func cluster(_ count: Int = 2, bob: String = "INSERT INTO user VALUES (2, 'Bob', 'x@y')")
        throws -> Cluster
    {
        let cluster = try Cluster(count, schema: schema)
        try cluster.executeLater(0, "INSERT INTO user VALUES (1, 'Ann', 'x@y')")
        try cluster.executeLater(1, bob)
        try Self.exchange(cluster)
        #expect(try cluster.text(0, users) == ["Ann:x@y"])
        #expect(try cluster.heldReasons(0) == ["unique"])
        return cluster
    }

    @Test("a row with the key of a held row is another row, and the held one can still come back")
    func minted() throws {
        let cluster = try Self.cluster(3)
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Cid', 'c@y')")
        #expect(try cluster.text(0, "SELECT id FROM user WHERE name = 'Cid'") == ["2"])
        try Self.exchange(cluster)
        for machine in 0..<3 {
            #expect(try cluster.text(machine, Self.users) == ["Ann:x@y", "Cid:c@y"])
            #expect(try cluster.text(machine, "SELECT id FROM user WHERE name = 'Cid'") == ["2"])
            #expect(try cluster.heldReasons(machine) == ["unique"])
        }
        try cluster.executeLater(2, "UPDATE user SET mail = 'a@y' WHERE name = 'Ann'")
        try Self.exchange(cluster)
        for machine in 0..<3 {
            #expect(try cluster.text(machine, Self.users) == ["Ann:a@y", "Bob:x@y", "Cid:c@y"])
            #expect(try cluster.integrity(machine) == [])
        }
        try cluster.expectEqual()
    }

    @Test("on both machines, and references lead to the row that their writers meant")
    func references() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO user VALUES (1, 'Ann', 'x@y')")
        try cluster.executeLater(
            1, "INSERT INTO user VALUES (2, 'Bob', 'x@y'); INSERT INTO note(user_id, body) VALUES (2, 'b1')")
        // Machine 2 knows Bob only, and shows his row.
        try cluster.pull(2, from: 1)
        try cluster.pull(0, from: 1)
        try cluster.executeLater(2, "INSERT INTO note(user_id, body) VALUES (2, 'b2')")
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Cid', 'c@y')")
        try cluster.executeLater(0, "INSERT INTO note(user_id, body) VALUES (2, 'c1')")
        try cluster.executeLater(1, "INSERT INTO user(name, mail) VALUES ('Dan', 'd@y')")
        try cluster.executeLater(
            1, "INSERT INTO note(user_id, body) VALUES ((SELECT id FROM user WHERE name = 'Dan'), 'd1')")
        try Self.exchange(cluster)
        try cluster.executeLater(0, "UPDATE user SET mail = 'a@y' WHERE name = 'Ann'")
        try Self.exchange(cluster)
        for machine in 0..<3 {
            #expect(try cluster.text(machine, Self.users) == ["Ann:a@y", "Bob:x@y", "Cid:c@y", "Dan:d@y"])
            #expect(try cluster.text(machine, Self.owned) == ["Bob: b1 b2", "Cid: c1", "Dan: d1"])
            #expect(try cluster.integrity(machine) == [])
        }
        try cluster.expectEqual()
    }

    @Test("also when the program deletes its row again, and adds another one")
    func deleted() throws {
        let cluster = try Self.cluster()
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Cid', 'c@y')")
        try cluster.executeLater(0, "DELETE FROM user WHERE name = 'Cid'")
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Dan', 'd@y')")
        try Self.exchange(cluster)
        try cluster.executeLater(0, "UPDATE user SET mail = 'a@y' WHERE name = 'Ann'")
        try Self.exchange(cluster)
        for machine in 0..<2 {
            #expect(try cluster.text(machine, Self.users) == ["Ann:a@y", "Bob:x@y", "Dan:d@y"])
            #expect(try cluster.integrity(machine) == [])
        }
        try cluster.expectEqual()
    }

    @Test("a row that had lost the key to the held one stays away from it")
    func beaten() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO user VALUES (1, 'Ann', 'x@y')")
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Eve', 'e@y')")
        try cluster.executeLater(1, "INSERT INTO user VALUES (2, 'Bob', 'x@y')")
        try Self.exchange(cluster)
        let eve = try cluster.text(0, "SELECT id FROM user WHERE name = 'Eve'")
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Cid', 'c@y')")
        #expect(try cluster.text(0, "SELECT id FROM user WHERE name = 'Cid'") == ["2"])
        try cluster.executeLater(0, "INSERT INTO note(user_id, body) VALUES (\(eve[0]), 'e1')")
        try cluster.executeLater(1, "UPDATE user SET name = 'Eva' WHERE name = 'Eve'")
        try Self.exchange(cluster)
        for machine in 0..<2 {
            #expect(try cluster.text(machine, Self.users) == ["Ann:x@y", "Cid:c@y", "Eva:e@y"])
            #expect(try cluster.text(machine, "SELECT id FROM user WHERE name = 'Eva'") == eve)
            #expect(try cluster.text(machine, Self.owned) == ["Eva: e1"])
            #expect(try cluster.heldReasons(machine) == ["unique"])
        }
        try cluster.expectEqual()
    }

    @Test("the ledger has an entry with both keys")
    func ledger() throws {
        let cluster = try Self.cluster()
        try cluster.executeLater(0, "INSERT INTO user(name, mail) VALUES ('Cid', 'c@y')")
        try Self.exchange(cluster)
        for machine in 0..<2 {
            let entries = try cluster[machine].read { try ConflictEntry.all($0) }.filter { $0.kind == .rekeyed }
            #expect(entries.map { $0.lost.map(\.value) } == [[.integer(2)]])
        }
    }
}
