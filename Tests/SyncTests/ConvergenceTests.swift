import GRDB
import Journal
import Sync
import TestSupport
import Testing

@Suite("Replicas that know the same hold the same")
struct ConvergenceTests {
    static let schema = """
        CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
        CREATE TABLE album(id TEXT PRIMARY KEY NOT NULL, artist INTEGER REFERENCES artist(id) ON DELETE CASCADE,
          title TEXT NOT NULL, code TEXT UNIQUE) WITHOUT ROWID;
        """

    @Test("edits of different columns of one row are both kept without a conflict")
    func differentColumns() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE artist SET name = 'b'")
        try cluster.execute(1, "UPDATE artist SET born = 1950")
        try cluster.converge()
        #expect(try cluster.content(0) == ["artist: integer:1 | text:'b' | integer:1950"])
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.ledger(0).isEmpty && cluster.ledger(1).isEmpty)
    }

    @Test("two edits of one column: the later wins everywhere, and the other is in every ledger")
    func sameColumn() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE artist SET name = 'first'")
        try cluster.execute(1, "UPDATE artist SET name = 'second', born = 1")
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.content(index) == cluster.content(0))
            #expect(try cluster.ledger(index) == cluster.ledger(0))
        }
        #expect(try cluster.ledger(0).count == 1)
    }

    @Test("a delete wins over a concurrent edit, and the edit is in the ledger")
    func deleteAgainstEdit() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM artist")
        try cluster.execute(1, "UPDATE artist SET name = 'late'")
        try cluster.converge()
        #expect(try cluster.content(0).isEmpty && cluster.content(1).isEmpty)
        #expect(try cluster.ledger(0).count == 1 && cluster.ledger(0) == cluster.ledger(1))
    }

    @Test("receiving everything a second time changes nothing")
    func again() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900), (2, 'b', 1)")
        let batches = try cluster.batches(from: 0, to: 1)
        for batch in batches { _ = try cluster.inboxes[1].receive(batch) }
        let rows = try cluster[1].read { try JournalReader($0).lastSeq }
        for batch in batches { #expect(try cluster.inboxes[1].receive(batch).duplicates == 2) }
        #expect(try cluster[1].read { try JournalReader($0).lastSeq } == rows)
    }

    @Test("a row that refers to itself takes the key of a deleted row: its foreign key acts first in the journal")
    func selfReferenceTakesDeadKey() throws {
        let schema = """
            CREATE TABLE node(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, root TEXT REFERENCES node(id) ON UPDATE CASCADE)
            """
        let cluster = try Cluster(3, schema: schema)
        try cluster.execute(0, "INSERT INTO node VALUES('a', 'first', 'a'), ('b', 'second', NULL)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM node WHERE id = 'b'")
        try cluster.execute(0, "UPDATE node SET id = 'b' WHERE id = 'a'")
        try cluster.execute(0, "UPDATE node SET name = 'third' WHERE id = 'b'")
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 1)
        let expected = try cluster.content(0)
        #expect(expected.count == 1)
        for index in 1...2 {
            #expect(try cluster.content(index) == expected)
            #expect(try cluster.integrity(index).isEmpty)
            #expect(try cluster.ledger(index).isEmpty)
        }
    }

    @Test("two rows that claim one UNIQUE value: the earlier is shown everywhere, the other is held and returns")
    func unique() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO album VALUES('a', NULL, 'A', 'code')")
        try cluster.execute(1, "INSERT INTO album VALUES('b', NULL, 'B', 'code')")
        try cluster.converge()
        for index in 0..<3 { try compare(cluster.content(index), cluster.content(0), "replica \(index)") }
        #expect(try cluster.content(0).filter { $0.hasPrefix("held") }.count == 1)
        try cluster.execute(2, "DELETE FROM album WHERE id = 'a'")
        try cluster.converge()
        for index in 0..<3 { #expect(try cluster.content(index) == cluster.content(0)) }
        #expect(try cluster.content(0).count == 1)
    }

    @Test("a child whose parent is deleted on another machine is held, and no foreign key is broken")
    func orphan() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM artist")
        try cluster.execute(1, "INSERT INTO album VALUES('x', 1, 'X', NULL)")
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.integrity(0).isEmpty && cluster.integrity(1).isEmpty)
        #expect(try cluster.content(0).count == 1)
        try cluster.execute(1, "INSERT INTO artist VALUES(1, 'again', 1)")
        try cluster.converge()
        #expect(try cluster.content(0) == cluster.content(1))
        #expect(try cluster.content(0).count == 2)
    }

    @Test("random histories converge in content and ledger", arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var limits = Limits.standard
        limits.changesPerBatch = random.pick([1, 3, 50, 8_192])
        let cluster = try Cluster(2 + random.below(3), schema: Self.schema, limits: limits)
        for _ in 0..<40 {
            let index = random.below(cluster.replicas.count)
            if random.chance(35) {
                let source = random.below(cluster.replicas.count)
                if source != index { try cluster.pull(index, from: source) }
                continue
            }
            let id = random.below(4)
            let text = random.pick(["'a'", "'b'", "'c'", "NULL"])
            let statements = [
                "INSERT OR IGNORE INTO artist VALUES(\(id), \(text), \(random.below(9)))",
                "INSERT OR REPLACE INTO artist VALUES(\(id), \(text), \(random.below(9)))",
                "UPDATE artist SET name = \(text) WHERE id = \(id)",
                "UPDATE artist SET born = \(random.below(9))",
                "DELETE FROM artist WHERE id = \(id)",
                "UPDATE OR IGNORE artist SET id = \(id) WHERE id = \(random.below(4))",
            ]
            let count = 1 + random.below(3)
            try? cluster[index].write { db in
                for _ in 0..<count { try db.execute(sql: random.pick(statements)) }
            }
        }
        try cluster.converge()
        for index in cluster.replicas.indices {
            try compare(cluster.content(index), cluster.content(0), "content, seed \(seed), replica \(index)")
            try compare(cluster.ledger(index), cluster.ledger(0), "ledger, seed \(seed), replica \(index)")
            #expect(try cluster.integrity(index).isEmpty, "seed \(seed)")
        }
    }

    private func compare(_ a: [String], _ b: [String], _ what: String) {
        let onlyA = a.filter { !b.contains($0) }
        let onlyB = b.filter { !a.contains($0) }
        #expect(a == b, "\(what): \(onlyA.joined(separator: "\n  ")) \n  against \(onlyB.joined(separator: "\n  "))")
    }
}
