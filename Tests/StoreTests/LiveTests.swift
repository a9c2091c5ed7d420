import Dispatch
import Foundation
import Store
import Testing

@Suite("Live objects")
struct LiveTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("[1] [18] [T4] bulk updates refresh live objects, outside and inside of transactions")
    func bulkUpdate() throws {
        let people = try Person.create(from: 0..<20, in: db) {
            $0.name = "p\($1)"; $0.age = 1; $0.createdTime = .now
        }
        #expect(try Person.execute("UPDATE $T SET age = age + 1", in: db) == 20)
        #expect(people.allSatisfy { $0.age == 2 })
        try db.transaction {
            try Person.execute("UPDATE $T SET age = age + 1", in: db)
            #expect(people.allSatisfy { $0.age == 3 })
            try people[0].save { $0.age = ($0.age ?? 0) + 10 }
            try db.execute("UPDATE Person SET age = age + 100 WHERE id = ?", people[0].id)
            #expect(people[0].age == 113)
        }
        #expect(people[0].age == 113)
        #expect(people[1].age == 3)
    }

    @Test("[T2] [T11] [17] objects are marked after a bulk DELETE, also one without WHERE")
    func bulkDelete() throws {
        let people = try Person.create(from: 0..<4, in: db) {
            $0.name = "p\($1)"; $0.createdTime = .now
        }
        try Person.execute("DELETE FROM $T WHERE $PK = ?", people[0].id, in: db)
        #expect(people.map(\.isDeleted) == [true, false, false, false])
        try db.execute("DELETE FROM Person")
        #expect(people.allSatisfy { $0.isDeleted })
        #expect(try Person.all(in: db).isEmpty)
    }

    @Test("[18] REPLACE marks the rows that it evicts")
    func replace() throws {
        let bob = try test.person("Bob")
        try db.execute("REPLACE INTO Person (id, name, created_time) VALUES (99, 'Bob', 1)")
        #expect(bob.isDeleted)
        #expect(try Person.find(99, in: db)?.name == "Bob")
    }

    @Test("[18] a changed key is a deleted object and a new one")
    func changedKey() throws {
        let bob = try test.person("Bob")
        try db.execute("UPDATE Person SET id = 5")
        #expect(bob.isDeleted)
        #expect(try Person.find(5, in: db)?.name == "Bob")
    }

    @Test("[15] [T1] reload returns true for an existing row, and marks the object of a missing one")
    func reload() throws {
        let bob = try test.person("Bob")
        #expect(try bob.reload())
        try db.execute("DELETE FROM Person")
        #expect(try bob.reload() == false)
        #expect(bob.isDeleted)
    }

    @Test("[3] objects that nobody holds are released, and read again on demand")
    func weak() throws {
        let id = try test.person("Bob").id
        weak let released = try Person.find(id, in: db)
        #expect(released == nil)
        #expect(try Person.find(id, in: db)?.name == "Bob")
    }

    @Test("[3] tasks that request one row at the same time, in any way, get one object")
    func oneObject() async throws {
        let id = try test.person("Bob", age: 1).id
        let db = db
        for _ in 0..<20 {
            // Nobody holds it when the round begins.
            let found = try await withThrowingTaskGroup(of: Person?.self, returning: [Person?].self) { group in
                for way in 0..<8 { group.addTask { try LiveTests.find(id, way, in: db) } }
                var people: [Person?] = []
                for try await person in group { people.append(person) }
                return people
            }
            let objects = found.compactMap { person in person.map { ObjectIdentifier($0) } }
            #expect(objects.count == 8 && Set(objects).count == 1)
        }
    }

    private static func find(_ id: Int64, _ way: Int, in db: Database) throws -> Person? {
        switch way % 4 {
        case 0: try Person.find(id, in: db)
        case 1: try Person.where("name = ?", "Bob").first(in: db)
        case 2: try Person.where(\.age == 1).first(in: db)
        default: try db.transaction { try Person.find([id], in: db).first }
        }
    }

    @Test("[30] two models of one table both follow it, each with objects of its own")
    func twoModels() throws {
        let bob = try test.person("Bob", age: 1)
        let view = try #require(try PersonView.find(bob.id, in: db))
        try bob.save { $0.name = "Robert" }
        #expect(view.name == "Robert")
        try view.save { $0.name = "Rob" }
        #expect(bob.name == "Rob")
    }

    @Test("[T3] [38] a rollback restores memory, and objects that it created do not exist")
    func rollback() throws {
        let bob = try test.person("Bob", age: 1)
        let ann = try test.person("Ann")
        let journal = try test.journalCount()
        var made: Person?
        #expect(throws: Refused.self) {
            try db.transaction {
                try bob.save { $0.age = 2 }
                try Person.execute("UPDATE $T SET name = name || '!'", in: db)
                try ann.delete()
                made = try test.person("New")
                #expect(bob.name == "Bob!" && bob.age == 2 && ann.isDeleted)
                throw Refused()
            }
        }
        #expect(bob.name == "Bob" && bob.age == 1)
        #expect(!ann.isDeleted && ann.name == "Ann")
        #expect(made?.isDeleted == true)
        #expect(made?.existsInDatabase == false)
        #expect(try Person.count(in: db) == 2)
        #expect(try test.journalCount() == journal)
        #expect(try bob.save { $0.age = 3 })
    }

    @Test("[T10] [T15] [37] a failed inner transaction undoes its own part, and the outer one continues and commits")
    func savepoints() throws {
        let bob = try test.person("Bob", age: 1)
        try db.transaction {
            try bob.save { $0.age = 2 }
            try? db.transaction {
                try bob.save { $0.name = "Inner" }
                try Person.execute("UPDATE $T SET age = 50", in: db)
                #expect(bob.name == "Inner" && bob.age == 50)
                throw Refused()
            }
            #expect(bob.name == "Bob" && bob.age == 2)
            try db.transaction {
                try bob.save { $0.name = "Second" }
                #expect(code { try test.person("Second") } == .unique)
            }
            #expect(bob.name == "Second" && bob.age == 2)
        }
        #expect(bob.name == "Second" && bob.age == 2)
        let row = try db.rows("SELECT name, age FROM Person")
        #expect(row[0].values == [.text("Second"), .integer(2)])
    }

    @Test("[37] [49] other threads do not see uncommitted changes")
    func isolation() async throws {
        let bob = try test.person("Bob", age: 1)
        let db = db
        try db.transaction {
            try bob.save { $0.age = 2 }
            let made = try test.person("New")
            let (age, isFound, found) = try onAnotherThread {
                (bob.age, try Person.find(bob.id, in: db) === bob, try Person.find(made.id, in: db))
            }
            #expect(age == 1)
            #expect(isFound)
            #expect(found == nil)
            #expect(bob.age == 2)
        }
        #expect(bob.age == 2)
    }

    @Test("[49] no update is lost: the additions of tasks to one number at the same time add up")
    func noLostUpdate() async throws {
        let bob = try test.person("Bob", age: 0)
        let id = bob.id
        let db = db
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for _ in 0..<10 {
                        if worker % 2 == 0 {
                            try #require(try Person.find(id, in: db)).save { $0.age = ($0.age ?? 0) + 1 }
                        } else {
                            try Person.execute("UPDATE $T SET age = age + 1 WHERE $PK = ?", id, in: db)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(bob.age == 80)
        #expect(try db.value(Int.self, "SELECT age FROM Person") == 80)
    }

    @Test("[48] an object of another database is refused")
    func otherDatabase() throws {
        let other = try TestDatabase()
        let stranger = try other.person("Stranger")
        #expect(code { try Person.save([stranger], in: db) { $0.age = 1 } } == .otherDatabase)
    }
}

/// A second model of the table of ``Person``.
@Model(table: "person")
final class PersonView {
    var id: Int64
    var name: String = ""
}

/// Runs `body` on a thread of its own and waits for it.
@discardableResult
func onAnotherThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    let outcome = OutcomeBox<Result>()
    let thread = Thread { outcome.set(Swift.Result { try body() }) }
    thread.start()
    return try outcome.wait().get()
}

@Suite("Snapshots and names")
struct SnapshotTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("[49] reads run beside each other and beside a write")
    func concurrentReads() throws {
        try test.person("Bob", age: 1)
        let db = db
        let arrived = DispatchSemaphore(value: 0)
        let mayLeave = DispatchSemaphore(value: 0)
        let ages = (0..<2).map { _ in OutcomeBox<Int?>() }
        try db.transaction {
            try db.execute("UPDATE Person SET age = 2")
            for age in ages {
                Thread {
                    age.set(
                        Swift.Result {
                            try db.read {
                                let value = try db.value(Int.self, "SELECT age FROM Person")
                                arrived.signal()
                                mayLeave.wait()
                                return value
                            }
                        })
                }.start()
            }
            // Both are inside of their reads at this point, or never: neither may leave before.
            let deadline = DispatchTime.now() + 20
            for _ in ages { #expect(arrived.wait(timeout: deadline) == .success) }
            for _ in ages { mayLeave.signal() }
        }
        for age in ages { #expect(try age.wait().get() == 1) }
    }

    @Test("[49] a read sees one moment; objects first read in it are refreshed when it ends")
    func staleSnapshot() throws {
        let id = try test.person("Bob", age: 1).id
        let db = db
        let bob = try db.read {
            #expect(try db.value(Int.self, "SELECT age FROM Person") == 1)
            try onAnotherThread { _ = try db.execute("UPDATE Person SET age = 2") }
            let bob = try #require(try Person.find(id, in: db))
            #expect(bob.age == 1)
            return bob
        }
        #expect(bob.age == 2)
        try bob.save { $0.age = ($0.age ?? 0) + 1 }
        #expect(bob.age == 3)
    }

    @Test("[49] an object that another thread finds while a transaction changes its row is right after the commit")
    func foundDuringTransaction() throws {
        let id = try test.person("Bob", age: 1).id
        let db = db
        var bob: Person?
        try db.transaction {
            try db.execute("UPDATE Person SET age = 2")
            let found = try onAnotherThread { try Person.find(id, in: db) }
            #expect(try onAnotherThread { found?.age } == 1)
            bob = found
        }
        #expect(bob?.age == 2)
    }

    @Test("[38] an object first read inside of a transaction that rolls back shows the committed values")
    func readInRolledBack() throws {
        let id = try test.person("Bob", age: 1).id
        var bob: Person?
        try? db.transaction {
            try db.execute("UPDATE Person SET age = 2")
            bob = try Person.find(id, in: db)
            #expect(bob?.age == 2)
            throw Refused()
        }
        #expect(bob?.age == 1)
        #expect(bob?.isDeleted == false)
    }

    @Test("[38] after a schema change that an inner transaction undoes, capture and models still work")
    func undoneSchemaChange() throws {
        let bob = try test.person("Bob", age: 1)
        try db.transaction {
            try? db.transaction {
                try db.execute("ALTER TABLE Person ADD COLUMN extra TEXT; CREATE TABLE Extra (id INTEGER PRIMARY KEY)")
                try db.execute("UPDATE Person SET extra = 'x'")
                throw Refused()
            }
            try db.execute("UPDATE Person SET age = 2")
            try bob.save { $0.name = "Robert" }
        }
        #expect(bob.age == 2 && bob.name == "Robert")
        try db.execute("UPDATE Person SET age = 3")
        #expect(bob.age == 3)
    }

    @Test("[T16] names with quotes, keywords and other scripts are quoted right")
    func names() throws {
        try db.execute("CREATE TABLE \"we\"\"ird\" (\"select\" INTEGER PRIMARY KEY, \"ü \"\"x\" TEXT NOT NULL)")
        let weird = try Weird.create(in: db) { $0.text = "a" }
        try weird.save { $0.text = "b" }
        try Weird.execute("UPDATE $T SET \"ü \"\"x\" = 'c' WHERE $PK = ?", weird.id, in: db)
        #expect(weird.text == "c")
        try weird.delete()
        #expect(try Weird.count(in: db) == 0)
    }
}

@Model(table: "we\"ird")
final class Weird {
    @PrimaryKey @Column("select") var key: Int64
    @Column("ü \"x") var text: String = ""
}
