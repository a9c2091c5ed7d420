import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: equal knowledge means equal content, also where a row comes from a machine that lacks a column
/// whose default SQLite computes at each insert.
@Suite("Computed defaults")
struct ComputedDefaultTests {
    private static let old = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE)"
    private static let new = """
        CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE,
            made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, token BLOB NOT NULL DEFAULT (randomblob(40)),
            due TEXT DEFAULT (strftime('%Y', 'now', '+1 year')), plain TEXT DEFAULT 'plain')
        """

    private static func rebuild(_ path: String) throws {
        try RawConnection.writeLater(
            """
            \(new.replacing("CREATE TABLE item", with: "CREATE TABLE new_item"));
            INSERT INTO new_item(id, name) SELECT id, name FROM item;
            DROP TABLE item; ALTER TABLE new_item RENAME TO item
            """, at: path)
    }

    @Test("a row of an older writer has the same values on all machines with the column, and the time of its insert")
    func arrival() throws {
        let cluster = try Cluster(schemas: [Self.old, Self.new, Self.new])
        try cluster.execute(0, "INSERT INTO item VALUES(1, 'a'), (2, 'b')")
        let before = Date.now.timeIntervalSince1970
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(2))
        let made = try cluster[1].read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT unixepoch(made), length(token), token, due = strftime('%Y', made) + 1, plain
                    FROM item ORDER BY id
                    """)
        }
        #expect(made.count == 2)
        #expect(made.allSatisfy { abs($0[0] - before) < 60 && $0[1] == 40 && $0[3] == true && $0[4] == "plain" })
        #expect(made[0][2] as Data != made[1][2] as Data)
        // What a machine with the column writes stands.
        try cluster.execute(1, "UPDATE item SET made = '2001-01-01' WHERE id = 1")
        try cluster.execute(0, "UPDATE item SET name = 'c' WHERE id = 1")
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(2))
        #expect(try cluster.content(2).contains { $0.contains("2001-01-01") && $0.contains("c") })
    }

    @Test("two inserts of one key, of machines with and without the column, in each order")
    func concurrent() throws {
        for order in [[0, 1], [1, 0]] {
            let cluster = try Cluster(schemas: [Self.old, Self.old, Self.new, Self.new, Self.new])
            try cluster.execute(order[0], "INSERT INTO item VALUES('1', 'a')")
            try cluster.execute(order[1], "INSERT INTO item VALUES('1', 'b')")
            try cluster.pull(3, from: 0)
            try cluster.pull(3, from: 1)
            try cluster.pull(4, from: 1)
            try cluster.pull(4, from: 0)
            #expect(try cluster.content(3) == cluster.content(4))
            try cluster.execute(2, "INSERT INTO item(id, name, made) VALUES('1', 'c', '2001-01-01')")
            try cluster.pull(3, from: 2)
            try cluster.converge()
            #expect(try cluster.content(2) == cluster.content(3))
            #expect(try cluster.content(3) == cluster.content(4))
        }
    }

    @Test("a held row and a table that is made later get the same values")
    func later() throws {
        let cluster = try Cluster(schemas: [Self.old, Self.old, Self.new, Self.new])
        try cluster.execute(0, "INSERT INTO item VALUES(1, 'same')")
        try cluster.execute(1, "INSERT INTO item VALUES(2, 'same'), (3, 'other')")
        try cluster.pull(2, from: 0)
        try cluster.pull(2, from: 1)
        try cluster.pull(3, from: 1)
        try cluster.pull(3, from: 0)
        try cluster.execute(0, "DELETE FROM item")
        try cluster.execute(1, "UPDATE item SET name = 'free' WHERE id = 3")
        try cluster.converge()
        #expect(try cluster.content(2) == cluster.content(3))
        #expect(try cluster.content(2).count == 2)
    }

    @Test("a machine that rebuilds its table later, and has values of its own for its rows")
    func rebuild() throws {
        let cluster = try Cluster(schemas: [Self.old, Self.new, Self.new])
        try cluster.execute(0, "INSERT INTO item VALUES(1, 'a'), (2, 'b'), (3, 'c')")
        try cluster.converge()
        try Self.rebuild(cluster.members[0].path)
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.content(1) == cluster.content(2))
        #expect(try cluster.content(1).count == 3)
    }
}
