import GRDB
import Journal
import Sync
import Testing

/// Different spellings of a key can mean one row: the merged state decides which spelling the row shows.
@Suite("One key in several spellings")
struct KeySpellingTests {
    private static let schema = """
        CREATE TABLE tag(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER, code TEXT UNIQUE);
        CREATE TABLE word(w TEXT COLLATE RTRIM PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TABLE number(k PRIMARY KEY NOT NULL, v TEXT);
        """

    @Test("the spelling of the later insert is shown on every machine, in any order of arrival")
    func laterInsert() throws {
        let cluster = try Cluster(4, schema: Self.schema)
        try cluster.execute(
            0, "INSERT INTO tag VALUES('a', 1, NULL); INSERT INTO word VALUES('x'); INSERT INTO number VALUES(1, 'i')")
        try cluster.execute(
            1,
            "INSERT INTO tag VALUES('A', 1, NULL); INSERT INTO word VALUES('x  '); INSERT INTO number VALUES(1.0, 'i')")
        try cluster.pull(2, from: 0)
        try cluster.pull(2, from: 1)
        try cluster.pull(3, from: 1)
        try cluster.pull(3, from: 0)
        try cluster.converge()
        for index in 0..<4 {
            #expect(
                try cluster.content(index) == [
                    "number: real:1.0 | text:'i'", "tag: text:'A' | integer:1 | null:NULL", "word: text:'x  '",
                ], "replica \(index)")
            // It is one key, so its spelling alone is no conflict.
            #expect(try cluster.ledger(index).isEmpty, "replica \(index)")
        }
    }

    @Test("changes of a row whose inserts have not arrived are held in the same bytes, in any order of arrival")
    func insertsMissing() throws {
        let cluster = try Cluster(6, schema: Self.schema)
        try cluster.executeLater(0, "INSERT INTO tag VALUES('a', 1, NULL)")
        try cluster.executeLater(1, "INSERT INTO tag VALUES('A', 1, NULL)")
        try cluster.pull(2, from: 0)
        try cluster.pull(3, from: 1)
        try cluster.executeLater(2, "UPDATE tag SET n = 2")
        try cluster.executeLater(3, "UPDATE tag SET code = 'x'")
        let inserts = VersionVector(
            (0...1).map { .init(origin: OriginID(high: UInt64($0) + 1, low: 1), version: 1) })
        let updates = try [2, 3].map { try cluster.batches(from: $0, after: inserts) }
        for batch in updates[0] + updates[1] { _ = try cluster.inboxes[4].receive(batch) }
        for batch in updates[1] + updates[0] { _ = try cluster.inboxes[5].receive(batch) }
        let held = "SELECT reason || hex(image) FROM _journal_held"
        #expect(try cluster.text(4, held).count == 1)
        #expect(try cluster.text(4, held) == cluster.text(5, held))
        try cluster.converge()
        for index in 0..<6 {
            #expect(try cluster.text(index, "SELECT name || n || code FROM tag") == ["A2x"], "replica \(index)")
        }
    }

    @Test(
        "an update does not decide the spelling of a key, and a write that changes the spelling changes it everywhere")
    func others() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 1, NULL), ('b', 1, NULL)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE tag SET name = 'B' WHERE name = 'b'")
        try cluster.execute(1, "UPDATE tag SET n = 2 WHERE name = 'A'")
        try cluster.converge()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "tag: text:'B' | integer:1 | null:NULL", "tag: text:'a' | integer:2 | null:NULL",
                ], "replica \(index)")
        }
    }

    @Test("a held row is spelled by the same rule when it returns")
    func held() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO tag VALUES('other', 1, 'c')")
        try cluster.execute(1, "INSERT INTO tag VALUES('a', 1, 'c')")
        try cluster.execute(2, "INSERT INTO tag VALUES('A', 1, 'c')")
        try cluster.pull(0, from: 1)
        try cluster.pull(0, from: 2)
        try cluster.pull(1, from: 2)
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM tag WHERE name = 'other'")
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["tag: text:'A' | integer:1 | text:'c'"], "replica \(index)")
        }
    }

    // MARK: - Before the table exists

    private static let tag = "CREATE TABLE tag(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER)"

    /// The third machine has no table of tags yet.
    private func latecomer() throws -> Cluster {
        try Cluster(schemas: [Self.tag, Self.tag, "CREATE TABLE other(id INTEGER PRIMARY KEY)"])
    }

    private func migrate(_ cluster: Cluster) throws {
        try cluster.execute(2, Self.tag)
        try cluster.inboxes[2].bringBackHeldRows()
    }

    @Test(
        "two spellings that arrive before their table are one row when it is created, as on machines that had it",
        arguments: [("a", "A"), ("A", "a")])
    func beforeMigration(earlier: String, later: String) throws {
        let cluster = try latecomer()
        try cluster.execute(0, "INSERT INTO tag VALUES('\(earlier)', 1)")
        try cluster.execute(1, "INSERT INTO tag VALUES('\(later)', 2)")
        try cluster.converge()
        try migrate(cluster)
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["tag: text:'\(later)' | integer:2"], "replica \(index)")
        }
        // Before it knew the collation of the keys, it could not see the conflict (docs/CONFLICTS.md,
        // "Different schemas").
        #expect(try cluster.ledger(0).count == 1 && cluster.ledger(1) == cluster.ledger(0))
        #expect(try cluster.ledger(2).isEmpty)
    }

    @Test("the life of a key that was deleted before the table was created continues, in any spelling")
    func lifeBeforeMigration() throws {
        let cluster = try latecomer()
        try cluster.execute(0, "INSERT INTO tag VALUES('Ann', 1)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM tag")
        try cluster.converge()
        try migrate(cluster)
        try cluster.execute(2, "INSERT INTO tag VALUES('Ann', 2)")
        try cluster.converge()
        try cluster.execute(0, "UPDATE tag SET n = 3")
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["tag: text:'Ann' | integer:3"], "replica \(index)")
        }
    }

    @Test("a change from before the table was created wins over an earlier change that arrives afterwards")
    func changeBeforeMigration() throws {
        let cluster = try latecomer()
        try cluster.execute(0, "INSERT INTO tag VALUES('Ann', 1)")
        try cluster.converge()
        try cluster.execute(1, "UPDATE tag SET n = 2")
        try cluster.executeLater(0, "UPDATE tag SET n = 3")
        try cluster.pull(2, from: 0)
        try migrate(cluster)
        try cluster.converge()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["tag: text:'Ann' | integer:3"], "replica \(index)")
        }
    }

    // MARK: - A new collation of keys

    private static let exact = "CREATE TABLE tag(name TEXT PRIMARY KEY NOT NULL, n INTEGER)"

    /// Rebuilds the table with `collation` for its keys.
    ///
    /// - Parameter rows: The clauses after `FROM tag`.
    private func rebuild(_ cluster: Cluster, _ index: Int, _ collation: String, _ rows: String) throws {
        try cluster.execute(
            index,
            """
            CREATE TABLE new_tag(name TEXT COLLATE \(collation) PRIMARY KEY NOT NULL, n INTEGER);
            INSERT OR IGNORE INTO new_tag SELECT * FROM tag \(rows); DROP TABLE tag; ALTER TABLE new_tag RENAME TO tag
            """)
    }

    @Test("a migration of the keys' collation sends the rows that it changed, and nothing else")
    func rebuilt() throws {
        let cluster = try Cluster(2, schema: Self.exact)
        try cluster.execute(0, "INSERT INTO tag VALUES('Ann', 1), ('Bob', 2), ('Cy', 3)")
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO tag VALUES('Di', 4), ('Ed', 5)")
        try cluster.converge()
        let own = OriginID(high: 2, low: 1)
        let before = try cluster.inboxes[1].vector()[own]
        try rebuild(cluster, 1, "NOCASE", "WHERE name NOT IN ('Bob', 'Ed')")
        try cluster.converge()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "tag: text:'Ann' | integer:1", "tag: text:'Cy' | integer:3", "tag: text:'Di' | integer:4",
                ], "replica \(index)")
        }
        // The two deletes.
        #expect(try cluster.inboxes[1].vector()[own] == before + 2)
    }

    @Test("two keys that become one have one spelling on every machine, although each kept another of them")
    func collapsed() throws {
        let cluster = try Cluster(2, schema: Self.exact)
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 1)")
        try cluster.executeLater(1, "INSERT INTO tag VALUES('A', 2)")
        try cluster.converge()
        try rebuild(cluster, 0, "NOCASE", "ORDER BY n")
        try rebuild(cluster, 1, "NOCASE", "ORDER BY n DESC")
        try cluster.converge()
        // The first machine wrote 1 where the sum of the two was 2.
        for index in 0..<2 {
            #expect(try cluster.content(index) == ["tag: text:'A' | integer:1"], "replica \(index)")
        }
    }

    @Test("a child with another spelling of its parent's key is held and shown with the parent")
    func child() throws {
        let cluster = try Cluster(
            2, schema: Self.schema + "CREATE TABLE use(id INTEGER PRIMARY KEY, tag TEXT REFERENCES tag(name));")
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 1, NULL)")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM tag")
        try cluster.execute(1, "INSERT INTO use VALUES(1, 'A')")
        try cluster.converge()
        for index in 0..<2 {
            #expect(try cluster.content(index).filter { $0.hasPrefix("use") }.isEmpty, "replica \(index)")
            #expect(try cluster.integrity(index).isEmpty, "replica \(index)")
        }
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 2, NULL)")
        try cluster.converge()
        for index in 0..<2 {
            #expect(try cluster.content(index).contains("use: integer:1 | text:'A'"), "replica \(index)")
        }
    }
}
