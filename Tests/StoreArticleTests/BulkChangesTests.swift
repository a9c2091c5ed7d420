import Foundation
import Store
import Testing

@Suite("Article: changing many rows", .timeLimit(.minutes(1)))
struct BulkChangesTests {
    let file = ArticleFile()

    @Test("[18, 19] objects in memory follow each kind of bulk statement")
    func following() throws {
        let db = try file.open()
        let names = ["Ann", "Bob", "Eve"]
        let people = try Person.create(from: names, in: db) {
            $0.name = $1; $0.age = $1 == "Eve" ? 17 : 40
        }
        let ids = people.prefix(2).map(\.id)
        try Person.execute("UPDATE $T SET visits = visits + 1 WHERE age > ?", 18, in: db)
        #expect(people.map(\.visits) == [1, 1, 0])
        try Person.where(\.age < 18).update(.set(\.visits, to: \.visits + 1), .set(\.email, to: nil), in: db)
        #expect(people.map(\.visits) == [1, 1, 1])
        try Person.where(\.age == nil).update(.set(\.age, to: \.visits * 2), .set(\.email, to: \.name), in: db)
        try Person.update(ids: ids, .set(\.visits, to: 0), in: db)  // any number of keys
        #expect(people.map(\.visits) == [0, 0, 1])
        try Person.where(\.visits == 0).delete(in: db)
        #expect(people.map(\.isDeleted) == [true, true, false])
        try Person.delete(ids: ids, in: db)
        try Person.create(from: names, in: db) { $0.name = $1 }  // all, or none
        let changed = try db.execute("UPDATE Person SET visits = 0; DELETE FROM Item")
        #expect(changed == 4 && people[2].visits == 0)
    }

    @Test("[11] many rows are loaded without objects, all or none")
    func loading() throws {
        let db = try file.open()
        let names = ["Ann", "Bob", "Eve"]
        let count = try Person.insertRows(from: names, in: db) { $0.name = $1 }  // without objects: the fastest way
        #expect(try count == 3 && Person.query.order(by: \.name).select(\.name, in: db) == names)
        #expect(db.metrics.liveObjects["Person"] == 0)
        #expect(throws: Nameless.self) {
            try Person.insertRows(from: names, in: db) { fields, name in
                if name == "Eve" { throw Nameless() }
                fields.name = name
            }
        }
        #expect(try Person.count(in: db) == 3)
    }
}
