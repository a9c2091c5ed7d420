import Foundation
import GRDB
import Store
import TestSupport
import Testing

@Suite("Databases and schemas")
struct DatabaseTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open(_ schema: (inout SchemaBuilder) -> Void = { _ in }) throws -> Store.Database {
        try Store.Database(path: path, options: TestDatabase.options, schema: schema)
    }

    private static func first(_ schema: inout SchemaBuilder) {
        schema.version(1) { try $0.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)") }
    }

    @Test("versions run once each, in order, and capture follows them")
    func versions() throws {
        var db = try open(DatabaseTests.first)
        let note = try Note.create(in: db) { $0.text = "a" }
        #expect(try db.value(Int.self, "PRAGMA user_version") == 1)
        let id = note.id
        try db.close()
        db = try open {
            DatabaseTests.first(&$0)
            $0.version(3) {
                try $0.execute(
                    "ALTER TABLE Note ADD COLUMN stars INTEGER NOT NULL DEFAULT 0; UPDATE Note SET stars = 5")
            }
        }
        #expect(try db.value(Int.self, "PRAGMA user_version") == 3)
        let starred = try #require(try StarredNote.find(id, in: db))
        #expect(starred.stars == 5)
        try starred.save { $0.stars = 4 }
        let columns = try db.values(String.self, "SELECT columns FROM _journal_tables WHERE tracked")
        #expect(columns.count == 1 && columns[0].contains("stars"))
        try db.close()
    }

    @Test("a version that fails leaves the schema, its number and the journal as they were")
    func failedVersion() throws {
        try open(DatabaseTests.first).close()
        let failure = code {
            _ = try open {
                DatabaseTests.first(&$0)
                $0.version(2) {
                    try $0.execute("CREATE TABLE Other (id INTEGER PRIMARY KEY)")
                    try $0.execute("nonsense")
                }
            }
        }
        #expect(failure == .sql)
        let db = try open()
        #expect(try db.value(Int.self, "PRAGMA user_version") == 1)
        #expect(try db.values(String.self, "SELECT name FROM sqlite_master WHERE name = 'Other'").isEmpty)
        #expect(try db.values(String.self, "SELECT name FROM _journal_tables") == ["Note"])
        try db.close()
    }

    @Test("a file of a later release is refused, and versions must rise")
    func wrongVersions() throws {
        try open { $0.version(5) { try $0.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT)") } }.close()
        #expect(code { _ = try open(DatabaseTests.first) } == .newerSchema)
        #expect(
            code {
                _ = try open {
                    $0.version(2) { _ in }; $0.version(2) { _ in }
                }
            } == .invalidSchema)
    }

    @Test("opened without versions, a file's user_version is left alone")
    func foreignUserVersion() throws {
        try open(DatabaseTests.first).close()
        let db = try open()
        try db.execute("PRAGMA user_version = 77")
        try db.close()
        let again = try open()
        #expect(try again.value(Int.self, "PRAGMA user_version") == 77)
        try again.close()
    }

    @Test("tables made later by raw SQL are captured, and a rebuilt table stays so")
    func laterTables() throws {
        let db = try open(DatabaseTests.first)
        try db.transaction {
            try db.execute("CREATE TABLE Later (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            try db.execute("INSERT INTO Later VALUES (1, 'x')")
        }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        let note = try Note.create(in: db) { $0.text = "kept" }
        try db.execute(
            """
            CREATE TABLE Note2 (id INTEGER PRIMARY KEY, text TEXT NOT NULL, extra TEXT);
            INSERT INTO Note2 (id, text) SELECT id, text FROM Note;
            DROP TABLE Note;
            ALTER TABLE Note2 RENAME TO Note;
            """)
        try note.save { $0.text = "changed" }
        #expect(note.text == "changed")
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 2") == 1)
        try db.close()
    }

    @Test("an existing SQLite file without a journal is refused unless it may be adopted")
    func adoption() throws {
        let plain = try DatabaseQueue(path: path)
        try plain.write {
            try $0.execute(
                sql:
                    "CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL); INSERT INTO Note VALUES (1, 'old')"
            )
        }
        try plain.close()
        #expect(code { _ = try open() } == .notAReplica)
        var options = TestDatabase.options
        options.adoptsExistingFile = true
        let db = try Store.Database(path: path, options: options)
        #expect(try Note.find(1, in: db)?.text == "old")
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        try db.close()
    }

    @Test("files that cannot be opened give a typed error")
    func badFiles() throws {
        var options = TestDatabase.options
        options.createIfMissing = false
        #expect(code { _ = try Store.Database(path: path, options: options) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data("not a database, by far not one, but long enough to be looked at".utf8).write(
            to: URL(fileURLWithPath: path))
        #expect(code { _ = try open() } == .notADatabase)
    }

    @Test("use after close throws, of the database and of its objects; closing again does nothing")
    func closed() throws {
        let db = try open(DatabaseTests.first)
        let note = try Note.create(in: db) { $0.text = "a" }
        #expect(code { try db.transaction { try db.close() } } == .busy)
        try db.close()
        try db.close()
        #expect(code { try note.save { $0.text = "b" } } == .closed)
        #expect(code { try note.delete() } == .closed)
        #expect(code { _ = try Note.find(note.id, in: db) } == .closed)
        #expect(code { _ = try db.rows("SELECT 1") } == .closed)
        #expect(code { try db.execute("DELETE FROM Note") } == .closed)
        #expect(code { try db.refresh() } == .closed)
        #expect(note.text == "a")
    }

    @Test("a deferred foreign key that fails at COMMIT restores memory")
    func failedCommit() throws {
        let db = try open {
            $0.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE Note (
                      id INTEGER PRIMARY KEY, text TEXT NOT NULL,
                      parent INTEGER REFERENCES Note (id) DEFERRABLE INITIALLY DEFERRED)
                    """)
            }
        }
        let note = try Note.create(in: db) { $0.text = "a" }
        let failure = code {
            try db.transaction {
                try note.save { $0.text = "b" }
                try db.execute("UPDATE Note SET parent = 99")
            }
        }
        #expect(failure == .foreignKey)
        #expect(note.text == "a")
        #expect(try note.save { $0.text = "c" })
        try db.close()
    }

    @Test("RAISE(ROLLBACK) ends the transaction: everything is undone, and the next one works")
    func raisedRollback() throws {
        let db = try open(DatabaseTests.first)
        try db.execute(
            """
            CREATE TRIGGER refuse BEFORE UPDATE ON Note WHEN NEW.text = 'bad' BEGIN
              SELECT RAISE(ROLLBACK, 'refused');
            END
            """)
        let note = try Note.create(in: db) { $0.text = "a" }
        let failure = code {
            try db.transaction {
                try note.save { $0.text = "b" }
                _ = try? db.transaction { try note.save { $0.text = "bad" } }
                try note.save { $0.text = "d" }
            }
        }
        #expect(failure == .transactionAborted)
        #expect(note.text == "a")
        #expect(try note.save { $0.text = "c" })
        #expect(try db.value(String.self, "SELECT text FROM Note") == "c")
        try db.close()
    }
}

@Model
final class Note {
    var id: Int64
    var text: String = ""
}

@Model(table: "Note")
final class StarredNote {
    var id: Int64
    var text: String = ""
    var stars: Int = 0
}
