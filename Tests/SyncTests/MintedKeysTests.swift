import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: each inserted row is there once, and each reference leads to the row that its writer meant, whatever
/// keys SQLite chose on several machines.
@Suite("Two machines that add a row each have two rows, although SQLite chose one key for both")
struct MintedKeysTests {
    private static let schema = """
        CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE note(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user(id), body TEXT);
        CREATE TABLE tag(note_id INTEGER REFERENCES note(id), word TEXT, PRIMARY KEY(note_id, word));
        CREATE TABLE profile(user_id INTEGER PRIMARY KEY REFERENCES user(id), bio TEXT);
        CREATE TABLE picture(id INTEGER PRIMARY KEY, profile_id INTEGER REFERENCES profile(user_id), file TEXT);
        """

    /// Everything that hangs on each user, without the keys.
    private static let owned = """
        SELECT name || ': ' || coalesce((SELECT group_concat(body || '/' || coalesce(word, '-'), ' ') FROM
            (SELECT body, word FROM note LEFT JOIN tag ON note_id = note.id WHERE user_id = user.id ORDER BY body, word)), '')
          || coalesce(' ' || (SELECT bio FROM profile WHERE user_id = user.id), '')
          || coalesce(' ' || (SELECT group_concat(file) FROM picture WHERE profile_id = user.id), '')
        FROM user ORDER BY name
        """

    private static func add(_ name: String) -> String {
        """
        INSERT INTO user(name) VALUES ('\(name)');
        INSERT INTO note(user_id, body) VALUES (last_insert_rowid(), 'note of \(name)');
        INSERT INTO tag VALUES (last_insert_rowid(), 'tag of \(name)');
        INSERT INTO profile SELECT id, 'bio of \(name)' FROM user WHERE name = '\(name)';
        INSERT INTO picture(profile_id, file) SELECT id, 'file of \(name)' FROM user WHERE name = '\(name)'
        """
    }

    private static func all(of name: String) -> String {
        "\(name): note of \(name)/tag of \(name) bio of \(name) file of \(name)"
    }

    private static func expect(
        _ rows: [String], _ cluster: Cluster, _ sql: String = owned, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try cluster.converge()
        for machine in cluster.members.indices {
            #expect(try cluster.text(machine, sql) == rows, "machine \(machine)", sourceLocation: sourceLocation)
            #expect(try cluster.integrity(machine) == [], sourceLocation: sourceLocation)
        }
        try cluster.expectEqual(sourceLocation: sourceLocation)
    }

    @Test("the rows of both stay, with all that refers to them, three levels deep")
    func both() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        try Self.expect([Self.all(of: "Ann"), Self.all(of: "Bob")], cluster)
        // The earlier insert keeps the key.
        #expect(try cluster.text(0, "SELECT name FROM user WHERE id = 1") == ["Ann"])
        #expect(try cluster.text(0, "SELECT count(*) FROM user WHERE id < 0") == ["1"])
        // The next key that SQLite chooses is free.
        try cluster.executeLater(1, Self.add("Cid"))
        try Self.expect([Self.all(of: "Ann"), Self.all(of: "Bob"), Self.all(of: "Cid")], cluster)
        #expect(try cluster.text(0, "SELECT id FROM user WHERE name = 'Cid'") == ["2"])
    }

    @Test("what others write to the row before they have heard of its new key follows it, also through a relay")
    func later() throws {
        let cluster = try Cluster(4, schema: Self.schema)
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        try cluster.pull(2, from: 1)
        try cluster.executeLater(
            2, "UPDATE user SET name = 'Bobby' WHERE id = 1; INSERT INTO note(user_id, body) VALUES (1, 'second')")
        try cluster.pull(3, from: 0)
        try cluster.executeLater(3, "UPDATE user SET name = 'Anna' WHERE id = 1")
        try cluster.pull(0, from: 1)
        try cluster.pull(3, from: 2)
        // This writer has seen both, so it means the row that has the key here.
        try cluster.executeLater(0, "UPDATE profile SET bio = 'bio of both' WHERE user_id = 1")
        try Self.expect(
            [
                "Anna: note of Ann/tag of Ann bio of both file of Ann",
                "Bobby: note of Bob/tag of Bob second/- bio of Bob file of Bob",
            ], cluster)
    }

    @Test("the ledger tells both keys on each machine, and restoring is refused: nothing was lost")
    func ledger() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Bob')")
        try cluster.converge()
        for machine in 0...1 {
            let entries = try cluster[machine].read { try ConflictEntry.all($0) }
            let entry = try #require(entries.first)
            #expect(entries.count == 1)
            #expect(entry.kind == .rekeyed)
            #expect(entry.lost.map(\.value) == [.integer(1)])
            let key = try #require(entry.key.first?.value)
            #expect(try cluster.text(machine, "SELECT name FROM user WHERE id = \(key.plainInteger)") == ["Bob"])
            #expect(throws: JournalError.self) {
                try cluster[machine].write { try ConflictLedger($0).restore([entry.id], time: 0) }
            }
        }
    }

    @Test("with a new identity, a row has the key at once that its insert's new name gives it (P1)")
    func newIdentity() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Bob')")
        // Nobody has Bob's row under its first name yet.
        try cluster.pull(1, from: 0)
        let before = try cluster.text(1, "SELECT id FROM user WHERE name = 'Bob'")
        #expect(try #require(try cluster.inboxes[1].rekey()).reissued == 1)
        let after = try cluster.content(1)
        #expect(try cluster.text(1, "SELECT id FROM user WHERE name = 'Bob'") != before)
        try cluster.inboxes[1].bringBackHeldRows()
        #expect(try cluster.content(1) == after)
        try cluster.pull(0, from: 1)
        #expect(try cluster.content(0) == after)
    }

    @Test("what a program wrote with the new key of its row stays with the row after a new identity, everywhere (P3)")
    func writtenBeforeNewIdentity() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        // Bob's row has got another key here, which the programs use. Nobody else has any of it yet.
        try cluster.pull(1, from: 0)
        try cluster.executeLater(
            1,
            """
            UPDATE user SET name = 'Bobby' WHERE name = 'Bob';
            INSERT INTO note(user_id, body) SELECT id, 'second' FROM user WHERE name = 'Bobby';
            UPDATE tag SET word = 'new tag' WHERE word = 'tag of Bob';
            """)
        #expect(try #require(try cluster.inboxes[1].rekey()).reissued > 5)
        let rows = [Self.all(of: "Ann"), "Bobby: note of Bob/new tag second/- bio of Bob file of Bob"]
        #expect(try cluster.text(1, Self.owned) == rows)
        // Once more: what was written follows from row to row.
        try cluster.executeLater(1, "UPDATE profile SET bio = 'new bio' WHERE bio = 'bio of Bob'")
        #expect(try cluster.inboxes[1].rekey() != nil)
        try Self.expect([rows[0], "Bobby: note of Bob/new tag second/- new bio file of Bob"], cluster)
    }

    @Test("equal rows are one; rows whose key the programs gave merge as always; a policy brings merging back")
    func merging() throws {
        let schema = "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT, mail TEXT)"
        for (first, second, expected) in [
            ("(name) VALUES ('Ann')", "(name) VALUES ('Ann')", ["1 Ann -"]),
            ("VALUES (1, 'Ann', NULL)", "VALUES (1, 'Bob', NULL)", ["1 Bob -"]),
        ] {
            let cluster = try Cluster(2, schema: schema)
            try cluster.executeLater(0, "INSERT INTO user \(first)")
            try cluster.executeLater(1, "INSERT INTO user \(second)")
            try Self.expect(expected, cluster, "SELECT id || ' ' || name || ' ' || coalesce(mail, '-') FROM user")
        }
        let natural = try Cluster(2, schema: schema)
        for member in natural.members { try member.replica.write { try MergePolicy.set(.column, table: "user", $0) } }
        try natural.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        try natural.executeLater(1, "INSERT INTO user(name) VALUES ('Bob')")
        try Self.expect(["1 Bob"], natural, "SELECT id || ' ' || name FROM user")
    }

    @Test("a given key stays, and a row whose key SQLite chose makes room, although it is earlier")
    func given() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(1, "INSERT INTO user VALUES (1, 'Bob')")
        try Self.expect(["Ann", "Bob"], cluster, "SELECT name FROM user ORDER BY name")
        #expect(try cluster.text(0, "SELECT name FROM user WHERE id = 1") == ["Bob"])
    }

    @Test("a change of a row whose insert has not arrived leaves a row alone that had the key before")
    func insertMissing() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
        try cluster.executeLater(0, "INSERT INTO t(n) VALUES (1)")
        try cluster.executeLater(1, "INSERT INTO t(n) VALUES (2); DELETE FROM t")
        try cluster.pull(1, from: 0)
        try cluster.executeLater(1, "UPDATE t SET n = 3 WHERE id = 1")
        // Machine 2 gets what machine 1 wrote without that which it had merged.
        let first = try cluster.batches(from: 0, to: 2)
        let have = VersionVector(first.flatMap(\.runs).map { .init(origin: $0.origin, version: 1) })
        for batch in try cluster.batches(from: 1, after: have) { _ = try cluster.members[2].inbox.receive(batch) }
        #expect(try cluster.text(2, "SELECT id FROM t") == [])
        #expect(try cluster.heldReasons(2) == [])
        try Self.expect(["3"], cluster, "SELECT n FROM t")
    }

    @Test("an insert that was ignored marks no received row")
    func ignored() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
        try cluster.executeLater(0, "INSERT INTO t VALUES (7, 1)")
        try cluster.converge()
        try cluster.executeLater(0, "INSERT INTO t VALUES (8, 2)")
        try cluster.executeLater(1, "INSERT OR IGNORE INTO t(n) VALUES (1)")
        try Self.expect(["7", "8"], cluster, "SELECT id FROM t ORDER BY id")
        #expect(try cluster.text(1, "SELECT seq FROM _journal_minted") == [])
    }

    @Test("a key that was deleted and chosen again on two machines is two rows as well")
    func chosenAgain() throws {
        let cluster = try Cluster(2, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Old')")
        try cluster.converge()
        try cluster.executeLater(0, "DELETE FROM user; INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(1, "DELETE FROM user; INSERT INTO user(name) VALUES ('Bob')")
        try Self.expect(["Ann", "Bob"], cluster, "SELECT name FROM user ORDER BY name")
        try cluster.executeLater(0, "DELETE FROM user WHERE name = 'Bob'")
        try Self.expect(["Ann"], cluster, "SELECT name FROM user ORDER BY name")
    }

    @Test("six machines and one key, in any order of meetings")
    func six() throws {
        let names = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"]
        let cluster = try Cluster(6, schema: Self.schema)
        for (machine, name) in names.enumerated() { try cluster.executeLater(machine, Self.add(name)) }
        for (target, source) in [(5, 4), (3, 5), (1, 3), (0, 2), (2, 1), (4, 0)] {
            try cluster.pull(target, from: source)
        }
        try Self.expect(names.map(Self.all), cluster)
        #expect(try cluster.text(0, "SELECT name FROM user WHERE id = 1") == ["Ann"])
    }

    @Test("two rows that an insert makes one have one life, in any order: who deleted one deleted the other (P1)")
    func becomesOne() throws {
        let cluster = try Cluster(4, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(id, name) VALUES (1, 'Ann')")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(2, "INSERT INTO user(id, name) VALUES (1, 'Cid')")
        try cluster.pull(2, from: 1)
        try cluster.executeLater(2, "DELETE FROM user WHERE id < 0")
        try cluster.pull(1, from: 2)
        // Its writer knows of two rows. One of them is that of machine 0, which is the other one.
        try cluster.executeLater(1, "UPDATE user SET name = 'Eve' WHERE id = 1")
        try cluster.pull(3, from: 0)
        try cluster.pull(3, from: 1)
        try cluster.pull(0, from: 1)
        for machine in [0, 3] {
            #expect(try cluster.text(machine, "SELECT name FROM user") == [], "machine \(machine)")
            #expect(try cluster.text(machine, "SELECT reason FROM _journal_held") == [], "machine \(machine)")
        }
        try Self.expect([], cluster, "SELECT name FROM user")
    }

    @Test("a machine that gets the table later has the same rows")
    func tableLater() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE other(id INTEGER PRIMARY KEY, x)")
        for machine in 0...1 {
            try cluster.executeLater(machine, Self.schema)
            // A daemon looks at the file. Rows that are there before it count as given.
            try cluster.inboxes[machine].bringBackHeldRows()
        }
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        try cluster.converge()
        try cluster.executeLater(2, Self.schema)
        try Self.expect([Self.all(of: "Ann"), Self.all(of: "Bob")], cluster)
    }

    @Test("a machine that gets a column later still tells in its ledger that two equal rows lost their key")
    func columnLater() throws {
        let cluster = try Cluster(4, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        for machine in 0...2 {
            try cluster.executeLater(machine, "ALTER TABLE user ADD COLUMN mail TEXT")
            try cluster.inboxes[machine].bringBackHeldRows()
        }
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        for machine in 1...2 { try cluster.executeLater(machine, "INSERT INTO user(name) VALUES ('Bob')") }
        try cluster.converge()
        try cluster.executeLater(3, "ALTER TABLE user ADD COLUMN mail TEXT")
        try cluster.inboxes[3].bringBackHeldRows()
        try Self.expect(["Ann", "Bob"], cluster, "SELECT name FROM user ORDER BY name")
        for machine in 0...3 {
            let entries = try cluster[machine].read { try ConflictEntry.all($0) }
            #expect(entries.map(\.kind) == [.rekeyed, .rekeyed], "machine \(machine)")
        }
    }

    @Test("an insert that gives the new key of a row goes on with that row, also beside an equal one")
    func givenNewKey() throws {
        let cluster = try Cluster(4, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        for machine in 1...2 { try cluster.executeLater(machine, "INSERT INTO user(name) VALUES ('Bob')") }
        for machine in 0...1 { try cluster.pull(3, from: machine) }
        let key = try cluster.text(3, "SELECT id FROM user WHERE name = 'Bob'")[0]
        try cluster.executeLater(3, "DELETE FROM user WHERE id = \(key); INSERT INTO user VALUES (\(key), 'Bobby')")
        for machine in 1...2 { try cluster.pull(0, from: machine) }
        try cluster.pull(0, from: 3)
        try Self.expect(["Ann", "Bobby"], cluster, "SELECT name FROM user ORDER BY name")
        for machine in 0...3 {
            #expect(try cluster.text(machine, "SELECT DISTINCT key FROM _journal_claims") == ["1"])
        }
    }

    @Test("peers get each change as its writer wrote it")
    func wire() throws {
        let cluster = try Cluster(3, schema: "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT)")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Bob')")
        let before = try cluster.batches(from: 1, to: 2)
        try cluster.pull(1, from: 0)
        let after = try cluster.batches(from: 1, to: 2)
        let keys = { (batches: [ChangeBatch]) in
            batches.flatMap { batch in batch.changes.compactMap { batch.key(of: $0).first } }
        }
        #expect(keys(before) == [.integer(1)])
        #expect(keys(after) == [.integer(1), .integer(1)])
        #expect(after.allSatisfy { $0.changes.allSatisfy(\.isMinted) })
    }
}

extension Value {
    fileprivate var plainInteger: Int64 { if case .integer(let number) = self { number } else { 0 } }
}
