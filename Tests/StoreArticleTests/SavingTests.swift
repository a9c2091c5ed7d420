import Foundation
import Store
import Testing

@Suite("Article: saving", .timeLimit(.minutes(1)))
struct SavingTests {
    let file = ArticleFile()

    @Test("[9, 10, 11, 12, 17] rows are created, changed and deleted")
    func basics() throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let isWritten = try bob.save { $0.visits += 1 }
        let eve = try Person.create(in: db) { $0.name = "Eve" }
        try Person.modify(bob.id, in: db) { $0.visits += 1 }  // finds and saves, in one transaction
        #expect(isWritten && bob.visits == 2)
        try Person.upsert(7, in: db) { $0.name = "Eve" }  // by key, whether there is a row or not; never REPLACE
        try Person.findOrCreate(8, in: db) { $0.name = "Ida" }  // the row of the key, made when there is none
        try Person.save([bob, eve], in: db) { $0.visits = 0 }  // all, or none
        let isDeleted = try bob.delete()  // false the second time
        #expect(try isDeleted && !bob.delete() && Person.count(in: db) == 3)
    }

    @Test("[3, 7, 8, 11, 15] objects may exist before their rows")
    func unsaved() throws {
        let db = try file.open()
        let ann = try Person.makeUnsaved(in: db) { $0.name = "Ann" }  // in memory
        let isNew = ann.isNew  // rowState is .new, .persisted or .deleted
        #expect(try isNew && Person.count(in: db) == 0)
        try ann.save()
        let dan = try Person.findOrMakeUnsaved(9, in: db) { $0.name = "Dan" }
        try db.save([dan])  // objects and edits of any models, in one transaction
        try ann.reload()  // reads the row again, whatever the journal says
        #expect(try !ann.isNew && Person.find(9, in: db) === dan)
    }

    @Test("[13, 14, 16] an edit waits, shows its changes, and merges with those of others")
    func edits() throws {
        let db = try file.open()
        let ann = try Person.create(in: db) { $0.name = "Ann" }
        let edit = ann.edit()
        edit.name = "Anna"
        edit.age = 30
        let changed = edit.changedColumns  // ["age", "name"]
        edit.discardChange(\.age)
        let hasChanges = edit.hasChanges  // true: the name is left
        #expect(changed == ["age", "name"] && hasChanges && ann.name == "Ann")
        try edit.save()
        #expect(ann.name == "Anna" && ann.age == nil)
        edit.visits = 100
        edit.discardChanges()  // all of them
        #expect(try !edit.hasChanges && edit.visits == 0 && !edit.save())

        let careful = ann.edit(onConflict: .takeDatabase)  // .keepLocal is the default
        let counting = ann.edit(
            onConflict: .merge { merged, conflict in
                merged.visits = conflict.database.visits + conflict.local.visits - conflict.base.visits
            })
        careful.name = "Mine"
        counting.visits += 1
        try ann.save {
            $0.name = "Theirs"; $0.visits = 10
        }
        let contested = careful.conflicts  // ["name"], once both have changed it
        #expect(contested == ["name"] && counting.conflicts == ["visits"])
        try careful.save()
        try counting.save()
        #expect(ann.name == "Theirs" && ann.visits == 11)
    }

    @Test("[43] a hook may change what is written, or refuse it; others run after the commit")
    func hooks() throws {
        let db = try file.open()
        let country = try db.transaction {
            let country = try Country.create("FR", in: db) { $0.name = "  France " }
            #expect(!audit.all.contains("FR made"))
            return country
        }
        #expect(country.name == "France")
        #expect(throws: Nameless.self) { try Country.create("XX", in: db) { $0.name = "  " } }
        try country.save { $0.name = "La France" }
        try country.delete()
        let told = audit.all.filter { $0.hasPrefix("FR") || $0.hasPrefix("XX") }
        #expect(told == ["FR made", "FR changed [\"name\"]", "FR deleted"])
    }
}
