import Foundation
import Observation
import Store
import TestSupport
import Testing

@Suite("Objects made again after their row was deleted", .timeLimit(.minutes(1)))
struct RecreatedObjectTests {
    let test: TestDatabase
    let bob: Person
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 5)
    }

    @discardableResult
    private func findOrMake(_ name: String) throws -> Person {
        try Person.findOrMakeUnsaved(bob.id, in: db) {
            $0.name = name
            $0.createdTime = Date(timeIntervalSince1970: 1)
        }
    }

    @Test(
        "[3] [7] findOrMakeUnsaved returns the object that is still in memory, new, with the new values; a save inserts them"
    )
    func deletedBefore() throws {
        try bob.save { $0.isSelected = true }
        try bob.delete()
        let journal = try test.journalCount()
        #expect(try findOrMake("Bob II") === bob)
        #expect(bob.rowState == .new && !bob.isDeleted)
        #expect(bob.name == "Bob II" && bob.age == nil && !bob.isSelected)
        #expect(try test.journalCount() == journal)
        #expect(try findOrMake("Bob III") === bob)
        #expect(bob.name == "Bob II")
        #expect(try bob.save())
        #expect(bob.rowState == .persisted)
        #expect(try Person.find(bob.id, in: db) === bob)
        #expect(try db.values(String.self, "SELECT name FROM Person") == ["Bob II"])
        #expect(try bob.save() == false)
    }

    @Test("[7] make and create take the key of a deleted row, and refuse the key of an existing one")
    func makeAndCreate() throws {
        #expect(code { _ = try Person.makeUnsaved(bob.id, in: db) } == .primaryKey)
        try bob.delete()
        let made = try Person.makeUnsaved(bob.id, in: db) { $0.name = "Made" }
        #expect(made === bob && bob.isNew && bob.name == "Made")
        #expect(code { _ = try Person.makeUnsaved(bob.id, in: db) } == .primaryKey)
        #expect(code { try bob.save() } == .missingValue)
        #expect(try bob.save { $0.createdTime = .now })
        try db.transaction {
            try bob.delete()
            let created = try Person.create(bob.id, in: db) {
                $0.name = "Created"
                $0.createdTime = .now
            }
            #expect(created === bob && bob.existsInDatabase)
        }
        #expect(bob.existsInDatabase && bob.name == "Created")
    }

    @Test("[7] [38] a transaction that deleted a row makes its object again for itself: a rollback restores the row")
    func rolledBack() throws {
        try? db.transaction {
            try bob.delete()
            #expect(try findOrMake("II") === bob)
            #expect(bob.isNew && bob.name == "II")
            // Following the journal finds no row, and does not report it as deleted again.
            try db.execute("UPDATE Person SET age = 1")
            #expect(bob.isNew)
            let isSeenByOthers = try onAnotherThread { [bob] in bob.existsInDatabase && bob.name == "Bob" }
            #expect(isSeenByOthers)
            try bob.save { $0.age = 6 }
            #expect(bob.existsInDatabase && bob.age == 6)
            throw Refused()
        }
        #expect(bob.existsInDatabase && bob.name == "Bob" && bob.age == 5)
        #expect(try bob.save { $0.age = 7 })
    }

    @Test("[7] an object that such a transaction made exists after the commit, saved or not")
    func committed() throws {
        try db.transaction {
            try bob.delete()
            try findOrMake("II")
        }
        #expect(bob.isNew && bob.name == "II")
        #expect(try Person.count(in: db) == 0)
        #expect(try bob.save())
        try db.transaction {
            try bob.delete()
            try findOrMake("III").save()
        }
        #expect(bob.existsInDatabase && bob.name == "III")
        #expect(try bob.save() == false)
        #expect(try db.values(String.self, "SELECT name FROM Person") == ["III"])
    }

    @Test(
        "[7] an object that is made again in a transaction after an earlier delete stays new when the transaction is rolled back"
    )
    func madeInTransaction() throws {
        try bob.delete()
        try? db.transaction {
            try findOrMake("II")
            try bob.save()
            throw Refused()
        }
        #expect(bob.isNew && bob.name == "II")
        #expect(try bob.save())
    }

    @Test("[16] when another writer inserts the row, no value of the object is lost")
    func meeting() throws {
        try bob.delete()
        try findOrMake("Mine")
        try db.execute("INSERT INTO Person (id, name, age, created_time) VALUES (\(bob.id), 'Theirs', 50, 1)")
        #expect(bob.existsInDatabase && bob.name == "Theirs" && bob.age == 50)
        #expect(try bob.save())
        #expect(bob.name == "Mine" && bob.age == 50)
    }

    @Test("[16] a save that is the first to see the row of another program merges both at once")
    func firstMeeting() throws {
        try bob.delete()
        try findOrMake("Mine")
        try RawConnection(path: test.path).run(
            "INSERT INTO Person (id, name, age, created_time) VALUES (\(bob.id), 'Theirs', 50, 1)")
        #expect(try bob.save())
        #expect(bob.name == "Mine" && bob.age == 50)
        #expect(try db.values(String.self, "SELECT name FROM Person") == ["Mine"])
        #expect(try bob.save() == false)
    }

    @Test("[11] an object that was saved and then changed by SQL, in one transaction, is not saved again")
    func changedAfterSave() throws {
        let kim = try Person.makeUnsaved(in: db) {
            $0.name = "Kim"
            $0.age = 3
            $0.createdTime = Date(timeIntervalSince1970: 1)
        }
        try db.transaction {
            try kim.save()
            try db.execute("UPDATE Person SET age = 4 WHERE id = \(kim.id)")
            #expect(try kim.save() == false)
        }
        #expect(kim.age == 4 && !kim.edit().hasChanges)
        #expect(try kim.save() == false)
        #expect(kim.age == 4)
    }

    @Test("[49] a snapshot from before the delete does not restore the old row in the object")
    func oldSnapshot() throws {
        let (bob, db) = (bob, db)
        try db.read {
            #expect(try Person.count(in: db) == 1)
            try onAnotherThread {
                try bob.delete()
                _ = try Person.findOrMakeUnsaved(bob.id, in: db) { $0.name = "II" }
            }
            #expect(try Person.where("age = 5").all(in: db) == [bob])
            #expect(!bob.isNew && bob.name != "II")
        }
        #expect(bob.isNew && bob.name == "II")
    }

    @Test("[45] observers of the object are notified")
    func observed() throws {
        try bob.delete()
        let box = CallBox()
        withObservationTracking {
            _ = bob.isDeleted
        } onChange: {
            box.call()
        }
        try findOrMake("II")
        #expect(box.count == 1)
    }
}
