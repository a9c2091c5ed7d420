import Foundation
import Journal
import Store
import Testing

@Suite("Events: old values, filters, silence", .timeLimit(.minutes(1)))
struct FilterTests {
    let test: TestDatabase
    let bob: Person
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 1)
    }

    @Test(
        "[39] an event has the old values of rows whose objects are in memory: by saves, bulk, other processes, other machines"
    )
    func oldValues() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        try bob.save { $0.age = 2 }
        var event = try #require(await events.next())
        #expect(event.changes[0].old?.age == 1 && event.changes[0].touches(\.age) && !event.changes[0].touches(\.name))
        try db.transaction {
            try bob.save { $0.age = 3 }
            try db.execute("UPDATE Person SET age = 4, name = 'Rob'")
        }
        event = try #require(await events.next())
        #expect(event.changes[0].old?.age == 2 && event.changes[0].old?.name == "Bob")
        try RemoteChange.apply(to: test.path, id: bob.id, age: 42, origin: OriginID(high: 1, low: 2))
        event = try #require(await events.next())
        #expect(event.changes[0].old?.age == 4 && event.origin == .remote(OriginID(high: 1, low: 2)))
        try bob.delete()
        event = try #require(await events.next())
        #expect(event.changes[0].kind == .deleted && event.changes[0].old?.age == 42)
        try db.execute("INSERT INTO Person (id, name, created_time) VALUES (\(bob.id), 'New', 1)")
        #expect(try #require(await events.next()).changes[0].old == nil)
    }

    @Test("[39] a row without an object in memory has no old values, and modify knows them")
    func unheld() async throws {
        let id = try test.person("Ann", age: 1).id
        let events = Person.changes(in: db).makeAsyncIterator()
        try db.execute("UPDATE Person SET age = 2 WHERE id = \(id)")
        #expect(try #require(await events.next()).changes[0].old == nil)
        try Person.modify(id, in: db) { $0.age = 3 }
        #expect(try #require(await events.next()).changes[0].old?.age == 2)
    }

    @Test("[41] a listener gets changes of some columns, of all except some, or of some keys")
    func filters() async throws {
        let names = Person.changes(in: db, columns: [\.name]).makeAsyncIterator()
        let others = Person.changes(in: db, ignoring: [\.age, \.createdTime]).makeAsyncIterator()
        let mine = Person.changes(in: db, id: bob.id).makeAsyncIterator()
        try bob.save { $0.age = 2 }
        let ann = try test.person("Ann")
        try ann.save { $0.age = 9 }
        try db.execute("UPDATE Person SET age = 5, name = name || '!'")
        try ann.delete()
        try bob.delete()
        for iterator in [names, others] {
            #expect(try #require(await iterator.next()).inserted == [ann.id])
            let update = try #require(await iterator.next())
            #expect(Set(update.updated) == [ann.id, bob.id] && update.columns == ["name", "age"])
            #expect(try #require(await iterator.next()).deleted == [ann.id])
            #expect(try #require(await iterator.next()).deleted == [bob.id])
        }
        #expect(try #require(await mine.next()).columns == ["age"])
        #expect(try #require(await mine.next()).updated == [bob.id])
        #expect(try #require(await mine.next()).deleted == [bob.id])
    }

    @Test("[41] a listener names kinds of change beside columns and keys")
    func kindsBesideOthers() async throws {
        let renames = Person.changes(in: db, kinds: [.updated], columns: [\.name]).makeAsyncIterator()
        let others = Person.changes(in: db, kinds: [.updated, .deleted], ignoring: [\.age]).makeAsyncIterator()
        let end = Person.changes(in: db, kinds: [.deleted], id: bob.id).makeAsyncIterator()
        let ends = Person.changes(in: db, kinds: [.deleted], ids: [bob.id]).makeAsyncIterator()
        let ann = try test.person("Ann")
        try ann.save { $0.age = 9 }
        try ann.save { $0.name = "Anna" }
        try ann.delete()
        try bob.save { $0.name = "Rob" }
        try bob.delete()
        #expect(try #require(await renames.next()).updated == [ann.id])
        #expect(try #require(await renames.next()).updated == [bob.id])
        #expect(try #require(await others.next()).updated == [ann.id])
        #expect(try #require(await others.next()).deleted == [ann.id])
        #expect(try #require(await end.next()).deleted == [bob.id])
        #expect(try #require(await ends.next()).deleted == [bob.id])
    }

    @Test("[40] [T12] a silent part of a transaction silences only itself, and live objects follow it")
    func silence() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        try db.silently { try bob.save { $0.age = 2 } }
        #expect(bob.age == 2)
        let ann = try test.person("Ann", age: 1)
        #expect(try #require(await events.next()).inserted == [ann.id])
        try db.transaction {
            try bob.save { $0.age = 3 }
            try db.silently {
                try ann.save { $0.age = 4 }
                try db.execute("UPDATE Person SET name = 'silent' WHERE id = \(ann.id)")
            }
            try bob.save { $0.name = "Robert" }
        }
        let event = try #require(await events.next())
        #expect(event.changes.map(\.id) == [bob.id] && event.columns == ["age", "name"])
        #expect(ann.age == 4 && ann.name == "silent")
        try db.transaction {
            try? db.silently {
                try ann.save { $0.age = 5 }
                throw Refused()
            }
            try ann.save { $0.age = 6 }
        }
        #expect(try #require(await events.next()).columns == ["age"])
        #expect(try test.journalCount() == 8)
    }

    @Test("[39] an object reports its own changes")
    func objectChanges() async throws {
        let ann = try test.person("Ann")
        let events = ann.changes().makeAsyncIterator()
        try bob.save { $0.age = 7 }
        try ann.save { $0.age = 8 }
        #expect(try #require(await events.next()).updated == [ann.id])
    }
}
