import Foundation
import Store
import TestSupport
import Testing

@Suite("Objects in a read", .timeLimit(.minutes(1)))
struct SnapshotReadTests {
    let test: TestDatabase
    var db: Database { test.db }
    let bob: Person

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 30)
    }

    @Test("[49] objects show the snapshot of a read, whatever is committed meanwhile, and their newest values after it")
    func oneState() throws {
        try db.read { [db, bob] in
            #expect(bob.age == 30)
            try onAnotherThread {
                try bob.save {
                    $0.age = 31
                    $0.name = "Robert"
                }
                #expect(bob.age == 31)
            }
            #expect(bob.age == 30 && bob.name == "Bob" && bob.values.name == "Bob")
            #expect("\(bob)".contains("Bob") && !"\(bob)".contains("Robert"))
            #expect(try Person.where(\.age == 30).all(in: db) == [bob])
            #expect(try Person.find(bob.id, in: db) === bob && bob.age == 30)
            #expect(try bob.encodedValues["name"] == .text("Bob"))
        }
        #expect(bob.age == 31 && bob.name == "Robert")
    }

    @Test("[49] a query takes the snapshot, and objects that were not read before show it too")
    func queryFirst() throws {
        let ann = try test.person("Ann", age: 1)
        try db.read { [db, bob] in
            #expect(try Person.query.sum(\.age, in: db) == 31)
            try onAnotherThread {
                try db.transaction {
                    try bob.save { $0.age = 40 }
                    try ann.save { $0.age = -9 }
                }
            }
            #expect((bob.age ?? 0) + (ann.age ?? 0) == 31)
            #expect(try Person.all(in: db).reduce(0) { $0 + ($1.age ?? 0) } == 31)
        }
        #expect((bob.age ?? 0) + (ann.age ?? 0) == 31)
    }

    @Test("[49] a row that is deleted after the snapshot is there in the read, and one that is inserted is not")
    func rows() throws {
        let added = OutcomeBox<Person>()
        try db.read { [db, bob] in
            #expect(try Person.count(in: db) == 1)
            try onAnotherThread { [test] in
                try bob.delete()
                added.set(.success(try test.person("Ann")))
                #expect(bob.isDeleted)
            }
            let ann = try added.wait().get()
            #expect(!bob.isDeleted && bob.rowState == .persisted && bob.name == "Bob")
            #expect(try Person.all(in: db) == [bob])
            #expect(try Person.find(bob.id, in: db) === bob)
            #expect(try Person.find(ann.id, in: db) == nil && ann.isNew && ann.name == "Ann")
        }
        #expect(bob.isDeleted)
        #expect(try Person.all(in: db).map(\.name) == ["Ann"])
    }

    @Test("[49] what another program has committed before the read shows in objects that have not followed it yet")
    func otherProgram() throws {
        try RawConnection(path: test.path).run("UPDATE Person SET age = 50")
        try db.read { #expect(bob.age == 50) }
        try db.read { [db] in
            #expect(try Person.where(\.age == 50).count(in: db) == 1)
            try RawConnection(path: test.path).run("UPDATE Person SET age = 60")
            try onAnotherThread { try db.refresh() }
            #expect(bob.age == 50)
        }
        #expect(bob.age == 60)
    }

    @Test("[49] objects of a table without a journal show the snapshot too")
    func uncaptured() throws {
        let file = TemporaryDirectory()
        let db = try Database(path: file.file("local.sqlite")) {
            $0.automatic(Item.self)
            $0.local("Item")
        }
        let item = try Item.create(in: db) { $0.title = "old" }
        try db.read {
            #expect(try Item.count(in: db) == 1)
            try onAnotherThread { try item.save { $0.title = "new" } }
            #expect(item.title == "old")
        }
        #expect(item.title == "new")
        try db.close()
    }

    @Test("[49] unsaved objects and transient properties are those of memory")
    func memory() throws {
        let made = try Person.makeUnsaved(in: db) { $0.name = "Made" }
        try bob.save { $0.isSelected = true }
        try db.read { [bob] in
            #expect(made.isNew && made.name == "Made" && bob.isSelected)
            try onAnotherThread { try bob.save { $0.age = 1 } }
            #expect(bob.age == 30 && bob.isSelected)
        }
    }

    @Test("[49] a transaction's own changes show in a read inside it")
    func transaction() throws {
        try db.transaction {
            try bob.save { $0.age = 5 }
            try db.read { #expect(bob.age == 5) }
        }
    }

    @Test("[27, 49] references that are followed in a read are those of its snapshot")
    func references() throws {
        let file = TemporaryDirectory()
        let db = try Database(path: file.file("band.sqlite")) { $0.automatic(Leader.self, Member.self) }
        let miles = try Leader.create(in: db) { $0.name = "Miles" }
        let bill = try Leader.create(in: db) { $0.name = "Bill" }
        let member = try Member.create(in: db) { $0.leader = Ref(miles) }
        try db.read {
            #expect(try Member.count(in: db) == 1)
            try onAnotherThread { try member.save { $0.leader = Ref(bill) } }
            #expect(try member.related(\.leader) === miles)
            #expect(try Member.query.including(\.leader).all(in: db).map { $0.1?.name } == ["Miles"])
        }
        try db.close()
    }

    @Model final class Leader {
        var id: Int64
        var name: String = ""
    }

    @Model final class Member {
        var id: Int64
        var leader: Ref<Leader>?
    }

    @Test("[49] asynchronous reads and live values show one state")
    func asynchronous() async throws {
        let sum = try await db.read { [db, bob] in
            let before = try Person.query.sum(\.age, in: db)
            try onAnotherThread { try bob.save { $0.age = 77 } }
            return before == bob.age
        }
        #expect(sum && bob.age == 77)
        let live = db.live { [db, bob] in
            let read = try Person.query.sum(\.age, in: db)
            if read == 77 { try onAnotherThread { try bob.save { $0.age = 78 } } }
            return [read, bob.age ?? 0]
        }.makeAsyncIterator()
        #expect(try await live.next() == [77, 77])
        #expect(try await live.next() == [78, 78])
    }
}
