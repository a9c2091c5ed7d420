import Foundation
import Store
import Testing

/// The database for the notes of `willInsert`, which has no object, unlike the other hooks.
private enum NoteBook {
    @TaskLocal static var database: Database?
}

/// A model whose hooks write: each inserts a note, an ``Item``.
@Model
final class Watched {
    var id: Int64
    var name: String = ""

    static func willInsert(_ fields: inout Fields) throws {
        if let database = NoteBook.database { try makeNote("insert", database) }
    }

    func willUpdate(_ fields: inout Fields) throws { try Watched.makeNote("update", database) }
    func willDelete() throws { try Watched.makeNote("delete", database) }

    private static func makeNote(_ title: String, _ database: Database) throws {
        try Item.create(in: database) { $0.title = title }
    }
}

@Suite("Failed writes in a transaction that continues")
struct FailedWriteTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try test.db.execute(
            """
            CREATE TABLE Watched (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE Watcher (id INTEGER PRIMARY KEY, watched INTEGER NOT NULL REFERENCES Watched (id));
            """)
    }

    @Test("[9] [38] a failed save undoes the writes of its block, in memory and in the file")
    func block() throws {
        let bob = try test.person("Bob", age: 1)
        let ann = try test.person("Ann", age: 1)
        let before = try test.journalCount()
        try db.transaction {
            let failure = code {
                try bob.save { draft in
                    try ann.save { $0.age = 7 }
                    draft.age = 999
                }
            }
            #expect(failure == .check)
            #expect(ann.age == 1 && bob.age == 1)
            #expect(throws: Refused.self) {
                try bob.save { _ in
                    try ann.delete()
                    throw Refused()
                }
            }
            #expect(!ann.isDeleted)
            #expect(try Person.count(in: db) == 2)
            try bob.save { $0.age = 2 }
        }
        #expect(ann.age == 1 && bob.age == 2 && ann.existsInDatabase)
        #expect(try test.journalCount() == before + 1)
    }

    @Test("[9] the SQL writes of a failed block are undone, in a transaction and in the block of a save")
    func otherWrites() throws {
        let bob = try test.person("Bob", age: 1)
        let ann = try test.person("Ann", age: 1)
        try db.transaction {
            #expect(throws: Refused.self) {
                try Person.modify(bob.id, in: db) { _ in
                    try db.execute("UPDATE Person SET age = 50")
                    _ = try db.transaction { try ann.save { $0.age = 60 } }
                    throw Refused()
                }
            }
            #expect(bob.age == 1 && ann.age == 1)
            try bob.save { draft in
                try ann.save { $0.age = 2 }
                #expect(throws: Refused.self) {
                    try ann.save { _ in
                        try test.person("Inner")
                        throw Refused()
                    }
                }
                draft.age = 3
            }
            #expect(bob.age == 3 && ann.age == 2)
        }
        #expect(bob.age == 3 && ann.age == 2)
        #expect(try db.values(Int.self, "SELECT age FROM Person ORDER BY name") == [2, 3])
    }

    @Test("[43] a refused write undoes the writes of its hook")
    func hooks() throws {
        let first = try Watched.create(in: db) { $0.name = "first" }
        let second = try Watched.create(in: db) { $0.name = "second" }
        let third = try Watched.makeUnsaved(in: db) { $0.name = "first" }
        try db.execute("INSERT INTO Watcher VALUES (1, \(first.id))")
        let before = try test.journalCount()
        try db.transaction {
            #expect(code { try second.save { $0.name = "first" } } == .unique)
            #expect(code { try first.delete() } == .foreignKey)
            NoteBook.$database.withValue(db) {
                #expect(code { try third.save() } == .unique)
                #expect(code { try Watched.create(in: db) { $0.name = "first" } } == .unique)
                #expect(code { try Watched.findOrCreate(9, in: db) { $0.name = "first" } } == .unique)
            }
            let items = try Item.count(in: db)
            #expect(items == 0)
            #expect(second.name == "second" && !first.isDeleted && third.isNew)
        }
        #expect(try Item.count(in: db) == 0 && Watched.count(in: db) == 2)
        #expect(try test.journalCount() == before)
        _ = try db.transaction { try second.save { $0.name = "third" } }
        #expect(try db.values(String.self, "SELECT title FROM Item") == ["update"])
    }

    @Test("[37] a block that continues after SQLite ended the transaction writes nothing more")
    func endedInside() throws {
        try db.execute(
            """
            CREATE TRIGGER ending BEFORE UPDATE ON Person WHEN NEW.age = 66 BEGIN
              SELECT RAISE(ROLLBACK, 'ended');
            END
            """)
        let bob = try test.person("Bob", age: 1)
        let ann = try test.person("Ann", age: 1)
        let before = try test.journalCount()
        func end() { _ = try? ann.save { $0.age = 66 } }
        let saving = code {
            try bob.save { draft in
                end()
                draft.age = 2
            }
        }
        #expect(saving == .transactionAborted)
        let creating = code {
            try Person.create(in: db) { draft in
                end()
                draft.name = "Kim"
                draft.createdTime = .now
            }
        }
        #expect(creating == .transactionAborted)
        #expect(try db.values(Int.self, "SELECT age FROM Person") == [1, 1])
        #expect(bob.age == 1 && ann.age == 1)
        #expect(try test.journalCount() == before)
        #expect(try bob.save { $0.age = 3 })
    }

    @Test("[9] a save in a transaction has a savepoint only when its block writes")
    func savepoints() throws {
        let statements = Collected<String>()
        var options = TestDatabase.options
        options.profile = { statements.append($0.sql) }
        let db = try Database.inMemory(options: options, schema: TestDatabase.declareSchema)
        let people = try Person.create(from: 0..<2, in: db) {
            $0.name = "p\($1)"
            $0.createdTime = .now
        }
        func savepoints() -> Int { statements.all.filter { $0.hasPrefix("SAVEPOINT") }.count }
        let before = savepoints()
        try db.transaction {
            for person in people { try person.save { $0.age = 1 } }
        }
        #expect(savepoints() == before)
        _ = try db.transaction {
            try people[0].save { draft in
                draft.age = 2
                try people[1].save { $0.age = 2 }
            }
        }
        #expect(savepoints() == before + 1)
        try db.close()
    }
}
