import Foundation
import Store
import Testing

@Suite("Upserts")
struct UpsertTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @discardableResult
    private func upsert(_ id: Int64, _ name: String, age: Int? = nil) throws -> Person {
        try Person.upsert(id, in: db) {
            $0.name = name
            $0.age = age
            $0.createdTime = Date(timeIntervalSince1970: 1)
        }
    }

    @Test("[12] an upsert inserts a row or updates the row of its key, and the live object follows")
    func insertOrUpdate() async throws {
        let events = Person.changes(in: db).makeAsyncIterator()
        let bob = try upsert(7, "Bob", age: 1)
        #expect(bob.id == 7 && bob.age == 1)
        #expect(try #require(await events.next()).inserted == [7])
        #expect(try upsert(7, "Bob", age: 2) === bob)
        #expect(bob.age == 2)
        let update = try #require(await events.next())
        #expect(update.updated == [7] && update.columns == ["age"])
        #expect(try Person.count(in: db) == 1)
    }

    @Test("[12] [42] an upsert that changes nothing writes nothing")
    func noOp() throws {
        try upsert(7, "Bob")
        let before = try test.journalCount()
        try upsert(7, "Bob")
        #expect(try test.journalCount() == before)
    }

    @Test("[12] [T13] an upsert never touches another row: a clash in a unique column is an error, and both rows stay")
    func uniqueClash() throws {
        let bob = try upsert(1, "Bob")
        let ann = try upsert(2, "Ann")
        #expect(code { try upsert(2, "Bob") } == .unique)
        #expect(code { try upsert(3, "Bob") } == .unique)
        #expect(bob.name == "Bob" && ann.name == "Ann" && !bob.isDeleted)
        #expect(try Person.count(in: db) == 2)
        try db.execute(
            "CREATE TABLE Colliding (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, n INTEGER NOT NULL UNIQUE ON CONFLICT REPLACE)"
        )
        let one = try Colliding.upsert(1, in: db) { $0.n = 1 }
        #expect(code { try Colliding.upsert(2, in: db) { $0.n = 1 } } == .unique)
        #expect(try Colliding.upsert(1, in: db) { $0.n = 5 } === one)
        #expect(try Colliding.count(in: db) == 1)
    }

    @Test("[12] many upserts are one transaction, and composite keys and rows without other columns work")
    func many() throws {
        let lines = try OrderLine.upsert(from: 0..<100, in: db) {
            $0.order = Int64($1 % 10)
            $0.line = "l\($1 % 7)"
            $0.count = $1
        }
        #expect(try OrderLine.count(in: db) == 70)
        #expect(lines.count == 100 && lines[99].count == 99 && lines[29].count == lines[99].count)
        #expect(
            code {
                try Person.upsert(from: [1, 2], in: db) {
                    $0.id = Int64($1)
                    $0.name = "same"
                    $0.createdTime = .now
                }
            } == .unique)
        #expect(try Person.count(in: db) == 0)
        #expect(code { try Person.upsert(1, in: db) { $0.name = "x" } } == .missingValue)
    }
}
