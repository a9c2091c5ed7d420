import GRDB
import Journal
import MergeModel
import Sync
import TestSupport
import Testing

/// Failures of other replicated stores: each test is named after one. A test shows the essential case; the
/// suites with more cases are named with it.
///
/// This file: constraints under merge, schema changes, positions that run ahead of the data.
/// `OthersFailTests+Operation.swift`: growth, slow and torn transfers, files, writes of other programs,
/// errors and state.
@Suite("Failures of other stores")
struct OthersFailTests {
    static let schema = """
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE);
        CREATE TABLE note(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id) ON DELETE CASCADE, text TEXT);
        """

    // MARK: - UNIQUE and foreign keys under merge: more in ConstraintTests, UniqueClashTests, ForeignKeyTests

    @Test("cr-sqlite and Corrosion forbid UNIQUE besides the key: here it stays on and is never broken")
    func uniqueStaysOn() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(2, 'b', 'x@y')")
        try cluster.converge()
        for index in 0..<2 {
            #expect(throws: DatabaseError.self) {
                try cluster.execute(index, "INSERT INTO person VALUES(3, 'c', 'x@y')")
            }
            #expect(try cluster.integrity(index).isEmpty)
        }
        #expect(try cluster.content(0) == cluster.content(1))
    }

    @Test("Marmot applies with REPLACE and deletes the other row: here both rows are kept, and either can be shown")
    func nothingIsReplaced() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(2, 'b', 'x@y')")
        try cluster.converge()
        try cluster.execute(0, "UPDATE person SET mail = 'a@y' WHERE id = 1")
        try cluster.converge()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "person: integer:1 | text:'a' | text:'a@y'", "person: integer:2 | text:'b' | text:'x@y'",
                ])
        }
    }

    @Test("cr-sqlite and Corrosion forbid foreign keys: here they stay on, act, and are never broken")
    func foreignKeysStayOn() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL); INSERT INTO note VALUES(1, 1, 'seen')")
        try cluster.converge()
        // The cascade deletes the note that is known here, while another machine makes a note.
        try cluster.execute(0, "DELETE FROM person")
        try cluster.execute(1, "INSERT INTO note VALUES(2, 1, 'unseen')")
        try cluster.converge()
        try cluster.expectEqual()
        for index in 0..<2 {
            #expect(try cluster.text(index, "SELECT text FROM note").isEmpty)
            #expect(try cluster.heldReasons(index) == ["foreign_key"])
            #expect(throws: DatabaseError.self) { try cluster.execute(index, "INSERT INTO note VALUES(3, 1, 'x')") }
        }
    }

    @Test("sqlite-data drops a child that arrives before its parent: here it waits, and blocks nothing else")
    func childBeforeParent() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.pull(1, from: 0)
        try cluster.execute(1, "INSERT INTO note VALUES(1, 1, 'hello')")
        try cluster.execute(1, "INSERT INTO person VALUES(5, 'e', NULL)")
        let known = try cluster.inboxes[0].vector()
        // Only the changes of machine 1; the parent arrives last.
        for batch in try cluster.batches(from: 1, to: 2) {
            for run in batch.runs where known[run.origin] == 0 { _ = try cluster.inboxes[2].receive(batch.only(run)) }
        }
        #expect(try cluster[2].read { try String.fetchAll($0, sql: "SELECT name FROM person") } == ["e"])
        #expect(try cluster[2].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") } == 1)
        try cluster.pull(2, from: 0)
        #expect(try cluster[2].read { try String.fetchAll($0, sql: "SELECT text FROM note") } == ["hello"])
        #expect(try cluster[2].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_held") } == 0)
    }

    // MARK: - Schema changes: more in MixedSchemaTests, RenamedTableTests, Session/RetypedColumnTests

    @Test("a schema change that floods (Fly's back-fill): here ADD COLUMN journals nothing, and writers continue")
    func addColumnFloodsNothing() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO person SELECT i, 'x', NULL FROM n"
        )
        try cluster.converge()
        let before = try cluster[0].read { try JournalReader($0).lastSeq }
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN born INTEGER NOT NULL DEFAULT 7")
        try cluster[0].refreshDerivedState()
        #expect(try cluster[0].read { try JournalReader($0).lastSeq } == before)
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
        try cluster.execute(0, "UPDATE person SET born = 8 WHERE id = 1")
        #expect(try cluster.batches(from: 0, to: 1).map(\.changes.count) == [1])
    }

    @Test("a schema change that stops replication (Corrosion): here a peer that has not migrated exchanges both ways")
    func oldPeerGoesOn() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.converge()
        try cluster.execute(0, "ALTER TABLE person ADD COLUMN born INTEGER")
        try cluster.execute(0, "INSERT INTO person VALUES(2, 'b', NULL, 1900)")
        try cluster.execute(0, "UPDATE person SET name = 'A', born = 1901 WHERE id = 1")
        try cluster.execute(1, "UPDATE person SET mail = 'x@y' WHERE id = 1")
        try cluster.converge()
        let old = try cluster[1].read { try String.fetchAll($0, sql: "SELECT id || name || quote(mail) FROM person") }
        #expect(old == ["1A'x@y'", "2bNULL"])
        let new = try cluster[0].read {
            try String.fetchAll($0, sql: "SELECT id || name || quote(mail) || born FROM person")
        }
        #expect(new == ["1A'x@y'1901", "2bNULL1900"])
    }

    @Test(
        "a schema change that truncates (Electric's refetch): here no row is lost or sent again, and no write waits")
    func schemaChangeRefetchesNothing() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0, "INSERT INTO person VALUES(1, 'a', 'x@y'), (2, 'b', NULL); INSERT INTO note VALUES(1, 1, 'hello')")
        try cluster.converge()
        // Written before the migration, and sent to nobody yet.
        try cluster.execute(1, "UPDATE person SET name = 'B' WHERE id = 2")
        let known = try cluster.inboxes.map { try $0.have() }
        for index in 0..<2 {
            // A new column, and a table that is rebuilt.
            try cluster.execute(
                index,
                """
                ALTER TABLE person ADD COLUMN born INTEGER;
                CREATE TABLE n(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id) ON DELETE CASCADE,
                  text TEXT CHECK (length(text) < 100));
                INSERT INTO n SELECT * FROM note; DROP TABLE note; ALTER TABLE n RENAME TO note
                """)
            try cluster[index].refreshDerivedState()
        }
        #expect(try cluster.inboxes.map { try $0.have() } == known)
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
        let report = try cluster.pull(0, from: 1)
        #expect(report.applied == 1 && report.duplicates == 0)
        try cluster.expectEqual()
        #expect(
            try cluster.content(0) == [
                "note: integer:1 | integer:1 | text:'hello'",
                "person: integer:1 | text:'a' | text:'x@y' | null:NULL",
                "person: integer:2 | text:'B' | null:NULL | null:NULL",
            ])
    }

    // MARK: - Positions that run ahead: more in Session/DurableAnswerTests, UnfinishedTransactionTests

    @Test(
        "sqlite-sync moved its checkpoint past a failed record: here knowledge moves with the data or not at all")
    func failedRecordIsNotSkipped() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        let batches = try cluster.batches(from: 0, to: 1)
        // A trigger cannot stop a merge. A file that refuses every write can.
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

    @Test(
        "sqlite-sync skipped a record that a table refused: here it is kept, reported, forwarded, and shown when it fits"
    )
    func refusedRecordIsKept() throws {
        let loose = "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)"
        let cluster = try Cluster(schemas: [
            loose, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER CHECK (n < 10))", loose,
        ])
        try cluster.execute(0, "INSERT INTO t VALUES(1, 1), (2, 20), (3, 3)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.text(1, "SELECT id || '' FROM t ORDER BY id") == ["1", "3"])
        #expect(try cluster.heldReasons(1) == ["check"])
        try cluster.pull(2, from: 1)
        #expect(try cluster.content(2) == cluster.content(0))
        try cluster.execute(
            1,
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO n SELECT * FROM t;
            DROP TABLE t; ALTER TABLE n RENAME TO t
            """)
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == cluster.content(0))
    }

    @Test(
        "a no-op merge that hides a row from a third peer (cr-sqlite #413): here a change without effect is forwarded")
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

    @Test("rows of an open transaction skipped by a watermark (Dotmim #300): here the next exchange sends them")
    func openTransactionIsNotSkipped() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        let slow = try RawConnection(path: cluster[0].path)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster[0].refreshDerivedState()
        try slow.run("BEGIN IMMEDIATE; INSERT INTO person VALUES(2, 'b', NULL)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1).count == 1)
        try slow.run("INSERT INTO person VALUES(3, 'c', NULL); COMMIT")
        try cluster.execute(0, "INSERT INTO person VALUES(4, 'd', NULL)")
        try cluster.pull(1, from: 0)
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster.content(1).count == 4)
    }
}
