import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: Tandem takes two keys for one exactly where SQLite does.
@Suite("Keys are compared as the primary key compares them")
struct KeySpellingTests {
    @Test(
        "a key with a collation of its constraint",
        arguments: [
            "CREATE TABLE t(k TEXT, v TEXT, w TEXT, PRIMARY KEY(k COLLATE NOCASE))",
            "CREATE TABLE t(k TEXT NOT NULL, v TEXT, w TEXT, PRIMARY KEY(k COLLATE NOCASE)) WITHOUT ROWID",
        ])
    func constraint(schema: String) throws {
        let cluster = try Cluster(2, schema: schema)
        try cluster.executeLater(0, "INSERT INTO t VALUES ('Apple', 'a', NULL)")
        try cluster.converge()
        try cluster.executeLater(1, "UPDATE t SET v = 'b' WHERE k = 'Apple'")
        try cluster.executeLater(0, "UPDATE t SET k = 'APPLE'")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT count(*) FROM t") == ["1"])
        try cluster.executeLater(1, "UPDATE t SET w = 'c'")
        try cluster.executeLater(0, "INSERT INTO t VALUES ('pear', 'p', NULL)")
        try cluster.executeLater(1, "INSERT INTO t VALUES ('PEAR', 'q', NULL)")
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try cluster.text(machine, "SELECT k || ' ' || v FROM t ORDER BY lower(k)").last == "PEAR q")
            #expect(try cluster.text(machine, "SELECT count(*) FROM t") == ["2"])
            #expect(try cluster.heldReasons(machine) == [])
        }
        try cluster.executeLater(1, "DELETE FROM t WHERE k = 'PEAR'")
        try cluster.converge()
        #expect(try cluster.text(0, "SELECT count(*) FROM t") == ["1"])
        try cluster.expectEqual()
    }

    @Test("a key that compares bytes, of a column that does not")
    func binary() throws {
        let cluster = try Cluster(
            2, schema: "CREATE TABLE t(k TEXT COLLATE NOCASE, v TEXT, PRIMARY KEY(k COLLATE BINARY))")
        try cluster.executeLater(0, "INSERT INTO t VALUES ('a', 'small'), ('A', 'large')")
        try cluster.converge()
        try cluster.executeLater(1, "UPDATE t SET v = 'other' WHERE v = 'small'")
        try cluster.executeLater(1, "DELETE FROM t WHERE v = 'large'")
        try cluster.converge()
        for machine in 0..<2 { #expect(try cluster.text(machine, "SELECT k || v FROM t") == ["aother"]) }
        try cluster.expectEqual()
    }

    @Test("a rebuild that spells keys anew reaches the others, and undoes no edit of theirs")
    func rebuild() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(k TEXT PRIMARY KEY COLLATE NOCASE, v TEXT)")
        try cluster.executeLater(0, "INSERT INTO t VALUES ('Apple', 'a'), ('Pear', 'p'), ('plum', 'l')")
        try cluster.converge()
        try cluster.executeLater(1, "UPDATE t SET v = 'edited' WHERE k = 'Pear'")
        try cluster.executeLater(
            0,
            """
            CREATE TABLE n(k TEXT PRIMARY KEY COLLATE NOCASE, v TEXT); INSERT INTO n SELECT lower(k), v FROM t;
            DROP TABLE t; ALTER TABLE n RENAME TO t
            """)
        try cluster[0].refreshDerivedState()
        try cluster.converge()
        for machine in 0..<2 {
            #expect(
                try cluster.text(machine, "SELECT k || ' ' || v FROM t ORDER BY k") == [
                    "apple a", "pear edited", "plum l",
                ])
            #expect(try cluster.ledger(machine) == [])
        }
        try cluster.expectEqual()
    }

    @Test("names that are one text in two Unicode forms are told apart, or refused with a reason")
    func forms() throws {
        let cluster = try Cluster(
            2,
            schema: """
                CREATE TABLE "caf\u{E9}"(id INTEGER PRIMARY KEY, v TEXT);
                CREATE TABLE "cafe\u{301}"(id INTEGER PRIMARY KEY, v TEXT);
                CREATE TABLE t(id INTEGER PRIMARY KEY, "\u{E9}" TEXT, "e\u{301}" TEXT);
                CREATE TABLE other(id INTEGER PRIMARY KEY, v TEXT);
                """)
        try cluster.executeLater(
            0,
            """
            INSERT INTO "caf\u{E9}" VALUES (1, 'one'); INSERT INTO "cafe\u{301}" VALUES (1, 'two');
            INSERT INTO t VALUES (1, 'one', 'two'); INSERT INTO other VALUES (1, 'x')
            """)
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT v FROM other") == ["x"])
        let refused = try cluster[0].read { try TableCoverage($0).untracked }
        #expect(refused.map(\.cause) == [.ambiguousNames, .ambiguousNames, .ambiguousNames])
        #expect(try cluster.text(1, "SELECT count(*) FROM t") == ["0"])
    }
}
