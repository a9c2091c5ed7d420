import GRDB
import Journal
import Sync
import Testing

/// Keys of different content can stand for one row: the merged state says which content the row shows.
@Suite("One key in several spellings")
struct KeySpellingTests {
    private static let schema = """
        CREATE TABLE tag(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER, code TEXT UNIQUE);
        CREATE TABLE word(w TEXT COLLATE RTRIM PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TABLE number(k PRIMARY KEY NOT NULL, v TEXT);
        """

    @Test("the later insert's spelling stands on every machine, in whatever order the inserts come")
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
        try cluster.settle()
        for index in 0..<4 {
            #expect(
                try cluster.content(index) == [
                    "number: real:1.0 | text:'i'", "tag: text:'A' | integer:1 | null:NULL", "word: text:'x  '",
                ], "replica \(index)")
            // It is one key: its spelling alone is no conflict.
            #expect(try cluster.ledger(index).isEmpty, "replica \(index)")
        }
    }

    @Test("an update decides nothing about the key, and a key that is spelled anew is spelled so everywhere")
    func others() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 1, NULL), ('b', 1, NULL)")
        try cluster.settle()
        try cluster.execute(0, "UPDATE tag SET name = 'B' WHERE name = 'b'")
        try cluster.execute(1, "UPDATE tag SET n = 2 WHERE name = 'A'")
        try cluster.settle()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "tag: text:'B' | integer:1 | null:NULL", "tag: text:'a' | integer:2 | null:NULL",
                ], "replica \(index)")
        }
    }

    @Test("a row that is held is spelled by the same rule when it returns")
    func held() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO tag VALUES('other', 1, 'c')")
        try cluster.execute(1, "INSERT INTO tag VALUES('a', 1, 'c')")
        try cluster.execute(2, "INSERT INTO tag VALUES('A', 1, 'c')")
        try cluster.pull(0, from: 1)
        try cluster.pull(0, from: 2)
        try cluster.pull(1, from: 2)
        try cluster.settle()
        try cluster.execute(0, "DELETE FROM tag WHERE name = 'other'")
        try cluster.settle()
        for index in 0..<3 {
            #expect(try cluster.content(index) == ["tag: text:'A' | integer:1 | text:'c'"], "replica \(index)")
        }
    }

    @Test("a child that spells its parent's key otherwise goes and comes with the parent")
    func child() throws {
        let cluster = try Cluster(
            2, schema: Self.schema + "CREATE TABLE use(id INTEGER PRIMARY KEY, tag TEXT REFERENCES tag(name));")
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 1, NULL)")
        try cluster.settle()
        try cluster.execute(0, "DELETE FROM tag")
        try cluster.execute(1, "INSERT INTO use VALUES(1, 'A')")
        try cluster.settle()
        for index in 0..<2 {
            #expect(try cluster.content(index).filter { $0.hasPrefix("use") }.isEmpty, "replica \(index)")
            #expect(try cluster.integrity(index).isEmpty, "replica \(index)")
        }
        try cluster.execute(0, "INSERT INTO tag VALUES('a', 2, NULL)")
        try cluster.settle()
        for index in 0..<2 {
            #expect(try cluster.content(index).contains("use: integer:1 | text:'A'"), "replica \(index)")
        }
    }
}
