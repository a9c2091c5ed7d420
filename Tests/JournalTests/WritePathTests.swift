import Foundation
import GRDB
import Journal
import TestSupport
import Testing

/// Every write path of programs without Tandem.
@Suite("Write paths of other programs")
struct WritePathTests {
    private let directory = TemporaryDirectory()

    private static let schema = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, age INT, n INT DEFAULT NULL);
        CREATE TABLE tag (person INT REFERENCES person (id) ON DELETE CASCADE ON UPDATE CASCADE, tag TEXT COLLATE NOCASE,
          note TEXT, PRIMARY KEY (person, tag)) WITHOUT ROWID;
        CREATE TABLE audit (at TEXT, what TEXT, PRIMARY KEY (at, what));
        CREATE VIEW adults AS SELECT id, name FROM person WHERE age >= 18;
        CREATE TRIGGER adults_insert INSTEAD OF INSERT ON adults BEGIN
          INSERT INTO person (id, name, age) VALUES (NEW.id, NEW.name, 18); END;
        CREATE TRIGGER person_audit AFTER DELETE ON person BEGIN
          INSERT OR REPLACE INTO audit (at, what) VALUES ('x', 'deleted ' || OLD.name); END;
        CREATE TRIGGER person_n AFTER INSERT ON person WHEN NEW.n IS NULL BEGIN UPDATE person SET n = 1 WHERE id = NEW.id; END;
        CREATE VIRTUAL TABLE search USING fts5 (name, content = '');
        CREATE VIRTUAL TABLE notes USING fts5 (body);
        INSERT INTO person (id, name, email) VALUES (100, 'before', 'before@x');
        """

    /// Only the statements; each host wraps them in its own way.
    private static let script = """
        PRAGMA foreign_keys = ON;
        INSERT INTO person (id, name, email, age) VALUES (1, 'Ann', 'a@x', 30), (2, 'Bob', 'b@x', 17), (3, 'Cy', 'c@x', 5);
        INSERT INTO tag VALUES (1, 'red', NULL), (1, 'blue', 'x'), (2, 'red', NULL), (3, 'Green', '');
        UPDATE person SET age = age + 1;
        UPDATE person SET age = age;
        INSERT INTO person (id, name) VALUES (1, 'Anna') ON CONFLICT (id) DO UPDATE SET name = excluded.name;
        REPLACE INTO person (id, name, email) VALUES (4, 'Dee', 'b@x');
        UPDATE OR REPLACE person SET email = 'a@x' WHERE id = 3;
        UPDATE person SET id = 50 WHERE id = 4;
        UPDATE tag SET tag = 'GREEN' WHERE person = 3;
        BEGIN; INSERT INTO person (id, name) VALUES (5, 'Eve'); SAVEPOINT a; DELETE FROM tag; ROLLBACK TO a; RELEASE a; COMMIT;
        BEGIN; DELETE FROM person; ROLLBACK;
        INSERT INTO adults (id, name) VALUES (6, 'Fay');
        INSERT INTO notes VALUES ('not tracked'); INSERT INTO search (rowid, name) VALUES (1, 'Ann');
        ALTER TABLE tag ADD COLUMN weight REAL; UPDATE tag SET weight = 1.5;
        CREATE TABLE rebuilt (at TEXT, what TEXT, more TEXT, PRIMARY KEY (at, what)); INSERT INTO rebuilt SELECT at, what, 'm' FROM audit;
        PRAGMA legacy_alter_table = ON; DROP TABLE audit; ALTER TABLE rebuilt RENAME TO audit; PRAGMA legacy_alter_table = OFF;
        ATTACH ':memory:' AS other; CREATE TABLE other.person (id INTEGER PRIMARY KEY); INSERT INTO other.person VALUES (1);
        INSERT INTO main.person (id, name) SELECT id + 70, 'attached' FROM other.person; DETACH other;
        DELETE FROM person WHERE id = 6;
        VACUUM;
        INSERT INTO tag (person, tag) VALUES (5, 'last'); DELETE FROM tag;
        """

    private func makeReplica() throws -> Replica {
        let path = directory.file("a.sqlite")
        try RawConnection(path: path).run(Self.schema)
        let created = try Replica.create(at: path, InitializeRequest())
        #expect(created.report.tracked.map(\.table) == ["audit", "person", "tag"])
        #expect(created.report.untracked.isEmpty)
        return created.replica
    }

    @Test("everything that the sqlite3 shell writes is journalled")
    func shell() throws {
        let replica = try makeReplica()
        let result = try Program.run(["sqlite3", "-bail", replica.path], input: Self.script)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try ReplayCheck.differences(replica) == [])
        let tables = try replica.read { try JournalReader($0).entries(after: 0, limit: .max).map(\.shape.table) }
        #expect(Set(tables) == ["audit", "person", "tag"])
        #expect(tables.count > 30)
    }

    @Test("everything that Python's sqlite3 module writes is journalled")
    func python() throws {
        let replica = try makeReplica()
        let program = """
            import sqlite3, sys
            script = '''\(Self.script)'''
            db = sqlite3.connect(sys.argv[1])
            db.executescript(script)
            with db:
                db.executemany("INSERT INTO person (id, name, age) VALUES (?, ?, ?)", [(1000 + i, "p%d" % i, i) for i in range(50)])
            with db:
                db.execute("INSERT INTO audit VALUES (?, ?, ?)", ("nul", "a\\0b", b"\\x00\\xff"))
            try:
                with db:
                    db.execute("DELETE FROM person")
                    raise RuntimeError()
            except RuntimeError:
                pass
            db.execute("UPDATE person SET age = age * 2 WHERE id >= 1000")
            db.commit()
            db.execute("DELETE FROM person WHERE id % 2 = 0")
            db.commit()
            db.execute("INSERT INTO person (id, name) VALUES (9, 'never committed')")
            db.close()
            """
        let result = try Program.run(["python3", "-c", program, replica.path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try ReplayCheck.differences(replica) == [])
        #expect(try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person WHERE id >= 1000") } == 25)
    }
}
