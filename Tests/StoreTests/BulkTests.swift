import Foundation
import Store
import Testing

@Suite("Bulk changes")
struct BulkTests {
    let test: TestDatabase
    let people: [Person]
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        people = try Person.create(from: 1...5, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 == 5 ? nil : $1 * 10
            $0.createdTime = .now
        }
    }

    @Test("[19] an update by condition sets constants and expressions in one statement, and live objects follow")
    func updateWhere() throws {
        #expect(
            try Person.where(\.age > 20).update(.set(\.age, to: \.age + 1), .set(\.name, to: \.name + "!"), in: db) == 2
        )
        #expect(people.map(\.age) == [10, 20, 31, 41, nil])
        #expect(people.map(\.name) == ["p1", "p2", "p3!", "p4!", "p5"])
    }

    @Test("[T15] an update that mixes constants and expressions skips no row")
    func mixedUpdate() throws {
        #expect(
            try Person.query.update(
                .set(\.age, to: \.age * 2), .set(\.createdTime, to: Date(timeIntervalSince1970: 5)), in: db) == 5)
        #expect(people.map(\.age) == [20, 40, 60, 80, nil])
        #expect(people.allSatisfy { $0.createdTime == Date(timeIntervalSince1970: 5) })
    }

    @Test("[19] raw expressions and NULL are assigned")
    func assignments() throws {
        try Person.where(\.id == 1).update(.set(\.age, to: .sql("length(name) + \(5)")), in: db)
        try Person.where(\.id == 2).update(.set(\.age, to: nil), in: db)
        #expect(people.prefix(2).map(\.age) == [7, nil])
        #expect(code { try Person.query.update(in: db) } == .sql)
    }

    @Test("[19] a limit chooses the rows of an update and of a delete")
    func limits() throws {
        #expect(try Person.query.order(.descending(\.id)).limit(2).update(.set(\.age, to: 1), in: db) == 2)
        #expect(people.map(\.age) == [10, 20, 30, 1, 1])
        #expect(try Person.query.order(by: \.id).limit(1).delete(in: db) == 1)
        #expect(people.map(\.isDeleted) == [true, false, false, false, false])
    }

    @Test("[19] updates and deletes by keys take any number of them, in one transaction, with one event")
    func keyLists() async throws {
        let many = try Person.create(from: 10..<1_510, in: db) {
            $0.id = Int64($1)
            $0.name = "m\($1)"
            $0.age = 1
            $0.createdTime = .now
        }
        let events = Person.changes(in: db).makeAsyncIterator()
        let ids = many.map(\.id)
        #expect(try Person.update(ids: ids + ids + [99_999], .set(\.age, to: \.age + 1), in: db) == 1_500)
        #expect(many.allSatisfy { $0.age == 2 })
        #expect(try #require(await events.next()).updated.count == 1_500)
        #expect(code { try Person.update(ids: ids, .set(\.age, to: 500), in: db) } == .check)
        #expect(many.allSatisfy { $0.age == 2 })
        #expect(try Person.delete(ids: ids, in: db) == 1_500)
        #expect(many.allSatisfy { $0.isDeleted })
        #expect(try #require(await events.next()).deleted.count == 1_500)
        #expect(try Person.count(in: db) == 5)
    }

    @Test("[19] composite keys work in lists")
    func compositeKeys() throws {
        let lines = try OrderLine.create(from: 0..<600, in: db) {
            $0.order = Int64($1 / 10)
            $0.line = "l\($1 % 10)"
        }
        #expect(try OrderLine.update(ids: lines.prefix(550).map(\.id), .set(\.count, to: 7), in: db) == 550)
        #expect(lines[549].count == 7 && lines[550].count == 1)
        #expect(try OrderLine.find(lines.map(\.id).reversed(), in: db).map(\.id) == lines.map(\.id).reversed())
        #expect(try OrderLine.where(\.count == 7).order(by: \.order).limit(10).delete(in: db) == 10)
        #expect(try OrderLine.where(\.order == 3 && \.line == "l4").ids(in: db) == [OrderLine.ID(order: 3, line: "l4")])
    }

    @Test("[19] [T4] inside of a transaction live objects follow at once, and a rollback undoes it")
    func insideTransaction() throws {
        try? db.transaction {
            try Person.where(\.id == 1).update(.set(\.age, to: \.age + 5), in: db)
            #expect(people[0].age == 15)
            try Person.where(\.id == 2).delete(in: db)
            #expect(people[1].isDeleted)
            throw Refused()
        }
        #expect(people[0].age == 10 && !people[1].isDeleted)
    }

    @Test("[18] rows inserted by SQL are reported by key, and objects of deleted keys live again")
    func bulkInsert() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        try people[0].delete()
        #expect(try #require(await events.next()).deleted == [1])
        try Person.execute(
            "INSERT INTO $T (id, name, created_time) SELECT id - 1, name || '+', 5 FROM $T WHERE id = 2", in: db)
        #expect(try #require(await events.next()).inserted == [1])
        #expect(!people[0].isDeleted && people[0].name == "p2+")
    }

    @Test("[19] an update that changes nothing is neither journalled nor reported")
    func noOp() throws {
        let before = try test.journalCount()
        #expect(try Person.where(\.id == 1).update(.set(\.age, to: 10), in: db) == 1)
        #expect(try test.journalCount() == before)
    }
}
