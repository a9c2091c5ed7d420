import Foundation
import Store
import Testing

@Suite("Columns, aggregates and keys")
struct SelectTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try Person.create(from: 1...4, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 == 4 ? nil : $1 * 10
            $0.createdTime = .now
        }
    }

    @Test("[26] some columns are read as typed tuples, without an object")
    func tuples() throws {
        let pairs: [(String, Int?)] = try Person.query.order(by: \.id).select(\.name, \.age, in: db)
        #expect(pairs.map(\.0) == ["p1", "p2", "p3", "p4"])
        #expect(pairs.map(\.1) == [10, 20, 30, nil])
        let names: [String] = try Person.where(\.age > 10).order(by: \.id).select(\.name, in: db)
        #expect(names == ["p2", "p3"])
        #expect(db.metrics.liveObjects["Person"] == 0)
    }

    @Test("[25] counts and aggregates, of all rows, of some, and of none")
    func aggregates() throws {
        #expect(try Person.query.count(in: db) == 4)
        #expect(try Person.query.limit(3).count(in: db) == 3)
        #expect(try Person.query.sum(\.age, in: db) == 60)
        #expect(try Person.where(\.age > 10).sum(\.age, in: db) == 50)
        #expect(try Person.where(\.age > 100).sum(\.age, in: db) == 0)
        #expect(try Person.query.average(\.age, in: db) == 20)
        #expect(try Person.where(\.age > 100).average(\.age, in: db) == nil)
        #expect(try Person.query.max(\.name, in: db) == "p4")
        #expect(try Person.query.min(\.age, in: db) == .some(10))
        #expect(try Person.where(\.age > 100).min(\.name, in: db) == nil)
        #expect(try Person.query.order(.descending(\.id)).limit(2).sum(\.id, in: db) == 7)
        #expect(try Person.query.countDistinct(\.age, in: db) == 3)
        #expect(try Person.where(\.age > 100).isEmpty(in: db))
        #expect(try Person.query.isEmpty(in: db) == false)
    }

    @Test("[25] a sum that overflows is an error, not a rounded number")
    func overflow() throws {
        try db.execute("UPDATE Person SET id = 9223372036854775807 WHERE id = 4")
        try db.execute("UPDATE Person SET id = 9223372036854775806 WHERE id = 3")
        #expect(code { _ = try Person.query.sum(\.id, in: db) } == .sql)
    }

    @Test("[25] first value, first column, ids, dictionaries")
    func shapes() throws {
        #expect(try Person.where(\.name == "p2").value(\.age, in: db) == .some(20))
        #expect(try Person.where(\.name == "none").value(\.name, in: db) == nil)
        #expect(try Person.query.order(.descending(\.age)).ids(in: db) == [3, 2, 1, 4])
        #expect(try Person.query.dictionary(\.name, \.id, in: db) == ["p1": 1, "p2": 2, "p3": 3, "p4": 4])
        #expect(try db.value(Int.self, "SELECT max(age) FROM Person") == 30)
        #expect(try db.values(String.self, "SELECT name FROM Person WHERE age > \(10)") == ["p2", "p3"])
    }

    @Test("[24] results by key")
    func keyed() throws {
        let people = try Person.where(\.id <= 2).keyed(in: db)
        #expect(people.keys.sorted() == [1, 2])
        #expect(people[2]?.name == "p2")
        #expect(try Person.keyed([3, 99], in: db).keys.sorted() == [3])
    }

    @Test("[23] any number of keys is found in the given order, in few queries, and in none for objects in memory")
    func manyKeys() throws {
        try Person.create(from: 1_000..<3_000, in: db) {
            $0.id = Int64($1)
            $0.name = "m\($1)"
            $0.createdTime = .now
        }
        let ids = (1_000..<3_000).reversed().map { Int64($0) } + [77_777]
        var before = db.metrics.queries
        let found = try Person.find(ids, in: db)
        #expect(found.map(\.id) == Array(ids.dropLast()))
        #expect(db.metrics.queries - before == 5)
        before = db.metrics.queries
        #expect(try Person.find(Array(ids.dropLast()), in: db).count == 2_000)
        #expect(db.metrics.queries == before)
        #expect(try Person.find([2, 1, 2], in: db).map(\.id) == [2, 1, 2])
    }

    @Test("[2] any SELECT decodes into a struct by column names, and a class gives a snapshot of its values")
    func snapshots() throws {
        let rows = try db.rows(
            as: PersonRow.self, "SELECT upper(name) AS name, id FROM Person WHERE id < \(3) ORDER BY id")
        #expect(rows.map(\.name) == ["P1", "P2"] && rows.map(\.extra) == ["none", "none"])
        let bob = try #require(try Person.find(1, in: db))
        let before = bob.values
        try bob.save { $0.age = 99 }
        #expect(before.age == 10 && bob.values.age == 99)
    }

    @Test("[25] an undecodable value in a column query names the column")
    func undecodable() throws {
        try db.execute("CREATE TABLE Narrow (id INTEGER PRIMARY KEY, missing)")
        try db.execute("INSERT INTO Narrow VALUES (1, 5)")
        do {
            _ = try Narrow.query.select(\.missing, in: db)
            Issue.record("an INTEGER was read as a String")
        } catch let error as StoreError {
            #expect(error.code == .undecodable && error.column == "missing" && error.table == "Narrow")
        }
    }
}
