import Foundation
import GRDB
import Logging
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Opening and closing", .timeLimit(.minutes(1)))
struct OpenOptionsTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open(_ change: (inout Store.Database.Options) -> Void = { _ in }) throws -> Store.Database {
        var options = TestDatabase.options
        change(&options)
        return try Store.Database(path: path, options: options, schema: TestDatabase.declareSchema)
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test("[50] a read-only database reads rows and objects, refuses writes, and changes no byte")
    func readOnly() throws {
        let db = try open()
        let id = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }.id
        try db.close()
        let before = try bytes()
        let reader = try open { $0.isReadOnly = true }
        let bob = try #require(try Person.find(id, in: reader))
        #expect(bob.name == "Bob")
        #expect(code { try bob.save { $0.name = "x" } } == .readOnly)
        #expect(code { try bob.delete() } == .readOnly)
        #expect(code { try reader.execute("DELETE FROM Person") } == .readOnly)
        #expect(code { try reader.vacuum() } == .readOnly)
        #expect(code { try reader.transaction {} } == .readOnly)
        #expect(bob.name == "Bob" && !bob.isDeleted)
        // It follows other writers like any database.
        let writer = try open()
        try Person.find(id, in: writer)?.save { $0.name = "Robert" }
        try reader.refresh()
        #expect(bob.name == "Robert")
        try writer.close()
        try reader.close()
        let again = try open { $0.isReadOnly = true }
        let later = try bytes()
        _ = try Person.all(in: again)
        try again.close()
        #expect(try bytes() == later && before.count == later.count)
    }

    @Test(
        "[50] any SQLite file can be read without getting a journal; a missing one is not created, a newer one is refused"
    )
    func readOnlyPlain() throws {
        let plain = try RawConnection(path: path)
        try plain.run(
            "CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL); INSERT INTO Note VALUES (1, 'plain'); PRAGMA user_version = 7"
        )
        let before = try bytes()
        var options = Store.Database.Options()
        options.isReadOnly = true
        let db = try Store.Database(path: path, options: options)
        #expect(try Note.find(1, in: db)?.text == "plain")
        #expect(code { try db.execute("INSERT INTO Note VALUES (2, 'x')") } == .readOnly)
        try db.close()
        #expect(try bytes() == before)
        #expect(code { _ = try open { $0.isReadOnly = true } } == .newerSchema)
        #expect(code { _ = try Store.Database(path: directory.file("none"), options: options) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: directory.file("none")))
        #expect(try bytes() == before)
    }

    @Test("[50] a database in memory works like a file, on any thread, and is gone when it is closed")
    func inMemory() async throws {
        let db = try Store.Database.inMemory(schema: TestDatabase.declareSchema)
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.age = 0; $0.createdTime = .now
        }
        let changes = Person.changes(in: db)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<24 {
                        _ = try await db.write { try bob.save { $0.age = ($0.age ?? 0) + 1 } }
                        _ = try await db.read { try Person.all(in: db).count }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(bob.age == 192)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 2") == 192)
        for await change in changes {
            #expect(change.updated == [bob.id])
            break
        }
        try db.refresh()
        try Person.execute("UPDATE $T SET age = 1", in: db)
        #expect(bob.age == 1)
        try db.close()
        #expect(!FileManager.default.fileExists(atPath: ":memory:-checkpoint"))
        let other = try Store.Database.inMemory(schema: TestDatabase.declareSchema)
        #expect(try Person.count(in: other) == 0)
        try other.close()
    }

    @Test("[50] [53] durability, hooks and functions apply to every connection, and the key comes first")
    func connections() throws {
        let calls = Collected<String>()
        let db = try open {
            $0.durability = .full
            $0.unlock = {
                try $0.execute("PRAGMA key = 'secret'"); calls.append("unlock")
            }
            $0.prepare = {
                try $0.execute("PRAGMA cache_size = -4321"); calls.append("prepare")
            }
            $0.functions = [
                SQLFunction("shout", argumentCount: 1) { .text(try String(columnValue: $0[0]).uppercased()) },
                SQLFunction("fails", argumentCount: 0) { _ in throw Refused() },
            ]
        }
        #expect(try db.read { try db.value(Int.self, "PRAGMA cache_size") } == -4321)
        #expect(try db.transaction { try db.value(Int.self, "PRAGMA cache_size") } == -4321)
        #expect(try db.transaction { try db.value(Int.self, "PRAGMA synchronous") } == 2)
        let firsts = calls.all.prefix(2)
        #expect(
            firsts.first == "unlock"
                && calls.all.filter { $0 == "unlock" }.count >= calls.all.filter { $0 == "prepare" }.count)
        #expect(try db.value(String.self, "SELECT shout('a')") == "A")
        try Person.create(in: db) {
            $0.name = "bob"; $0.createdTime = .now
        }
        try db.execute("UPDATE Person SET name = shout(name)")
        #expect(try Person.first(in: db)?.name == "BOB")
        #expect(code { _ = try db.value(Int.self, "SELECT fails()") } == .sql)
        #expect(code { _ = try db.value(Int.self, "SELECT shout(x'FF', 2)") } == .sql)
        try db.close()
    }

    @Test("[50] a failing hook fails the opening, with a typed error")
    func failingHook() throws {
        #expect(code { _ = try open { $0.prepare = { try $0.execute("nonsense") } } } == .sql)
        let db = try open()
        try db.close()
    }

    @Test("[51] a closed database is opened again; its files are deleted when nobody has them open")
    func reopen() throws {
        var db = try open()
        let id = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }.id
        #expect(code { try Store.Database.deleteFiles(at: path) } == .busy)
        #expect(try Person.count(in: db) == 1)
        try db.close()
        db = try open()
        #expect(try Person.find(id, in: db)?.name == "Bob")
        try db.close()
        #expect(try Store.Database.deleteFiles(at: path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        #expect(try Store.Database.deleteFiles(at: path) == false)
        try Data("no database".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try Store.Database.deleteFiles(at: path))
    }

    @Test("[51] a database behind a symbolic link is itself deleted, with its log")
    func deleteByLink() throws {
        let elsewhere = TemporaryDirectory()
        let link = elsewhere.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try open().close()
        #expect(try Store.Database.deleteFiles(at: link))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test("[48] many databases at once keep their rows and objects apart")
    func many() throws {
        let databases = try (0..<20).map { index in
            try Store.Database(
                path: directory.file("\(index).sqlite"), options: TestDatabase.options,
                schema: TestDatabase.declareSchema)
        }
        let people = try databases.enumerated().map { index, db in
            try Person.create(1, in: db) {
                $0.name = "p\(index)"; $0.createdTime = .now
            }
        }
        try databases[3].transaction {
            try people[3].save { $0.age = 3 }
            _ = try databases[4].transaction { try people[4].save { $0.age = 4 } }
        }
        #expect(people.map(\.name) == (0..<20).map { "p\($0)" })
        #expect(people[3].age == 3 && people[4].age == 4 && people[5].age == nil)
        #expect(
            code { _ = try databases[0].transaction { try Person.save([people[1]], in: databases[0]) { $0.age = 1 } } }
                == .otherDatabase)
        for db in databases { try db.close() }
    }

    @Test("[52] [T9] after an error of any kind the database is usable, and the error has its code and SQLite's")
    func errorsDoNotClose() throws {
        let db = try open()
        for sql: Store.SQL in [
            "nonsense", "SELECT * FROM nowhere", "INSERT INTO Person (id) VALUES ('x')", "SELECT 1 +",
        ] {
            do {
                try db.execute(sql)
                Issue.record("no error")
            } catch let error as StoreError {
                #expect(error.sqliteCode != nil && error.operation == "executing SQL")
                #expect(error.sql == sql.text)
            }
            #expect(!db.isClosed)
            #expect(try Person.count(in: db) == 0)
        }
        try db.close()
    }

    @Test("[T10] an error in a transaction ends it; the next write and its event are not delayed")
    func thrownInTransaction() async throws {
        let db = try open()
        let changes = Person.changes(in: db)
        #expect(throws: Refused.self) {
            try db.transaction {
                try Person.create(in: db) {
                    $0.name = "lost"; $0.createdTime = .now
                }
                throw Refused()
            }
        }
        let other = try RawConnection(path: path)
        #expect(other.execute("BEGIN IMMEDIATE; ROLLBACK") == 0)
        let ann = try Person.create(in: db) {
            $0.name = "Ann"; $0.createdTime = .now
        }
        for await change in changes {
            #expect(change.inserted == [ann.id])
            break
        }
        try db.close()
    }

    @Test("[T11] DELETE without WHERE reports every row")
    func truncate() async throws {
        let db = try open()
        let people = try Person.create(from: 0..<3, in: db) {
            $0.name = "p\($1)"; $0.createdTime = .now
        }
        let changes = Person.changes(in: db)
        try db.execute("DELETE FROM Person")
        for await change in changes {
            #expect(Set(change.deleted) == Set(people.map(\.id)))
            break
        }
        #expect(people.allSatisfy { $0.isDeleted })
        try db.close()
    }

    @Test("[T13] a save never replaces another row, and an automatic schema never drops an index that it did not make")
    func neverReplaces() throws {
        let db = try Store.Database(path: path, options: TestDatabase.options) {
            $0.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE Contact (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, name TEXT NOT NULL UNIQUE ON CONFLICT REPLACE);
                    CREATE INDEX mine ON Contact (name, id);
                    """)
            }
            $0.automatic(NarrowContact.self)
        }
        let bob = try NarrowContact.create(in: db) { $0.name = "Bob" }
        let ann = try NarrowContact.create(in: db) { $0.name = "Ann" }
        #expect(code { try NarrowContact.create(in: db) { $0.name = "Bob" } } == .unique)
        #expect(code { try ann.save { $0.name = "Bob" } } == .unique)
        #expect(code { try NarrowContact.create(bob.id, in: db) { $0.name = "Third" } } == .primaryKey)
        #expect(try NarrowContact.count(in: db) == 2 && !bob.isDeleted)
        #expect(try db.value(Int.self, "SELECT count(*) FROM sqlite_master WHERE name = 'mine'") == 1)
        try db.close()
    }

    @Test(
        "[T15] texts with NUL, empty data and each constraint by its own name; a failed write leaves nothing in memory")
    func exactValues() throws {
        let db = try open()
        let row = try Everything.create("k", in: db) {
            $0.text = "a\u{0}b"; $0.data = Data(); $0.uuid = UUID(); $0.mood = .good
        }
        #expect(try db.value(Int.self, "SELECT length(CAST(text AS BLOB)) FROM \"every thing\"") == 3)
        #expect(try db.value(String.self, "SELECT typeof(data) FROM \"every thing\"") == "blob")
        #expect(try row.reload() && row.text == "a\u{0}b" && row.data == Data())
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }
        #expect(code { try bob.save { $0.age = 999 } } == .check)
        #expect(code { try bob.save { $0.id = 5 } } == .keyChanged)
        #expect(code { try Item.create(in: db) { $0.owner = 5 } } == .foreignKey)
        #expect(bob.age == nil)
        #expect(try Person.find(bob.id, in: db)?.age == nil)
        try db.close()
    }

    @Test("[T15] a savepoint that was rolled back is released, too: the file does not stay locked")
    func savepointReleased() throws {
        let db = try open()
        try db.transaction {
            for _ in 0..<3 {
                try? db.transaction {
                    try db.execute("CREATE TABLE gone (id INTEGER PRIMARY KEY)")
                    throw Refused()
                }
            }
            try Person.create(in: db) {
                $0.name = "kept"; $0.createdTime = .now
            }
        }
        let other = try RawConnection(path: path)
        #expect(try other.rows("SELECT name FROM Person") == [[.text("kept")]])
        #expect(other.execute("BEGIN IMMEDIATE; ROLLBACK") == 0)
        try db.close()
    }
}
