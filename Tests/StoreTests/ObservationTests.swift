import Foundation
import Journal
import Observation
import Store
import Synchronization
import Testing

@Suite("Observation of live objects")
struct ObservationTests {
    let test: TestDatabase
    let bob: Person
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 1)
    }

    /// How often `change` calls the observer of what `read` reads: 0 or 1.
    private func calls(reading read: () -> Void, when change: () throws -> Void) throws -> Int {
        let box = CallBox()
        withObservationTracking(read) { box.call() }
        try change()
        return box.count
    }

    @Test("[45] withObservationTracking reports a property that was read, changed by any writer, and no other")
    func tracking() throws {
        #expect(try calls(reading: { _ = bob.age }, when: { try bob.save { $0.age = 2 } }) == 1)
        #expect(try calls(reading: { _ = bob.age }, when: { try bob.save { $0.name = "Rob" } }) == 0)
        #expect(
            try calls(reading: { _ = bob.name }, when: { try db.execute("UPDATE Person SET name = 'Robert'") }) == 1)
        #expect(try calls(reading: { _ = bob.age }, when: { try bob.save { $0.age = 2 } }) == 0)
        #expect(try calls(reading: { _ = bob.isSelected }, when: { try bob.save { $0.isSelected = true } }) == 1)
        // The thread that follows the file may find this change first, and call the observer.
        let called = DispatchSemaphore(value: 0)
        withObservationTracking {
            _ = bob.age
        } onChange: {
            called.signal()
        }
        try RemoteChange.apply(to: test.path, id: bob.id, age: 42, origin: OriginID(high: 1, low: 2))
        try db.refresh()
        #expect(called.wait(timeout: .now() + 10) == .success)
        let ann = try test.person("Ann", age: 1)
        #expect(try calls(reading: { _ = bob.age }, when: { try ann.save { $0.age = 5 } }) == 0)
    }

    @Test("[45] reading the encoded values or the JSON of an object counts as reading its values")
    func exchangeForms() throws {
        var values: [String: Value]?
        #expect(
            try calls(reading: { values = try? bob.encodedValues }, when: { try bob.save { $0.age = 2 } }) == 1)
        #expect(values?["age"] == .integer(1))
        #expect(try calls(reading: { _ = try? bob.exportJSON() }, when: { try bob.save { $0.age = 3 } }) == 1)
        let json = try db.cached("json") { try bob.exportJSON() }
        try bob.save { $0.age = 4 }
        #expect(try db.cached("json") { try bob.exportJSON() } != json)
    }

    @Test("[45] an observer is called after the commit, without any lock, and not for a rollback")
    func afterCommit() throws {
        let seen = CallBox()
        let (bob, db) = (bob, db)
        try db.transaction {
            withObservationTracking {
                _ = bob.age
            } onChange: {
                // The values are there, and the database can be written.
                if bob.age == 9, (try? Person.modify(bob.id, in: db) { $0.name = "seen" }) != nil { seen.call() }
            }
            try bob.save { $0.age = 9 }
            #expect(seen.count == 0)
        }
        #expect(seen.count == 1 && bob.name == "seen")
        #expect(
            try calls(
                reading: { _ = bob.age },
                when: {
                    try? db.transaction {
                        try bob.save { $0.age = 10 }
                        throw Refused()
                    }
                }) == 0)
    }

    @Test("[45] observers of an object see its deletion")
    func deletion() throws {
        #expect(try calls(reading: { _ = bob.isDeleted }, when: { try db.execute("DELETE FROM Person") }) == 1)
        #expect(bob.isDeleted)
    }
}

/// Counts calls from any thread.
final class CallBox: Sendable {
    private let calls = Mutex(0)
    func call() { calls.withLock { $0 += 1 } }
    var count: Int { calls.withLock { $0 } }
}

@Suite("Live results", .timeLimit(.minutes(1)))
struct LiveResultTests {
    let test: TestDatabase
    let people: [Person]
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        people = try Person.create(from: 1...4, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 * 10
            $0.createdTime = .now
        }
    }

    @Test(
        "[45] a live query returns its objects at once, and after each commit that changes them, their choice or their order"
    )
    func liveQuery() async throws {
        let results = Person.where(\.age >= 20).order(by: \.name).live(in: db).makeAsyncIterator()
        #expect(try await results.next()?.map(\.id) == [2, 3, 4])
        try people[0].save { $0.age = 99 }
        #expect(try await results.next()?.map(\.id) == [1, 2, 3, 4])
        try db.execute("UPDATE Person SET name = 'z' WHERE id = 2")
        #expect(try await results.next()?.map(\.id) == [1, 3, 4, 2])
        try people[3].save { $0.age = 21 }
        #expect(try await results.next()?.first { $0.id == 4 }?.age == 21)
        try people[2].delete()
        #expect(try await results.next()?.map(\.id) == [1, 4, 2])
        try RemoteChange.apply(to: test.path, id: 4, age: 7, origin: OriginID(high: 1, low: 2))
        #expect(try await results.next()?.map(\.id) == [1, 2])
    }

    @Test("[45] a change outside of the result, a no-op and a rollback give no element")
    func silence() async throws {
        let results = Person.where(\.id <= 2).order(by: \.id).live(ignoring: [\.createdTime], in: db)
            .makeAsyncIterator()
        #expect(try await results.next()?.count == 2)
        try people[3].save { $0.age = 41 }
        try Item.create(in: db) { $0.title = "hat" }
        try db.execute("UPDATE Person SET age = age")
        try people[0].save { $0.createdTime = Date(timeIntervalSince1970: 3) }
        try? db.transaction {
            try people[0].save { $0.age = 77 }
            throw Refused()
        }
        try people[1].save { $0.age = 22 }
        #expect(try await results.next()?.map(\.age) == [10, 22])
    }

    @Test("[45] a live value follows every table that its SQL reads, also tables without a model and joins")
    func liveValue() async throws {
        try db.execute("CREATE TABLE bonus (person INTEGER PRIMARY KEY, amount INTEGER NOT NULL)")
        let db = db
        let totals = db.live {
            try db.value(Int.self, "SELECT sum(age + coalesce(amount, 0)) FROM Person LEFT JOIN bonus ON person = id")
                ?? 0
        }.makeAsyncIterator()
        #expect(try await totals.next() == 100)
        try db.execute("INSERT INTO bonus VALUES (1, 5)")
        #expect(try await totals.next() == 105)
        try Person.where(\.id == 1).update(.set(\.age, to: \.age + 1), in: db)
        #expect(try await totals.next() == 106)
        try db.execute("UPDATE Person SET name = name || '!'")
        try db.execute("UPDATE bonus SET amount = 6")
        #expect(try await totals.next() == 107)
    }

    @Test("[45] a live sequence of pairs follows both tables of a join")
    func livePairs() async throws {
        let db = db
        try Item.create(in: db) {
            $0.title = "hat"
            $0.owner = 1
        }
        let pairs = db.live { try Person.join(Item.self, on: \.id == \.owner).all(in: db) }.makeAsyncIterator()
        #expect(try await pairs.next()?.map(\.1.title) == ["hat"])
        try Item.create(in: db) {
            $0.title = "coat"
            $0.owner = 2
        }
        #expect(try await pairs.next()?.count == 2)
        try people[0].delete()
        #expect(try await pairs.next()?.map(\.0.id) == [2])
    }

    @Test("[45] one object's values, its deletion and its return")
    func liveObject() async throws {
        let values = people[0].live().makeAsyncIterator()
        #expect(try await values.next()??.age == 10)
        try people[1].save { $0.age = 99 }
        try people[0].save { $0.age = 11 }
        #expect(try await values.next()??.age == 11)
        try people[0].delete()
        let deleted = try await values.next()
        #expect(deleted != nil && deleted! == nil)
        try db.execute("INSERT INTO Person (id, name, age, created_time) VALUES (1, 'back', 5, 1)")
        #expect(try await values.next()??.name == "back")
    }

    @Test("[45] a live sequence ends when the database is closed, and when its task is cancelled")
    func end() async throws {
        let results = Person.query.live(in: db).makeAsyncIterator()
        _ = try await results.next()
        let sequence = Person.query.live(in: db)
        let task = Task {
            var count = 0
            for try await _ in sequence { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
        try db.close()
        #expect(try await results.next() == nil)
    }

    @Test("[45] a live sequence of values of a struct")
    func liveStructs() async throws {
        let rows = PersonRow.where(\.id == 1).live(in: db).makeAsyncIterator()
        #expect(try await rows.next()?.map(\.age) == [10])
        try people[0].save { $0.age = 12 }
        #expect(try await rows.next()?.map(\.age) == [12])
    }
}
