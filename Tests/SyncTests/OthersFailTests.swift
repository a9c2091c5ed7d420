import GRDB
import Journal
import MergeModel
import Sync
import TestSupport
import Testing

/// Failures of other replicated stores, each as a test. Those that have one elsewhere:
///
/// - a large transaction torn in pieces: `ConvergenceTests.largeTransaction`
/// - a restored file that silently loses writes (Turso #8129): `ExchangeShapeTests.restoredFile`
/// - values that a hop changes: `ExchangeShapeTests.fidelity`
@Suite("What others fail at")
struct OthersFailTests {
    static let schema = """
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id) ON DELETE CASCADE, text TEXT);
        """

    // MARK: - UNIQUE and foreign keys under merge

    @Test("cr-sqlite and Corrosion forbid UNIQUE besides the key: here it stays on, and is never broken")
    func uniqueStaysOn() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(2, 'b', 'x@y')")
        try cluster.settle()
        for index in 0..<2 {
            #expect(throws: DatabaseError.self) {
                try cluster.execute(index, "INSERT INTO person VALUES(3, 'c', 'x@y')")
            }
            #expect(try cluster.integrity(index).isEmpty)
        }
        #expect(try cluster.content(0) == cluster.content(1))
    }

    @Test("Marmot applies with REPLACE and deletes the row in the way: here both rows live, and both can be had again")
    func nothingIsReplaced() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(2, 'b', 'x@y')")
        try cluster.settle()
        try cluster.execute(0, "UPDATE person SET mail = 'a@y' WHERE id = 1")
        try cluster.settle()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "person: integer:1 | text:'a' | text:'a@y'", "person: integer:2 | text:'b' | text:'x@y'",
                ])
        }
    }

    @Test("sqlite-data drops a child that comes before its parent: here it waits, and blocks nothing else")
    func childBeforeParent() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "INSERT INTO note VALUES(1, 1, 'hello')")
        try cluster.execute(1, "INSERT INTO person VALUES(5, 'e', NULL)")
        let known = try cluster.inboxes[0].vector()
        // Only what machine 1 wrote; the parent comes last.
        for batch in try cluster.batches(from: 1, to: 2) {
            for run in batch.runs where known[run.origin] == 0 { _ = try cluster.inboxes[2].receive(batch.only(run)) }
        }
        #expect(try cluster[2].read { try String.fetchAll($0, sql: "SELECT name FROM person") } == ["e"])
        #expect(try cluster[2].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") } == 1)
        try cluster.pull(2, from: 0)
        #expect(try cluster[2].read { try String.fetchAll($0, sql: "SELECT text FROM note") } == ["hello"])
        #expect(try cluster[2].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") } == 0)
    }

    // MARK: - Schema changes

    @Test("Corrosion and Fly fill a new column row by row: here ADD COLUMN journals nothing, and writers go on")
    func addColumnFloodsNothing() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO person SELECT i, 'x', NULL FROM n"
        )
        try cluster.settle()
        let before = try cluster[0].read { try JournalReader($0).lastSeq() }
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN born INTEGER NOT NULL DEFAULT 7")
        try cluster[0].settle()
        #expect(try cluster[0].read { try JournalReader($0).lastSeq() } == before)
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
    }

    @Test("a peer that has not migrated yet neither stops nor loses what the others write to columns that it has")
    func oldPeerGoesOn() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.settle()
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN born INTEGER")
        try cluster.execute(0, "INSERT INTO person VALUES(2, 'b', NULL, 1900)")
        try cluster.execute(0, "UPDATE person SET name = 'A', born = 1901 WHERE id = 1")
        try cluster.execute(1, "UPDATE person SET mail = 'x@y' WHERE id = 1")
        try cluster.settle()
        let old = try cluster[1].read { try String.fetchAll($0, sql: "SELECT id || name || quote(mail) FROM person") }
        #expect(old == ["1A'x@y'", "2bNULL"])
        let new = try cluster[0].read {
            try String.fetchAll($0, sql: "SELECT id || name || quote(mail) || born FROM person")
        }
        #expect(new == ["1A'x@y'1901", "2bNULL1900"])
    }

    // MARK: - Positions that run ahead

    @Test(
        "sqlite-sync moved its checkpoint past a record that failed: here knowledge moves with the data or not at all")
    func failedRecordIsNotSkipped() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        let batches = try cluster.batches(from: 0, to: 1)
        // A trigger cannot stop a merge; a file that refuses every write can.
        let lock = try DatabaseQueue(path: cluster[1].path)
        var options = Replica.Options()
        options.busyTimeout = .zero
        let impatient = try Replica.open(at: cluster[1].path, options: options)
        let inbox = try Inbox(replica: impatient, wallClock: { Cluster.now })
        try lock.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            for batch in batches { #expect(throws: (any Error).self) { _ = try inbox.receive(batch) } }
            try db.execute(sql: "ROLLBACK")
        }
        #expect(try inbox.have().isEmpty)
        for batch in batches { #expect(try inbox.receive(batch).applied == 1) }
        #expect(try cluster.content(1).count == 1)
    }

    @Test("cr-sqlite #413: a change that changes nothing here still reaches a third machine through here")
    func noOpMergeIsRelayed() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'same', NULL)")
        try cluster.execute(1, "INSERT INTO person VALUES(1, 'same', NULL)")
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 1)
        #expect(try cluster.inboxes[2].vector() == cluster.inboxes[1].vector())
        #expect(try cluster.inboxes[2].vector()[cluster[0].identity().origin] == 1)
        #expect(try cluster.content(2) == ["person: integer:1 | text:'same' | null:NULL"])
    }

    @Test("Dotmim #300: rows of a transaction that was open during an exchange are sent by the next one")
    func openTransactionIsNotSkipped() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        let slow = try RawConnection(path: cluster[0].path)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster[0].settle()
        try slow.run("BEGIN IMMEDIATE; INSERT INTO person VALUES(2, 'b', NULL)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1).count == 1)
        try slow.run("INSERT INTO person VALUES(3, 'c', NULL); COMMIT")
        try cluster.execute(0, "INSERT INTO person VALUES(4, 'd', NULL)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.content(1).count == 4)
    }

    // MARK: - Speed of a first copy

    @Test("a slow first copy: each row travels once, thousands in a batch, and none is asked for by itself")
    func firstCopy() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO person SELECT i, 'x', i FROM n"
        )
        let batches = try cluster.batches(from: 0, to: 1)
        #expect(batches.count <= 2)
        var report = ReceiveReport()
        for batch in batches { report = report + (try cluster.inboxes[1].receive(batch)) }
        #expect(report.applied == 9_000 && report.duplicates == 0)
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
    }

    // MARK: - Metadata

    @Test(
        "metadata that only grows: a row that was never deleted has one journal row here and there, and no clock of its own"
    )
    func metadataPerRow() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO person SELECT i, 'x', NULL FROM n"
        )
        try cluster.settle()
        for index in 0..<2 {
            let counts = try cluster[index].read { db in
                try ["_journal", "_journal_lives", "_journal_conflicts", "_journal_held", "_journal_inbox"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1
                }
            }
            #expect(counts == [500, 0, 0, 0, 0])
        }
    }

    @Test("a late change of a deleted row never revives it, by whatever route it comes")
    func lateChangeRevivesNothing() throws {
        let cluster = try Cluster(4, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.settle()
        try cluster.execute(3, "UPDATE person SET name = 'late', mail = 'x@y' WHERE id = 1")
        try cluster.execute(0, "DELETE FROM person")
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 3)
        try cluster.pull(1, from: 2)
        #expect(try cluster.content(1).isEmpty)
        try cluster.settle()
        for index in 0..<4 { #expect(try cluster.content(index).isEmpty) }
    }

    // MARK: - Writes of others, errors, state

    @Test(
        "cr-sqlite #423 and libSQL lose or refuse writes outside the library: here a plain connection's arrive like any"
    )
    func plainConnectionsWrite() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        let plain = try RawConnection(path: cluster[0].path)
        try plain.run("INSERT INTO person VALUES(1, 'a', 'x@y'), (2, 'b', 'b@y')")
        // Evicts row 1 and fires no trigger for it: recursive triggers are off by default.
        try plain.run("REPLACE INTO person VALUES(3, 'c', 'x@y')")
        try plain.run("UPDATE person SET id = 9 WHERE id = 2")
        try cluster.settle()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster[1].read { try Int64.fetchAll($0, sql: "SELECT id FROM person ORDER BY id") } == [3, 9])
        #expect(try cluster.integrity(1).isEmpty)
    }

    @Test("errors nobody can read: a refused batch says what is wrong, and what to do")
    func errorsSayWhatToDo() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL), (2, 'b', NULL)")
        var batch = try #require(try cluster.batches(from: 0, to: 1).first)
        batch.runs[0].firstVersion = 10
        let error = #expect(throws: SyncError.self) { _ = try cluster.inboxes[1].receive(batch) }
        let words = try #require(error.map { "\($0)" })
        #expect(words.contains("version 10") && words.contains("1 comes next"))
        #expect(error?.hint?.isEmpty == false)
    }

    @Test("state nobody can see: what lost and what is held back can be read in SQL, with its reason")
    func stateIsVisible() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL), (2, 'c', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(1, 'b', NULL), (3, 'd', 'x@y')")
        try cluster.settle()
        for index in 0..<2 {
            let entries = try cluster[index].read { try ConflictEntry.all($0) }
            #expect(entries.map(\.kind.rawValue) == ["insert/insert"])
            let reasons = try cluster[index].read { try String.fetchAll($0, sql: "SELECT reason FROM _journal_held") }
            #expect(reasons == ["unique"])
        }
    }
}
