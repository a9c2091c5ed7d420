import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// What a program marks as a migration is no user's edit: docs/decisions/0051-kinds-of-changes.md.
@Suite("Migrations that a program marks")
struct MarkedMigrationTests {
    private let cluster: Cluster

    init() throws {
        cluster = try Cluster(
            2, schema: "CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER, note TEXT)")
        try user(0, "INSERT INTO item VALUES (1, 5, 'a'), (2, 7, 'b')")
        try cluster.converge()
    }

    private func user(_ machine: Int, _ sql: String) throws {
        try RawConnection.writeLater(sql, at: cluster.members[machine].path)
    }

    /// What a program does that is not Tandem's.
    private func migrate(_ machine: Int, _ name: String, _ sql: String) throws {
        try user(
            machine,
            """
            INSERT INTO _journal_marks (name, after_seq) SELECT '\(name)', coalesce(max(seq), 0) FROM _journal;
            \(sql);
            UPDATE _journal_marks SET last_seq = (SELECT coalesce(max(seq), 0) FROM _journal)
            WHERE last_seq IS NULL
            """)
    }

    private func expect(_ rows: [String], ledger: [String] = [], _ location: SourceLocation = #_sourceLocation) throws {
        try cluster.converge()
        for machine in 0..<2 {
            #expect(
                try cluster.text(machine, "SELECT id || ' ' || price || ' ' || note FROM item ORDER BY id") == rows,
                "machine \(machine)", sourceLocation: location)
            #expect(try cluster.ledger(machine) == ledger, "machine \(machine)", sourceLocation: location)
            #expect(try cluster.text(machine, "SELECT name FROM _journal_marks") == [], sourceLocation: location)
        }
    }

    @Test("an edit that the migration could not see stands, whichever was first", arguments: [true, false])
    func editStands(isEditFirst: Bool) throws {
        if isEditFirst { try user(1, "UPDATE item SET price = 6 WHERE id = 1") }
        try migrate(0, "cents", "UPDATE item SET price = price * 100")
        if !isEditFirst { try user(1, "UPDATE item SET price = 6 WHERE id = 1") }
        try expect(["1 6 a", "2 700 b"])
        // The other machine's migration takes what the first one could not see.
        try migrate(1, "cents", "UPDATE item SET price = price * 100")
        try expect(["1 600 a", "2 700 b"])
        // What came after it is nobody's business but its writer's.
        try user(0, "UPDATE item SET price = 650 WHERE id = 1")
        try expect(["1 650 a", "2 700 b"])
    }

    @Test("two runs of one name are one change, before the machines meet and after that", arguments: [true, false])
    func oneChange(isMeeting: Bool) throws {
        try migrate(0, "cents", "UPDATE item SET price = price * 100; UPDATE item SET price = price + 1 WHERE id = 2")
        if isMeeting { try cluster.converge() }
        try migrate(1, "cents", "UPDATE item SET price = price * 100; UPDATE item SET price = price + 1 WHERE id = 2")
        try expect(["1 500 a", "2 701 b"])
        // An edit of the new values stays as it is.
        try user(0, "UPDATE item SET price = 650 WHERE id = 1")
        try cluster.converge()
        try migrate(1, "cents", "UPDATE item SET price = price * 100")
        try expect(["1 650 a", "2 701 b"])
    }

    @Test("a migration with another name takes the result of the first")
    func otherName() throws {
        try migrate(0, "cents", "UPDATE item SET price = price * 100")
        try cluster.converge()
        try migrate(1, "tax", "UPDATE item SET price = price + 10")
        try expect(["1 510 a", "2 710 b"])
    }

    @Test("a user's change of another column does not make a migration older or younger")
    func otherColumn() throws {
        try user(0, "UPDATE item SET note = 'late' WHERE id = 1")
        try migrate(0, "cents", "UPDATE item SET price = price * 100")
        try user(1, "UPDATE item SET price = 6, note = 'mine' WHERE id = 1")
        try cluster.converge()
        #expect(try cluster.text(0, "SELECT price FROM item WHERE id = 1") == ["6"])
        #expect(try cluster.text(1, "SELECT price FROM item WHERE id = 1") == ["6"])
    }

    @Test("a mark without an end says nothing, also when a later transaction ends it")
    func openMark() throws {
        try user(
            0,
            """
            INSERT INTO _journal_marks (name, after_seq) SELECT 'cents', max(seq) FROM _journal;
            UPDATE item SET price = 500 WHERE id = 1
            """)
        try cluster.inboxes[0].bringBackHeldRows()
        try user(0, MigrationMarks.end)
        try user(1, "UPDATE item SET price = 6 WHERE id = 2")
        try expect(["1 500 a", "2 6 b"])
        let ranked = try cluster.text(0, "SELECT count(*) || '' FROM _journal_migrated")
        #expect(ranked == ["0"])
    }

    @Test("nothing of a migration leaves the file before it is ranked")
    func notBefore() throws {
        try migrate(0, "cents", "UPDATE item SET price = price * 100")
        #expect(throws: JournalError.self) {
            try cluster[0].read { db in
                try JournalReader(db).forEachBatch(after: VersionVector(), changes: 10, bytes: 1_000) { _ in true }
            }
        }
        try cluster[0].refreshDerivedState()
        var ranks: [MigrationRank] = []
        try cluster[0].read { db in
            try JournalReader(db).forEachBatch(after: VersionVector(), changes: 10, bytes: 1_000) { batch in
                ranks += batch.changes.compactMap(\.migration)
                return true
            }
        }
        #expect(ranks.map(\.name) == ["cents", "cents"])
    }

    @Test("a name that peers would refuse marks nothing, and the changes replicate")
    func impossibleName() throws {
        try migrate(0, String(repeating: "n", count: 5_000), "UPDATE item SET price = price * 100")
        try expect(["1 500 a", "2 700 b"])
        #expect(try cluster.text(1, "SELECT name FROM _journal_migrations") == [])
    }

    @Test("a migration of a file without a change fails nothing")
    func emptyJournal() throws {
        let empty = try Cluster(1, schema: "CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER)")
        try RawConnection.writeLater(
            """
            INSERT INTO _journal_marks (name, after_seq) SELECT 'cents', coalesce(max(seq), 0) FROM _journal;
            UPDATE item SET price = price * 100;
            UPDATE _journal_marks SET last_seq = (SELECT coalesce(max(seq), 0) FROM _journal) WHERE last_seq IS NULL
            """, at: empty.members[0].path)
        try empty.inboxes[0].bringBackHeldRows()
        #expect(try empty.text(0, "SELECT name FROM _journal_marks") == [])
    }

    @Test("ranks survive compaction, and go with their entries")
    func compaction() throws {
        try migrate(0, "cents", "UPDATE item SET price = price * 100")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT count(*) || '' FROM _journal_migrated") == ["2"])
        try user(0, "UPDATE item SET price = 1 WHERE id = 1")
        try cluster.converge()
        for (reader, writer) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
            try cluster.members[reader].hear(cluster.members[writer])
        }
        #expect(try cluster.members[1].compactWhatIsStable() > 0)
        #expect(try cluster.text(1, "SELECT count(*) || '' FROM _journal_migrated") == ["1"])
        try expect(["1 1 a", "2 700 b"])
    }
}
