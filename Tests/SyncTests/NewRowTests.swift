import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: a restore never writes one stranger over another.
@Suite("What lost can be restored as a row of its own")
struct NewRowTests {
    private static let schema =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INTEGER, note TEXT DEFAULT 'd')"

    private static func open(_ cluster: Cluster, _ machine: Int) throws -> [ConflictEntry] {
        try cluster[machine].read { try ConflictLedger($0).entries(ConflictFilter()) }
    }

    @Test("with its other columns as its writer had them, and the peers get it")
    func newRow() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO t VALUES (1, 'Ann', 1, 'x')")
        try cluster.converge()
        try cluster.executeLater(0, "UPDATE t SET name = 'Anna', n = 2")
        try cluster.executeLater(1, "UPDATE t SET name = 'Anne'")
        try cluster.converge()
        let ids = try Self.open(cluster, 0).map(\.id)
        let rows = try cluster[0].restoreConflictsAsNewRows(ids, time: 5)
        #expect(rows.map(\.key) == [2])
        #expect(rows.map(\.conflict.state) == [.restored])
        try cluster.converge()
        for machine in 0..<2 {
            #expect(
                try cluster.text(machine, "SELECT id || ' ' || name || ' ' || n || ' ' || note FROM t ORDER BY id")
                    == ["1 Anne 2 x", "2 Anna 2 x"])
        }
    }

    @Test("a row whose key SQLite has given to another row is not written over that one")
    func stranger() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO t VALUES (1, 'Ann', 1, 'x')")
        try cluster.converge()
        try cluster.executeLater(0, "UPDATE t SET n = 7")
        try cluster.executeLater(1, "DELETE FROM t")
        try cluster.executeLater(1, "INSERT INTO t(name, n) VALUES ('Bob', 2)")
        try cluster.converge()
        let id = try #require(try Self.open(cluster, 0).first?.id)
        let error = #expect(throws: JournalError.self) { try cluster[0].restoreConflicts([id], time: 5) }
        #expect(error?.code == .refused && error?.hint?.contains("--as-new-row") == true)
        try cluster[0].restoreConflictsAsNewRows([id], time: 5)
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try cluster.text(machine, "SELECT name || n FROM t ORDER BY id") == ["Bob2", "Ann7"])
        }
    }

    @Test("a row that a constraint forbids, a table with given keys and an entry that lost nothing are refused")
    func refused() throws {
        let cluster = try Cluster(2, schema: Self.schema + "; CREATE TABLE g(k TEXT PRIMARY KEY, v TEXT)")
        try cluster.executeLater(0, "INSERT INTO t VALUES (1, 'Ann', 1, 'x'); INSERT INTO g VALUES ('k', 'a')")
        try cluster.converge()
        try cluster.executeLater(0, "UPDATE t SET n = 2; UPDATE g SET v = 'b'")
        try cluster.executeLater(1, "UPDATE t SET n = 3; UPDATE g SET v = 'c'")
        try cluster.executeLater(0, "INSERT INTO t(name) VALUES ('Cid')")
        try cluster.executeLater(1, "INSERT INTO t(name) VALUES ('Dan')")
        try cluster.converge()
        let entries = try Self.open(cluster, 0)
        #expect(Set(entries.map(\.kind)) == [.updateUpdate, .rekeyed])
        let before = try cluster.content(0)
        for entry in entries {
            let error = #expect(throws: JournalError.self) {
                try cluster[0].restoreConflictsAsNewRows([entry.id], time: 5)
            }
            #expect(error?.code == .refused && error?.hint != nil)
        }
        #expect(try cluster.content(0) == before)
        #expect(try Self.open(cluster, 0).count == entries.count)
    }
}
