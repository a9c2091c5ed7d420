import Foundation
import Journal
import Store
import Testing

/// A model of the table of ``Person`` whose last two objects stay in memory.
@Model(table: "Person")
final class RecentPerson {
    var id: Int64
    var name: String = ""
    static let cachePolicy = CachePolicy.recent(2)
}

@Model(table: "Person")
final class KeptPerson {
    var id: Int64
    var name: String = ""
    static let cachePolicy = CachePolicy.all
}

@Suite("Caches and objects kept in memory", .timeLimit(.minutes(1)))
struct CacheTests {
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

    /// Returns the result of `body` when it needs no SELECT; nil when it runs one.
    private func unasked<T>(_ body: () throws -> T) throws -> T? {
        let before = db.metrics.queries
        let value = try body()
        return db.metrics.queries == before ? value : nil
    }

    @Test("[44] a cached query runs again only when its choice or order may have changed")
    func cachedQuery() throws {
        let old = Person.where(\.age >= 30).order(by: \.name)
        #expect(try old.cached(in: db).map(\.id) == [3, 4])
        #expect(try unasked { try old.cached(in: db).map(\.id) } == [3, 4])
        // The query does not use this column; the objects follow by themselves.
        try people[3].save { $0.createdTime = Date(timeIntervalSince1970: 4) }
        #expect(try unasked { try old.cached(in: db)[1].createdTime } == Date(timeIntervalSince1970: 4))
        try people[0].save { $0.age = 50 }
        #expect(try old.cached(in: db).map(\.id) == [1, 3, 4])
        try db.execute("UPDATE Person SET name = 'a' WHERE id = 4")
        #expect(try old.cached(in: db).map(\.id) == [4, 1, 3])
        try people[2].delete()
        #expect(try old.cached(in: db).map(\.id) == [4, 1])
        try test.person("new", age: 60)
        #expect(try old.cached(in: db).count == 3)
        try RemoteChange.apply(to: test.path, id: 4, age: 7, origin: OriginID(high: 1, low: 2))
        try db.refresh()
        #expect(try old.cached(in: db).count == 2)
    }

    @Test("[44] [T6] a cached query with ignored columns keeps its result when only those change")
    func ignoredColumns() throws {
        let byAge = Person.query.order(by: \.age)
        #expect(try byAge.cached(ignoring: [\.age], in: db).map(\.id) == [1, 2, 3, 4])
        try people[0].save { $0.age = 99 }
        #expect(try unasked { try byAge.cached(ignoring: [\.age], in: db).map(\.id) } == [1, 2, 3, 4])
        #expect(try byAge.cached(in: db).map(\.id) == [2, 3, 4, 1])
        try people[0].delete()
        #expect(try byAge.cached(ignoring: [\.age], in: db).map(\.id) == [2, 3, 4])
    }

    @Test("[44] [T6] a cached value with ignored columns keeps its result when only those change")
    func ignoredColumnsOfValues() throws {
        func old() throws -> Int {
            try db.cached("old", ignoringColumns: ["AGE"]) {
                try Person.where(\.age > 30 && \.name != "x").count(in: db)
            }
        }
        #expect(try old() == 1)
        try people[0].save { $0.age = 99 }
        try db.execute("UPDATE Person SET age = 98")
        #expect(try unasked { try old() } == 1)
        // Another column that it reads, and rows that are added and deleted.
        try people[1].save { $0.name = "x" }
        #expect(try old() == 3)
        try people[0].delete()
        #expect(try old() == 2)
    }

    @Test("[44] a cached value depends on whether an object is deleted that its computation asks")
    func cachedDeletion() throws {
        let person = try #require(try Person.find(1, in: db))
        func isDeleted() throws -> Bool { try db.cached("deleted") { person.isDeleted } }
        #expect(try !isDeleted())
        #expect(try unasked { try isDeleted() } == false)
        try db.execute("DELETE FROM Person WHERE id = 1")
        #expect(try isDeleted())
    }

    @Test("[44] a cached value depends on the tables that its computation reads, and a failure is not cached")
    func cachedValue() throws {
        try db.execute("CREATE TABLE bonus (person INTEGER PRIMARY KEY, amount INTEGER NOT NULL)")
        var runs = 0
        func total() throws -> Int {
            try db.cached("total") {
                runs += 1
                if runs == 1 { throw Refused() }
                return try Person.query.sum(\.age, in: db)
                    + (db.value(Int.self, "SELECT total(amount) FROM bonus") ?? 0)
            }
        }
        #expect(throws: Refused.self) { try total() }
        #expect(try total() == 100)
        #expect(try total() == 100 && runs == 2)
        try db.execute("UPDATE Person SET name = name || '!'")
        try Item.create(in: db) { $0.title = "hat" }
        #expect(try total() == 100 && runs == 2)
        try db.execute("INSERT INTO bonus VALUES (1, 7)")
        #expect(try total() == 107 && runs == 3)
        try Person.where(\.id == 1).update(.set(\.age, to: 11), in: db)
        #expect(try total() == 108 && runs == 4)
        // The object is found in memory, which counts as a read, too.
        #expect(try db.cached("first") { try Person.find(1, in: db)?.age } == 11)
        try people[0].save { $0.age = 12 }
        #expect(try db.cached("first") { try Person.find(1, in: db)?.age } == 12)
    }

    @Test("[44] a transaction sees its own changes, and its uncommitted results are not kept")
    func insideTransaction() throws {
        let all = Person.query.order(by: \.id)
        #expect(try all.cached(in: db).count == 4)
        try? db.transaction {
            try people[0].delete()
            #expect(try all.cached(in: db).count == 3)
            #expect(try db.cached("n") { try Person.count(in: db) } == 3)
            throw Refused()
        }
        #expect(try all.cached(in: db).count == 4)
        #expect(try db.cached("n") { try Person.count(in: db) } == 4)
    }

    @Test("[44] caches are emptied before events are delivered, and silent commits empty them too")
    func beforeEvents() async throws {
        let all = Person.query.order(by: \.id)
        let events = Person.changes(in: db).makeAsyncIterator()
        for _ in 0..<20 {
            let count = try all.cached(in: db).count
            let writer = Task.detached { [test] in try test.person("w\(count)") }
            _ = await events.next()
            #expect(try all.cached(in: test.db).count == count + 1)
            _ = try await writer.value
        }
        let count = try all.cached(in: db).count
        _ = try db.silently { try test.person("silent") }
        #expect(try all.cached(in: db).count == count + 1)
    }

    @Test("[44] [T15] a failed write leaves cached results right")
    func failedWrite() throws {
        let names = Person.query.order(by: \.name)
        #expect(try names.cached(in: db).map(\.name) == ["p1", "p2", "p3", "p4"])
        #expect(code { try people[0].save { $0.name = "p2" } } == .unique)
        #expect(
            code { try db.execute("UPDATE Person SET name = 'z' WHERE id = 1; UPDATE Person SET age = 1000") } == .check
        )
        #expect(try names.cached(in: db).map(\.name) == ["p1", "p2", "p3", "p4"])
    }

    @Test("[44] after SQL on a table without capture, no result that may have read it stays cached")
    func uncaptured() throws {
        try db.execute("CREATE TABLE keyless (n INTEGER)")
        #expect(try db.cached("k") { try db.value(Int.self, "SELECT count(*) FROM keyless") } == 0)
        try db.execute("INSERT INTO keyless VALUES (1)")
        #expect(try db.cached("k") { try db.value(Int.self, "SELECT count(*) FROM keyless") } == 1)
    }

    @Test(
        "[46] a policy keeps the last objects, or all, until they are evicted; others are released when nobody holds them"
    )
    func policies() throws {
        for id in 1...4 { _ = try RecentPerson.find(Int64(id), in: db) }
        for id in 1...4 { _ = try KeptPerson.find(Int64(id), in: db) }
        #expect(db.metrics.liveObjects["RecentPerson"] == 2)
        #expect(db.metrics.liveObjects["KeptPerson"] == 4)
        #expect(try unasked { try RecentPerson.find(4, in: db)?.name } == "p4")
        #expect(try unasked { try RecentPerson.find(1, in: db)?.name } == nil)
        try db.execute("UPDATE Person SET name = 'x' WHERE id = 2")
        #expect(try KeptPerson.find(2, in: db)?.name == "x")
        let held = try #require(try KeptPerson.find(3, in: db))
        _ = try Person.query.cached(in: db)
        #expect(db.metrics.cachedResults == 1)
        db.evictAll()
        #expect(db.metrics.liveObjects["RecentPerson"] == 0)
        #expect(db.metrics.liveObjects["KeptPerson"] == 1)
        #expect(db.metrics.cachedResults == 0)
        #expect(try KeptPerson.find(3, in: db) === held)
    }

    @Test("[46] metrics count hits, misses and queries")
    func metrics() throws {
        let before = db.metrics
        for _ in 0..<3 { _ = try db.cached("x") { try Person.count(in: db) } }
        let after = db.metrics
        #expect(after.cacheMisses - before.cacheMisses == 1)
        #expect(after.cacheHits - before.cacheHits == 2)
        #expect(after.queries - before.queries == 1)
    }

    @Test("[47] changes that no journal records are noticed by notifyExternalChange()")
    func externalChange() async throws {
        let other = try Database(path: test.path, options: TestDatabase.options)
        try db.execute("CREATE TABLE Loose (id INTEGER, name TEXT); INSERT INTO Loose VALUES (1, 'before')")
        let loose = try #require(try Loose.find(1, in: db))
        #expect(try db.cached("loose") { try db.value(String.self, "SELECT name FROM Loose") } == "before")
        try other.execute("UPDATE Loose SET name = 'after'")
        try db.refresh()
        #expect(loose.name == "before")
        try db.notifyExternalChange()
        #expect(loose.name == "after")
        #expect(try db.cached("loose") { try db.value(String.self, "SELECT name FROM Loose") } == "after")
        try other.close()
    }
}

/// A model of a table without a declared key, which is not captured.
@Model
final class Loose {
    var id: Int64
    var name: String = ""
}
