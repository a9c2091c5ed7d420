import Foundation
import Store
import Testing

@Suite("Unsaved edits")
struct EditTests {
    let test: TestDatabase
    let bob: Person
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 30)
    }

    @Test("[13] [16] until it is saved, an edit shows its own values, and the object those of the row")
    func editing() throws {
        let edit = bob.edit()
        #expect(!edit.hasChanges)
        edit.name = "Robert"
        edit.age = 31
        #expect(edit.name == "Robert" && bob.name == "Bob")
        #expect(edit.changedColumns == ["name", "age"] && edit.hasChanges)
        let before = try test.journalCount()
        #expect(try edit.save())
        #expect(bob.name == "Robert" && bob.age == 31)
        #expect(!edit.hasChanges && edit.changedColumns.isEmpty)
        #expect(try test.journalCount() == before + 1)
        #expect(try edit.save() == false)
        edit.age = 32
        #expect(edit.changedColumns == ["age"])
        #expect(try edit.save())
        #expect(bob.age == 32)
    }

    @Test("[14] one change is discarded, or all of them")
    func discard() throws {
        let edit = bob.edit()
        edit.name = "Robert"
        edit.age = 31
        edit.discardChange(\.name)
        #expect(edit.name == "Bob" && edit.changedColumns == ["age"])
        edit.discardChanges()
        #expect(edit.age == 30 && !edit.hasChanges)
        edit.age = 31
        edit.age = 30
        #expect(!edit.hasChanges)
    }

    @Test("[14] discarding a change of a contested column shows the row's present value")
    func discardContested() throws {
        let (one, all) = (bob.edit(), bob.edit())
        let overruled = bob.edit(onConflict: .takeDatabase)
        for edit in [one, all, overruled] {
            edit.name = "Robert"
            edit.age = 31
        }
        try db.execute("UPDATE Person SET age = 40")
        for edit in [one, all, overruled] { #expect(edit.conflicts == ["age"]) }
        one.discardChange(\.age)
        #expect(one.age == 40 && one.conflicts.isEmpty && one.changedColumns == ["name"])
        all.discardChanges()
        #expect(all.age == 40 && all.name == "Bob" && all.conflicts.isEmpty && !all.hasChanges)
        overruled.discardChange(\.age)
        #expect(overruled.age == 40 && overruled.conflicts.isEmpty && overruled.changedColumns == ["name"])
        #expect(try all.save() == false)
        #expect(try one.save())
        #expect(bob.name == "Robert" && bob.age == 40)
    }

    @Test("[16] columns without an edit follow the row: saves, bulk updates, other processes, other machines")
    func following() throws {
        let edit = bob.edit()
        edit.name = "Robert"
        try bob.save { $0.age = 31 }
        #expect(edit.age == 31)
        try db.execute("UPDATE Person SET age = 32")
        #expect(edit.age == 32 && edit.name == "Robert")
        try RemoteChange.apply(to: test.path, id: bob.id, age: 42, origin: OriginID(high: 1, low: 2))
        try db.refresh()
        #expect(edit.age == 42 && edit.changedColumns == ["name"] && edit.conflicts.isEmpty)
        #expect(try edit.save())
        #expect(bob.name == "Robert" && bob.age == 42)
    }

    /// Edits age to 31 while the row's age changes from 30 to 40.
    private func meet(_ policy: ConflictPolicy<Person>) throws -> Edit<Person> {
        let edit = bob.edit(onConflict: policy)
        edit.age = 31
        edit.name = "Robert"
        try Person.execute("UPDATE $T SET age = 40, created_time = 7", in: db)
        return edit
    }

    @Test("[16] keepLocal: the edit wins the columns that both have changed, and loses nothing else")
    func keepLocal() throws {
        let edit = try meet(.keepLocal)
        #expect(edit.age == 31 && edit.conflicts == ["age"])
        try edit.save()
        #expect(bob.age == 31 && bob.name == "Robert" && bob.createdTime == Date(timeIntervalSince1970: 7))
        #expect(edit.conflicts.isEmpty)
    }

    @Test("[16] takeDatabase: the row wins the columns that both have changed, and the other edits stay")
    func takeDatabase() throws {
        let edit = try meet(.takeDatabase)
        #expect(edit.age == 40 && edit.changedColumns == ["name"] && edit.conflicts == ["age"])
        try edit.save()
        #expect(bob.age == 40 && bob.name == "Robert")
    }

    @Test("[16] merge: the closure gets base, local and database, and decides")
    func merge() throws {
        let edit = try meet(
            .merge { merged, conflict in
                #expect(conflict.columns == ["age"] && conflict.base.age == 30)
                merged.age = (conflict.database.age ?? 0) + (conflict.local.age ?? 0) - (conflict.base.age ?? 0)
            })
        try edit.save()
        #expect(bob.age == 41 && bob.name == "Robert")
    }

    @Test("[16] a merge that throws changes neither row, object nor edit")
    func failedMerge() throws {
        let edit = try meet(.merge { _, _ in throw Refused() })
        #expect(throws: Refused.self) { try edit.save() }
        #expect(bob.age == 40 && edit.age == 31 && edit.name == "Robert")
    }

    @Test("[16] both sides changing a column to the same value is no conflict")
    func agreement() throws {
        let edit = bob.edit(onConflict: .merge { _, _ in throw Refused() })
        edit.age = 40
        try db.execute("UPDATE Person SET age = 40")
        #expect(edit.conflicts.isEmpty && !edit.hasChanges)
        #expect(try edit.save() == false)
    }

    @Test("[16] the save of an edit of a deleted row is refused, and the edit is kept")
    func deletedRow() throws {
        let edit = bob.edit()
        edit.age = 31
        try db.execute("DELETE FROM Person")
        #expect(code { try edit.save() } == .deleted)
        #expect(edit.age == 31 && edit.hasChanges)
    }

    @Test("[16] after a rollback an edit has its changes again; a failed save keeps them")
    func rollback() throws {
        let edit = bob.edit()
        edit.age = 31
        try? db.transaction {
            #expect(try edit.save())
            #expect(bob.age == 31 && !edit.hasChanges)
            throw Refused()
        }
        #expect(bob.age == 30 && edit.age == 31 && edit.changedColumns == ["age"])
        edit.age = 1_000
        #expect(code { try edit.save() } == .check)
        #expect(edit.age == 1_000 && bob.age == 30)
    }

    @Test("[16] the key cannot be edited")
    func key() throws {
        let edit = bob.edit()
        edit.id = 99
        #expect(code { try edit.save() } == .keyChanged)
    }
}

@Suite("Unsaved objects")
struct UnsavedTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    private func make(_ name: String, id: Int64? = nil) throws -> Person {
        try Person.makeUnsaved(id, in: db) {
            $0.name = name
            $0.createdTime = Date(timeIntervalSince1970: 1)
        }
    }

    @Test("[3] [8] an object is made without a write, is the one object of its key, and a save inserts it")
    func makeAndSave() throws {
        let before = try test.journalCount()
        let bob = try make("Bob")
        #expect(bob.rowState == .new && bob.isNew && !bob.existsInDatabase && !bob.isDeleted)
        #expect(bob.name == "Bob" && bob.id > 0)
        #expect(try test.journalCount() == before)
        #expect(try Person.find(bob.id, in: db) == nil)
        #expect(try Person.findOrMakeUnsaved(bob.id, in: db) === bob)
        #expect(try bob.save())
        #expect(bob.rowState == .persisted)
        #expect(try Person.find(bob.id, in: db) === bob)
        #expect(try bob.save() == false)
        try bob.delete()
        #expect(bob.rowState == .deleted)
    }

    @Test("[7] findOrMake finds a row, or makes an object with a key and without a write")
    func findOrMake() throws {
        let ann = try test.person("Ann")
        #expect(try Person.findOrMakeUnsaved(ann.id, in: db) === ann)
        let before = db.metrics.queries
        let five = try Person.makeUnsaved(5, in: db) { $0.name = "Five" }
        #expect(db.metrics.queries == before)
        #expect(try Person.findOrMakeUnsaved(5, in: db) { $0.name = "Other" } === five)
        #expect(five.name == "Five" && five.isNew)
        #expect(code { _ = try Person.makeUnsaved(5, in: db) } == .primaryKey)
    }

    @Test("[9] save with a block inserts the values of the block, and a failure leaves the object new")
    func saveBlock() throws {
        try test.person("Taken")
        let bob = try make("Bob")
        #expect(code { try bob.save { $0.name = "Taken" } } == .unique)
        #expect(bob.isNew && bob.name == "Bob")
        #expect(try bob.save { $0.age = 5 })
        #expect(bob.age == 5 && bob.existsInDatabase)
        let nameless = try Person.makeUnsaved(in: db) { $0.name = "x" }
        #expect(code { try nameless.save() } == .missingValue)
    }

    @Test("[38] a rollback makes a saved object new again")
    func rollback() throws {
        let bob = try make("Bob")
        try? db.transaction {
            try bob.save()
            #expect(bob.existsInDatabase)
            throw Refused()
        }
        #expect(bob.isNew && bob.name == "Bob")
        #expect(try Person.count(in: db) == 0)
        try bob.save()
        #expect(try Person.count(in: db) == 1)
    }

    @Test("[8] an object that is made and saved inside of a transaction, and one that is made in it and saved later")
    func insideTransaction() throws {
        let (first, second) = try db.transaction {
            let first = try make("first")
            try first.save()
            return (first, try make("second"))
        }
        #expect(first.existsInDatabase && second.isNew && second.name == "second")
        try second.save()
        #expect(second.existsInDatabase)
    }

    @Test("[16] when another writer inserts the row first, no value of the object is lost")
    func meeting() throws {
        let bob = try make("Mine", id: 5)
        try db.execute("INSERT INTO Person (id, name, age, created_time) VALUES (5, 'Theirs', 50, 1)")
        #expect(bob.existsInDatabase && bob.name == "Theirs" && bob.age == 50)
        let edit = bob.edit(onConflict: .takeDatabase)
        #expect(edit.name == "Theirs" && edit.conflicts == ["name"])
        #expect(try bob.save())
        #expect(bob.name == "Mine" && bob.age == 50)
        #expect(try bob.save() == false)
    }

    @Test("[16] an edit of a new object inserts its row, or merges with the row of another writer")
    func editOfNew() throws {
        let edit = try make("Bob", id: 6).edit()
        edit.age = 6
        #expect(edit.hasChanges)
        #expect(try edit.save())
        #expect(edit.object.age == 6 && edit.object.name == "Bob" && !edit.hasChanges)
        let other = try make("Mine", id: 7).edit(onConflict: .keepLocal)
        other.age = 7
        try db.execute("INSERT INTO Person (id, name, age, created_time) VALUES (7, 'Theirs', 70, 9)")
        #expect(other.conflicts == ["name", "age", "created_time"])
        try other.save()
        #expect(other.object.age == 7 && other.object.name == "Mine")
    }

    @Test("[4] a generated key belongs to no row and no object in memory, and too many taken keys are an error")
    func keys() throws {
        try db.execute("CREATE TABLE Colliding (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)")
        try db.execute("INSERT INTO Colliding VALUES (1, 1)")
        try Colliding.keys.use([1, 2, 2, 3]) {
            let second = try Colliding.makeUnsaved(in: db)
            #expect(second.id == 2)
            #expect(try Colliding.makeUnsaved(in: db).id == 3)
            withExtendedLifetime(second) {}
        }
        try Colliding.keys.use([1]) {
            #expect(code { _ = try Colliding.makeUnsaved(in: db) } == .keyCollision)
        }
    }

    @Test("[11] edits and new objects of several models are saved in one transaction: all, or none")
    func saveAll() throws {
        let bob = try make("Bob")
        let ann = try test.person("Ann", age: 1)
        let edit = ann.edit()
        edit.age = 2
        let item = try Item.makeUnsaved(in: db) {
            $0.title = "hat"
            $0.owner = bob.id
        }
        #expect(try db.save([bob, edit, item]) == 3)
        #expect(bob.existsInDatabase && ann.age == 2 && item.existsInDatabase)
        edit.age = 3
        let clash = try make("Bob")
        #expect(code { try db.save([edit, clash]) } == .unique)
        #expect(ann.age == 2 && edit.age == 3 && clash.isNew)
        #expect(try db.delete([item, bob, ann]) == 3)
        #expect(bob.isDeleted && item.isDeleted)
        let other = try TestDatabase()
        #expect(code { try other.db.delete([ann]) } == .otherDatabase)
    }

    @Test("[10] modify finds, changes and saves in one transaction, and reports a missing row")
    func modify() throws {
        let id = try test.person("Bob", age: 1).id
        #expect(try Person.modify(id, in: db) { $0.age = ($0.age ?? 0) + 1 }?.age == 2)
        #expect(try Person.modify(99, in: db) { _ in Issue.record("there is no such row") } == nil)
        #expect(throws: Refused.self) { try Person.modify(id, in: db) { _ in throw Refused() } }
    }
}
