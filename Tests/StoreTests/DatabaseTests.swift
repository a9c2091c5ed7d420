import Dispatch
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

    @Test("[33] versions run once each, in order, and capture follows them")
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

    @Test("[33] a failed version changes neither the schema, its number nor the journal")
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

    /// Opens with versions 2 and 5 after the first one, and records which of them run.
    private func upgrade(_ steps: Collected<Int>, failing: Bool = false) throws -> Store.Database {
        try open { schema in
            DatabaseTests.first(&schema)
            schema.version(2) { step in
                steps.append(2)
                try step.execute("ALTER TABLE Note ADD COLUMN stars INTEGER NOT NULL DEFAULT 0")
                try step.execute("UPDATE Note SET stars = 2")
            }
            schema.version(5) { step in
                steps.append(5)
                try step.execute("UPDATE Note SET text = text || stars")
                if failing { throw Refused() }
            }
        }
    }

    @Test("[33] the versions of one opening are one transaction: when the last fails, those before it are undone, too")
    func versionsTogether() throws {
        let first = try open(DatabaseTests.first)
        try Note.create(1, in: first) { $0.text = "a" }
        try first.close()
        let steps = Collected<Int>()
        #expect(throws: Refused.self) { _ = try upgrade(steps, failing: true) }
        #expect(steps.all == [2, 5])
        let unchanged = try open()
        #expect(try unchanged.value(Int.self, "PRAGMA user_version") == 1)
        #expect(try unchanged.values(String.self, "SELECT name FROM pragma_table_info('Note')") == ["id", "text"])
        #expect(try unchanged.value(String.self, "SELECT text FROM Note") == "a")
        #expect(try unchanged.values(Int.self, "SELECT op FROM _journal ORDER BY seq") == [1])
        try unchanged.close()

        let done = try upgrade(steps)
        #expect(steps.all == [2, 5, 2, 5])
        #expect(done.schemaReport.previousVersion == 1 && done.schemaReport.version == 5)
        #expect(try done.value(Int.self, "PRAGMA user_version") == 5)
        // The second version sees what the first one wrote, and the journal has both changes in one
        // transaction.
        #expect(try done.value(String.self, "SELECT text FROM Note") == "a2")
        #expect(try done.values(Int.self, "SELECT op FROM _journal ORDER BY seq") == [1, 2, 2])
        #expect(try done.values(Int.self, "SELECT seq FROM _journal WHERE tx = 1 ORDER BY seq") == [1, 3])
        try done.close()
        try upgrade(steps).close()
        #expect(steps.all.count == 4)
    }

    @Test("[33] a version runs once, for any number of simultaneous openings")
    func openedTogether() throws {
        let first = try open(DatabaseTests.first)
        let path = path
        let steps = Collected<Int>()
        let failures = Collected<String>()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let db = try Store.Database(path: path, options: TestDatabase.options) { schema in
                    DatabaseTests.first(&schema)
                    schema.version(2) { step in
                        steps.append(2)
                        try step.execute("CREATE TABLE Other (id INTEGER PRIMARY KEY)")
                    }
                }
                try db.close()
            } catch {
                failures.append("\(error)")
            }
        }
        #expect(failures.all.isEmpty, "\(failures.all)")
        #expect(steps.all == [2])
        #expect(try first.value(Int.self, "PRAGMA user_version") == 2)
        try first.close()
    }

    @Test("[33] a file of a later release is refused, and versions must rise")
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

    @Test("[33] without versions, a file's user_version does not change")
    func foreignUserVersion() throws {
        try open(DatabaseTests.first).close()
        let db = try open()
        try db.execute("PRAGMA user_version = 77")
        try db.close()
        let again = try open()
        #expect(try again.value(Int.self, "PRAGMA user_version") == 77)
        try again.close()
    }

    @Test("[53] tables created later by raw SQL are captured, and a rebuilt table stays captured")
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

    @Test("[50] an existing SQLite file without a journal is refused unless adopting it is allowed")
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

    @Test("[50] [52] files that cannot be opened are a typed error")
    func badFiles() throws {
        var options = TestDatabase.options
        options.createIfMissing = false
        #expect(code { _ = try Store.Database(path: path, options: options) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data("not a database, by far not one, but long enough to be looked at".utf8).write(
            to: URL(fileURLWithPath: path))
        #expect(code { _ = try open() } == .notADatabase)
    }

    @Test("[51] use after close throws, for the database and for its objects; closing again does nothing")
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

    @Test("[38] a deferred foreign key that fails at COMMIT restores memory")
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

    @Test("[37] [38] RAISE(ROLLBACK) ends the transaction: everything is undone, and the next one works")
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
