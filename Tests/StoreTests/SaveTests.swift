import Foundation
import Store
import Testing

@Suite("Saves")
struct SaveTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("[4] [7] create generates a positive random key, and find returns the same object")
    func createAndFind() throws {
        let bob = try test.person("Bob")
        #expect(bob.id > 0)
        #expect(bob.name == "Bob")
        #expect(try Person.find(bob.id, in: db) === bob)
        #expect(try Person.where("name = \("Bob")").first(in: db) === bob)
        #expect(try test.person("Ann").id != bob.id)
    }

    @Test("[7] a given key is used, and the same key again is refused as a taken primary key")
    func givenKey() throws {
        let first = try Person.create(7, in: db) {
            $0.name = "Seven"; $0.createdTime = .now
        }
        #expect(first.id == 7)
        #expect(
            code {
                try Person.create(7, in: db) {
                    $0.name = "Again"; $0.createdTime = .now
                }
            } == .primaryKey)
        #expect(try Person.count(in: db) == 1)
    }

    @Test("[7] findOrCreate makes a row once")
    func findOrCreate() throws {
        let made = try Person.findOrCreate(5, in: db) {
            $0.name = "Five"; $0.createdTime = .now
        }
        let found = try Person.findOrCreate(5, in: db) {
            $0.name = "Other"; $0.createdTime = .now
        }
        #expect(made === found)
        #expect(found.name == "Five")
    }

    @Test("[9] [13] save writes only the changed columns, and reports that it wrote")
    func changedColumnsOnly() throws {
        let bob = try test.person("Bob", age: 30)
        #expect(try bob.save { $0.age = 31 })
        let masks = try db.values(Int.self, "SELECT mask FROM _journal WHERE op = 2")
        #expect(masks == [0b100])
        #expect(bob.age == 31)
    }

    @Test("[42] a save that changes nothing writes nothing")
    func noOp() throws {
        let bob = try test.person("Bob", age: 30)
        let before = try test.journalCount()
        #expect(try bob.save { $0.age = 30 } == false)
        #expect(try bob.save { _ in } == false)
        #expect(try test.journalCount() == before)
    }

    @Test("[9] a failed save changes neither memory, file nor journal")
    func failedSave() throws {
        let bob = try test.person("Bob", age: 30)
        try test.person("Ann")
        let before = try test.journalCount()
        #expect(
            code {
                try bob.save {
                    $0.name = "Ann"; $0.age = 1
                }
            } == .unique)
        #expect(throws: Refused.self) {
            try bob.save {
                $0.name = "Changed"
                throw Refused()
            }
        }
        #expect(bob.name == "Bob")
        #expect(bob.age == 30)
        #expect(try test.journalCount() == before)
        #expect(try db.value(String.self, "SELECT name FROM Person WHERE id = ?", bob.id) == "Bob")
    }

    @Test("[T9] after errors of every kind the database is usable")
    func usableAfterErrors() throws {
        let bob = try test.person("Bob")
        for _ in 0..<3 {
            #expect(code { try db.execute("UPDATE nonsense SET x = 1") } == .missingTable)
            #expect(code { try db.execute("SELEKT") } == .sql)
            #expect(code { try test.person("Bob") } == .unique)
        }
        #expect(try bob.save { $0.name = "Robert" })
    }

    @Test("[4] [T5] a taken generated key is drawn again, and after many tries it is an error")
    func keyCollision() throws {
        try db.execute("CREATE TABLE Colliding (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)")
        try Colliding.keys.use([1, 1, 1, 2]) { () throws in
            #expect(try Colliding.create(in: db).id == 1)
            #expect(try Colliding.create(in: db).id == 2)
        }
        try Colliding.keys.use([1]) { () throws in
            #expect(code { try Colliding.create(in: db) } == .keyCollision)
        }
        // The sixteenth try is the last.
        let taken = Array(repeating: Int64(1), count: 15)
        try Colliding.keys.use(taken + [3]) { () throws in
            #expect(try Colliding.create(in: db).id == 3)
        }
        try Colliding.keys.use(taken + [1, 4]) { () throws in
            #expect(code { try Colliding.create(in: db) } == .keyCollision)
        }
        try db.execute("DELETE FROM Colliding")
        try Colliding.keys.use([3]) { () throws in
            #expect(try Colliding.create(in: db).id == 3)
        }
    }

    @Test("[31] a required property without a value is named, before SQL runs")
    func missingValue() throws {
        let error = #expect(throws: StoreError.self) { try Person.create(in: db) { $0.name = "Bob" } }
        #expect(error?.code == .missingValue)
        #expect(error?.column == "created_time")
        #expect(error?.table == "Person")
    }

    @Test("[31] missing values are reported before any SQL writes")
    func missingValueBeforeSQL() throws {
        let statements = Collected<String>()
        var options = Database.Options()
        options.profile = { statements.append($0.sql) }
        let db = try Database.inMemory(options: options, schema: TestDatabase.declareSchema)
        #expect(code { try Person.create(in: db) { $0.name = "Bob" } } == .missingValue)
        #expect(!statements.all.contains(Person.insertSQL))
        try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }
        #expect(statements.all.contains(Person.insertSQL))
        try db.close()
    }

    @Test("[9] the key of a row cannot be changed by a save")
    func keyChange() throws {
        let bob = try test.person("Bob")
        #expect(code { try bob.save { $0.id = 1 } } == .keyChanged)
    }

    @Test("[17] [T8] delete is idempotent and has one event")
    func delete() throws {
        let bob = try test.person("Bob")
        #expect(try bob.delete())
        #expect(bob.isDeleted)
        #expect(bob.name == "Bob")
        #expect(try db.values(Int64.self, "SELECT v0 FROM _journal WHERE op = 3") == [bob.id])
        let before = try test.journalCount()
        #expect(try bob.delete() == false)
        #expect(try test.journalCount() == before)
        #expect(code { try bob.save { $0.name = "x" } } == .deleted)
        #expect(try Person.find(bob.id, in: db) == nil)
    }

    @Test("[8] a deleted object in memory lives again with its row")
    func resurrection() throws {
        let bob = try test.person("Bob")
        try bob.delete()
        let again = try Person.create(bob.id, in: db) {
            $0.name = "Bob again"; $0.createdTime = .now
        }
        #expect(again === bob)
        #expect(!bob.isDeleted)
        #expect(bob.name == "Bob again")
    }

    @Test("[11] save-all writes all rows or none")
    func saveAll() throws {
        let people = try Person.create(from: 0..<10, in: db) {
            $0.name = "p\($1)"; $0.age = $1; $0.createdTime = .now
        }
        #expect(try Person.save(people, in: db) { $0.age = ($0.age ?? 0) + 1 } == 10)
        #expect(people.map(\.age) == (1...10).map { $0 })
        let failed = code { try Person.save(people, in: db) { $0.age = ($0.age ?? 0) == 10 ? 999 : 0 } }
        #expect(failed == .check)
        #expect(people.map(\.age) == (1...10).map { $0 })
        #expect(try db.value(Int.self, "SELECT sum(age) FROM Person") == 55)
    }

    @Test(
        "[11] insert adds rows without objects, all or none; their events are the usual ones, and they revive objects in memory",
        .timeLimit(.minutes(1)))
    func insertRows() async throws {
        let ann = try test.person("Ann")
        try ann.delete()
        let events = Person.changes(in: db).makeAsyncIterator()
        let count = try Person.insertRows(from: 1...600, in: db) {
            $0.name = "p\($1)"; $0.createdTime = .now
        }
        #expect(count == 600 && db.metrics.liveObjects["Person"] == 1)
        let event = try #require(await events.next())
        #expect(Set(event.inserted).count == 600 && event.changes.count == 600)
        let journal = try test.journalCount()
        let failure = code {
            try Person.insertRows(from: ["new", "p1"], in: db) {
                $0.name = $1; $0.createdTime = .now
            }
        }
        #expect(failure == .unique)
        #expect(try test.journalCount() == journal && Person.count(in: db) == 600)
        try Person.insertRows(from: ["Ann again"], in: db) {
            $0.id = ann.id; $0.name = $1; $0.createdTime = .now
        }
        #expect(!ann.isDeleted && ann.name == "Ann again")
        #expect(try #require(await events.next()).inserted == [ann.id])
    }

    @Test("[9] a save inside of the block of a save of the same object keeps both changes")
    func reentrantSave() throws {
        let bob = try test.person("Bob", age: 1)
        try bob.save { draft in
            draft.name = "Robert"
            try bob.save { $0.age = 2 }
        }
        #expect(bob.name == "Robert")
        #expect(bob.age == 2)
    }

    @Test("[9] [T13] a save never replaces another row, even where the schema says ON CONFLICT REPLACE")
    func noReplace() throws {
        try db.execute(
            "CREATE TABLE Colliding (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, n INTEGER NOT NULL UNIQUE ON CONFLICT REPLACE)"
        )
        let first = try Colliding.create(1, in: db) { $0.n = 1 }
        let second = try Colliding.create(2, in: db) { $0.n = 2 }
        #expect(code { try Colliding.create(1, in: db) { $0.n = 3 } } == .primaryKey)
        #expect(code { try second.save { $0.n = 1 } } == .unique)
        #expect(!first.isDeleted)
        #expect(try Colliding.count(in: db) == 2)
    }

    @Test("[30] a transient property is kept in memory, changes inside of save, and is never written")
    func transient() throws {
        let bob = try test.person("Bob")
        let before = try test.journalCount()
        #expect(try bob.save { $0.isSelected = true } == false)
        #expect(bob.isSelected)
        try db.execute("UPDATE Person SET age = 5")
        #expect(bob.age == 5)
        #expect(bob.isSelected)
        #expect(try test.journalCount() == before + 1)
    }

    @Test("[9] a trigger that changes the row again is visible in memory")
    func userTrigger() throws {
        try db.execute(
            """
            CREATE TRIGGER shout AFTER UPDATE OF name ON Person WHEN NEW.name <> upper(NEW.name) BEGIN
              UPDATE Person SET name = upper(NEW.name) WHERE id = NEW.id;
            END
            """)
        let bob = try test.person("Bob")
        try bob.save { $0.name = "robert" }
        #expect(bob.name == "ROBERT")
    }

    @Test("[17] a foreign-key action marks the objects whose rows it deleted")
    func cascade() throws {
        let bob = try test.person("Bob")
        let item = try Item.create(in: db) {
            $0.title = "hat"; $0.owner = bob.id
        }
        try bob.delete()
        #expect(item.isDeleted)
    }
}

/// A model whose generated keys come from a list.
@Model
final class Colliding {
    var id: Int64
    var n: Int = 0

    static let keys = KeyList()
    static func makePrimaryKey() throws -> Int64? { keys.next() }
}
