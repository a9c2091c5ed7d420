import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: a table without a primary key replicates by its first UNIQUE constraint over NOT NULL columns.
@Suite("Tables whose key is a UNIQUE constraint")
struct UniqueKeyTests {
    private static let schemas = [
        // Trac's tables have this form.
        "CREATE TABLE enum(type TEXT NOT NULL, name TEXT NOT NULL, value TEXT, UNIQUE(type, name))",
        "CREATE TABLE enum(value TEXT UNIQUE, type TEXT NOT NULL, name TEXT NOT NULL); CREATE UNIQUE INDEX k ON enum(type, name)",
        "CREATE TABLE enum(value TEXT, type TEXT NOT NULL COLLATE NOCASE, name TEXT NOT NULL, UNIQUE(name, type), UNIQUE(type, name))",
    ]
    private static let all = "SELECT type || ' ' || name || ' ' || value FROM enum ORDER BY 1"

    @Test("changes, conflicts, key changes, REPLACE and deletes", arguments: schemas)
    func replicates(schema: String) throws {
        let cluster = try Cluster(2, schema: schema)
        try cluster.executeLater(0, "INSERT INTO enum(type, name, value) VALUES ('p', 'low', '1'), ('p', 'high', '2')")
        try cluster.converge()
        try cluster.executeLater(0, "UPDATE enum SET value = '3' WHERE name = 'low'")
        try cluster.executeLater(1, "UPDATE enum SET value = '4' WHERE name = 'low'")
        try cluster.executeLater(1, "INSERT OR REPLACE INTO enum(type, name, value) VALUES ('p', 'high', '5')")
        try cluster.executeLater(0, "INSERT INTO enum(type, name, value) VALUES ('q', 'new', '6')")
        try cluster.executeLater(1, "INSERT INTO enum(type, name, value) VALUES ('q', 'new', '7')")
        try cluster.converge()
        for machine in 0..<2 { #expect(try cluster.text(machine, Self.all) == ["p high 5", "p low 4", "q new 7"]) }
        #expect(try cluster.ledger(0).count == 2)
        try cluster.executeLater(
            0, "UPDATE enum SET name = 'urgent' WHERE name = 'high'; DELETE FROM enum WHERE type = 'q'")
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try cluster.text(machine, Self.all) == ["p low 4", "p urgent 5"])
            #expect(try cluster.heldReasons(machine) == [])
        }
        try cluster.expectEqual()
    }

    @Test("a UNIQUE constraint over a nullable column, a partial index and an expression are no key")
    func noKey() throws {
        let fixture = try Cluster(
            1,
            schema: """
                CREATE TABLE a(x TEXT UNIQUE, y TEXT NOT NULL); CREATE UNIQUE INDEX e ON a(lower(y));
                CREATE UNIQUE INDEX p ON a(y) WHERE y > 'a'; CREATE TABLE b(x TEXT NOT NULL UNIQUE)
                """)
        let coverage = try fixture[0].read { try TableCoverage($0) }
        #expect(coverage.tracked == ["b"])
        #expect(coverage.untracked.map(\.cause) == [.noPrimaryKey])
    }

    @Test("a program that gives the table a primary key later keeps its rows on all machines")
    func laterKey() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(k TEXT NOT NULL UNIQUE, v TEXT)")
        try cluster.executeLater(0, "INSERT INTO t VALUES ('a', '1'), ('b', '2')")
        try cluster.converge()
        for machine in 0..<2 {
            try cluster.executeLater(
                machine,
                """
                CREATE TABLE n(k TEXT PRIMARY KEY NOT NULL, v TEXT); INSERT INTO n SELECT * FROM t; DROP TABLE t;
                ALTER TABLE n RENAME TO t
                """)
            try cluster[machine].refreshDerivedState()
        }
        try cluster.executeLater(1, "UPDATE t SET v = '3' WHERE k = 'b'")
        try cluster.converge()
        for machine in 0..<2 { #expect(try cluster.text(machine, "SELECT k || v FROM t ORDER BY k") == ["a1", "b3"]) }
        try cluster.expectEqual()
    }
}
