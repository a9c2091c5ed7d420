import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: what merging writes is in the indexes that programs keep by triggers, and they are never
/// damaged.
@Suite("Full-text and spatial indexes of programs follow what peers write")
struct ProgramIndexTests {
    private static let fts5 = """
        CREATE TABLE post(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
        CREATE VIRTUAL TABLE post_index USING fts5(title, body, content='post', content_rowid='id');
        CREATE TRIGGER post_ai AFTER INSERT ON post BEGIN
          INSERT INTO post_index(rowid, title, body) VALUES (new.id, new.title, new.body);
        END;
        CREATE TRIGGER post_ad AFTER DELETE ON post BEGIN
          INSERT INTO post_index(post_index, rowid, title, body) VALUES('delete', old.id, old.title, old.body);
        END;
        CREATE TRIGGER "post au" AFTER UPDATE OF title, "body" ON "post" FOR EACH ROW WHEN new.id > 0 BEGIN
          INSERT INTO post_index(post_index, rowid, title, body) VALUES('delete', old.id, old.title, old.body);
          -- The new text; and a semicolon in a string ';'
          INSERT INTO [post_index](rowid, title, body) VALUES (new."id", new.title, new.body);
        END;
        """
    private static let fts4 = """
        CREATE TABLE post(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
        CREATE VIRTUAL TABLE post_index USING fts4(content="post", title, body);
        CREATE TRIGGER t2_bu BEFORE UPDATE ON post BEGIN DELETE FROM post_index WHERE docid=old.rowid; END;
        CREATE TRIGGER t2_bd BEFORE DELETE ON post BEGIN DELETE FROM post_index WHERE docid=old.rowid; END;
        CREATE TRIGGER t2_au AFTER UPDATE ON post BEGIN
          INSERT INTO post_index(docid, title, body) VALUES(new.rowid, new.title, new.body); END;
        CREATE TRIGGER t2_ai AFTER INSERT ON post BEGIN
          INSERT INTO post_index(docid, title, body) VALUES(new.rowid, new.title, new.body); END;
        """

    private static func found(_ word: String, _ cluster: Cluster, _ machine: Int) throws -> [String] {
        try cluster.text(machine, "SELECT rowid FROM post_index WHERE post_index MATCH '\(word)' ORDER BY 1")
    }

    @Test("by the recipes of SQLite's documents", arguments: [fts5, fts4])
    func recipes(schema: String) throws {
        let cluster = try Cluster(2, schema: schema)
        let rows = (1...40).map { "INSERT INTO post VALUES (\($0), 'title\($0)', 'apple')" }.joined(separator: ";")
        try cluster.executeLater(0, rows)
        try cluster.converge()
        #expect(try Self.found("title7", cluster, 1) == ["7"])
        #expect(try Self.found("apple", cluster, 1).count == 40)
        // The other machine changes and deletes rows that it has by merging.
        try cluster.executeLater(1, "UPDATE post SET body = 'pear' WHERE id = 7; DELETE FROM post WHERE id = 8")
        try cluster.executeLater(
            0,
            "UPDATE post SET title = 'first' WHERE id = 7; DELETE FROM post WHERE id = 9; INSERT INTO post VALUES (99, 'title9', 'apple')"
        )
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try Self.found("pear", cluster, machine) == ["7"])
            #expect(try Self.found("first", cluster, machine) == ["7"])
            #expect(try Self.found("title9", cluster, machine) == ["99"])
            #expect(try Self.found("title8", cluster, machine) == [])
            try cluster.execute(machine, "INSERT INTO post_index(post_index) VALUES ('integrity-check')")
        }
        try cluster.expectEqual()
    }

    @Test("a row that is held is not found, and is found when it returns")
    func held() throws {
        let cluster = try Cluster(2, schema: Self.fts5 + "CREATE UNIQUE INDEX by_title ON post(title)")
        try cluster.executeLater(0, "INSERT INTO post VALUES (1, 'same', 'apple')")
        try cluster.executeLater(1, "INSERT INTO post VALUES (2, 'same', 'pear')")
        try cluster.converge()
        for machine in 0..<2 { #expect(try Self.found("pear OR apple", cluster, machine) == ["1"]) }
        try cluster.executeLater(0, "UPDATE post SET title = 'other' WHERE id = 1")
        for inbox in cluster.inboxes { try inbox.bringBackHeldRows() }
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try Self.found("pear OR apple", cluster, machine) == ["1", "2"])
            try cluster.execute(machine, "INSERT INTO post_index(post_index) VALUES ('integrity-check')")
        }
    }

    @Test("an index that lacks rows is built anew when a merged change would damage it")
    func damaged() throws {
        let cluster = try Cluster(2, schema: Self.fts5)
        try cluster.executeLater(0, "INSERT INTO post VALUES (1, 'one', 'apple'), (2, 'two', 'pear')")
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO post_index(post_index) VALUES ('delete-all')")
        try cluster.executeLater(0, "UPDATE post SET body = 'plum' WHERE id = 1; DELETE FROM post WHERE id = 2")
        try cluster.converge()
        try cluster.execute(1, "INSERT INTO post_index(post_index) VALUES ('rebuild')")
        #expect(try Self.found("plum", cluster, 1) == ["1"])
    }

    @Test("an R-tree, and a trigger that also writes another table")
    func rtree() throws {
        let schema = """
            CREATE TABLE place(id INTEGER PRIMARY KEY, name TEXT, x REAL, y REAL);
            CREATE VIRTUAL TABLE place_index USING rtree(id, x0, x1, y0, y1);
            CREATE TABLE count(n INTEGER PRIMARY KEY, places INTEGER);
            INSERT INTO count VALUES (1, 0);
            CREATE TRIGGER place_ai AFTER INSERT ON place BEGIN
              UPDATE count SET places = places + 1;
              INSERT OR REPLACE INTO place_index VALUES (new.id, new.x, new.x, new.y, new.y);
            END;
            CREATE TRIGGER place_ad AFTER DELETE ON place BEGIN DELETE FROM place_index WHERE id = old.id; END;
            """
        let cluster = try Cluster(2, schema: schema)
        try cluster.executeLater(0, "INSERT INTO place VALUES (1, 'a', 1, 1), (2, 'b', 5, 5)")
        try cluster.executeLater(0, "DELETE FROM place WHERE id = 1")
        try cluster.converge()
        for machine in 0..<2 {
            #expect(try cluster.text(machine, "SELECT id FROM place_index WHERE x0 > 0") == ["2"])
            #expect(try cluster.text(machine, "SELECT places FROM count") == ["2"])
        }
        try cluster.expectEqual()
    }

    @Test("a trigger that needs a function of its program stops nothing; a dropped index is forgotten")
    func needsProgram() throws {
        let schema = """
            CREATE TABLE post(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
            CREATE VIRTUAL TABLE post_index USING fts5(title);
            CREATE TRIGGER post_ai AFTER INSERT ON post BEGIN
              INSERT INTO post_index(rowid, title) VALUES (new.id, plain_text(new.title));
            END;
            """
        let cluster = try Cluster(schemas: [Self.fts5, schema])
        try cluster.executeLater(0, "INSERT INTO post VALUES (1, 'one', 'apple')")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT title FROM post") == ["one"])
        try cluster.execute(1, "DROP TRIGGER post_ai; DROP TABLE post_index; ")
        try cluster.executeLater(0, "INSERT INTO post VALUES (2, 'two', 'apple')")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT title FROM post ORDER BY id") == ["one", "two"])
        try cluster.execute(1, "DROP TABLE post; " + Self.fts5)
        try cluster.executeLater(0, "INSERT INTO post VALUES (3, 'three', 'apple')")
        try cluster.converge()
        #expect(try Self.found("three", cluster, 1) == ["3"])
        try cluster.execute(
            1, "DROP TRIGGER post_ai; DROP TRIGGER post_ad; DROP TRIGGER \"post au\"; DROP TABLE post_index")
        try cluster.executeLater(0, "INSERT INTO post VALUES (4, 'four', 'apple')")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT title FROM post ORDER BY id").last == "four")
    }
}
