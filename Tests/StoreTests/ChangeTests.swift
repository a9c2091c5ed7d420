import Foundation
import Journal
import Store
import Testing

@Suite("Change events", .timeLimit(.minutes(1)))
struct ChangeTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("[39] [40] one event for each commit, with kinds, keys, columns and origin")
    func events() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        let bob = try test.person("Bob", age: 1)
        let first = try #require(await events.next())
        #expect(first.inserted == [bob.id] && first.origin == .local && first.isComplete)
        try bob.save {
            $0.age = 2; $0.name = "Robert"
        }
        let second = try #require(await events.next())
        #expect(second.updated == [bob.id])
        #expect(second.columns == ["age", "name"])
        try db.transaction {
            try bob.save { $0.age = 3 }
            try bob.save { $0.name = "Rob" }
            try test.person("Ann")
            try Person.execute("UPDATE $T SET age = 4 WHERE name = 'Rob'", in: db)
        }
        let third = try #require(await events.next())
        #expect(third.changes.count == 2)
        #expect(third.changes.first { $0.id == bob.id }?.columns == ["age", "name"])
        #expect(third.inserted.count == 1)
        try bob.delete()
        let fourth = try #require(await events.next())
        #expect(fourth.deleted == [bob.id])
        #expect(fourth.columns.isEmpty)
    }

    @Test("[T3] [T8] [42] no event for a rollback, a no-op, or a second delete")
    func silence() async throws {
        let bob = try test.person("Bob", age: 1)
        let events = Person.changes(in: db).makeAsyncIterator()
        try bob.save { $0.age = 1 }
        try db.execute("UPDATE Person SET age = 1")
        try? db.transaction {
            try bob.save { $0.age = 2 }
            throw Refused()
        }
        try? db.transaction {
            try db.execute("UPDATE Person SET age = 3")
            throw Refused()
        }
        try db.transaction {
            let passing = try test.person("Passing")
            try passing.delete()
        }
        try bob.delete()
        try bob.delete()
        try test.person("Marker")
        let deleted = try #require(await events.next())
        #expect(deleted.deleted == [bob.id] && deleted.changes.count == 1)
        #expect(try #require(await events.next()).inserted.count == 1)
    }

    @Test("[38] a part of a transaction that was rolled back is not in its event")
    func savepointEvent() async throws {
        let bob = try test.person("Bob", age: 1)
        let events = Person.changes(in: db).makeAsyncIterator()
        try db.transaction {
            try bob.save { $0.age = 2 }
            try? db.transaction {
                try bob.save { $0.name = "Inner" }
                try test.person("Inner person")
                throw Refused()
            }
        }
        let event = try #require(await events.next())
        #expect(event.changes.count == 1)
        #expect(event.columns == ["age"])
    }

    @Test("[T7] a model with another name than its table gets its events")
    func otherName() async throws {
        let events = PersonView.changes(in: db).makeAsyncIterator()
        let bob = try test.person("Bob")
        #expect(try #require(await events.next()).inserted == [bob.id])
    }

    @Test("[18] [39] bulk SQL, foreign-key actions and triggers are reported with exact keys")
    func bulkEvents() async throws {
        let people = try Person.create(from: 0..<3, in: db) {
            $0.name = "p\($1)"; $0.age = $1; $0.createdTime = .now
        }
        let item = try Item.create(in: db) { $0.owner = people[0].id }
        let persons = Person.changes(in: db).makeAsyncIterator()
        let items = Item.changes(in: db).makeAsyncIterator()
        try Person.execute("UPDATE $T SET age = 7 WHERE age > 0", in: db)
        #expect(Set(try #require(await persons.next()).updated) == [people[1].id, people[2].id])
        try db.execute("DELETE FROM Person WHERE id = ?", people[0].id)
        #expect(try #require(await persons.next()).deleted == [people[0].id])
        #expect(try #require(await items.next()).deleted == [item.id])
    }

    @Test("[47] [48] a second database on the same file follows the first, and sends its events")
    func secondDatabase() async throws {
        let bob = try test.person("Bob", age: 1)
        let other = try Database(path: test.path, options: TestDatabase.options)
        let same = try #require(try Person.find(bob.id, in: other))
        #expect(same !== bob)
        let events = Person.changes(in: other).makeAsyncIterator()
        try bob.save { $0.age = 2 }
        let event = try #require(await events.next())
        #expect(event.updated == [bob.id] && event.origin == .local)
        #expect(same.age == 2)
        try same.save { $0.age = ($0.age ?? 0) + 1 }
        try db.refresh()
        #expect(bob.age == 3)
        // No explicit refresh is needed: a save starts from what others have committed.
        try same.save { $0.age = 10 }
        try bob.save { $0.age = ($0.age ?? 0) + 1 }
        #expect(bob.age == 11)
        try other.close()
    }

    @Test("[47] a live object follows a writer in Python's sqlite3, and the event has its change")
    func pythonWriter() async throws {
        let bob = try test.person("Bob", age: 1)
        let events = Person.changes(in: db).makeAsyncIterator()
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=10)
            db.execute("UPDATE Person SET name = 'from Python', age = 77 WHERE id = ?", (int(sys.argv[2]),))
            db.execute("INSERT INTO Person VALUES (5, 'made in Python', NULL, 1)")
            db.commit()
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, test.path, "\(bob.id)"]
        try process.run()
        let event = try #require(await events.next())
        #expect(event.updated == [bob.id])
        #expect(event.inserted == [5])
        #expect(event.changes.first { $0.kind == .updated }?.columns == ["name", "age"])
        #expect(event.origin == .local)
        #expect(bob.name == "from Python")
        #expect(bob.age == 77)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("[39] changes of another machine carry its origin, and live objects follow them")
    func remoteOrigin() async throws {
        let bob = try test.person("Bob", age: 1)
        let events = Person.changes(in: db).makeAsyncIterator()
        let remote = OriginID(high: 1, low: 2)
        try RemoteChange.apply(to: test.path, id: bob.id, age: 42, origin: remote)
        let event = try #require(await events.next())
        #expect(event.origin == .remote(remote))
        #expect(event.updated == [bob.id])
        #expect(event.columns == ["age"])
        #expect(bob.age == 42)
    }

    @Test("[39] a listener that falls behind is told so, and the writer does not wait")
    func overflow() async throws {
        let bob = try test.person("Bob", age: 0)
        let changes = Person.changes(in: db)
        let limit = ModelChange<Person>.queueLimit
        for number in 0..<(limit + 5) { try bob.save { $0.age = number % 2 + 1 } }
        var last: ModelChange<Person>?
        var count = 0
        for await change in changes {
            count += 1
            last = change
            if count == limit { break }
        }
        #expect(last?.isComplete == false)
    }

    @Test("[39] [51] events end when the database is closed")
    func end() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        try db.close()
        #expect(await events.next() == nil)
    }
}
