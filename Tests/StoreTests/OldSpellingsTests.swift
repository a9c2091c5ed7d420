import Store
import Testing

/// Spellings of earlier releases. The protocol hides from the compiler that they are deprecated, so that testing
/// them gives no warnings.
private protocol OldSpellings {
    func names(_ db: Database) throws -> [[String]]
    func counts(_ db: Database) throws -> [Int]
    func objects(_ db: Database) throws -> [Person]
    func rows(_ db: Database) throws -> [[String]]
}

private struct Calls: OldSpellings {
    @available(*, deprecated)
    func names(_ db: Database) throws -> [[String]] {
        let objects = [
            try Person.where("age > \(10) ORDER BY age DESC LIMIT 1", in: db),
            try Person.where("age > ? AND name <> ?", 10, "c", in: db),
            try Person.all(orderedBy: "age DESC", in: db),
            try Person.matching("age > \(10)").order(by: \.age).all(in: db),
            [try Person.first("age > ?", 10, orderedBy: "age DESC", in: db)].compactMap(\.self),
            [try Person.first(orderedBy: "age DESC", in: db)].compactMap(\.self),
        ]
        return objects.map { $0.map(\.name) }
    }

    @available(*, deprecated)
    func counts(_ db: Database) throws -> [Int] {
        [try Person.count(where: "age > ?", 10, in: db), try Person.count(where: nil, in: db)]
    }

    @available(*, deprecated)
    func objects(_ db: Database) throws -> [Person] {
        [try Person.make(7, in: db) { $0.name = "made" }, try Person.findOrMake(7, in: db)]
    }

    @available(*, deprecated)
    func rows(_ db: Database) throws -> [[String]] {
        try Item.insert(from: ["x", "y"], in: db) { $0.title = $1 }
        return [
            try PersonRow.where("age > \(10) ORDER BY age", in: db).map(\.name),
            try PersonRow.all(orderedBy: "age DESC", in: db).map(\.name),
            try db.values(String.self, "SELECT title FROM Item ORDER BY title"),
        ]
    }
}

@Suite("Spellings of earlier releases")
struct OldSpellingsTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        for (name, age) in [("a", 10), ("b", 20), ("c", 30)] { try test.person(name, age: age) }
    }

    private let calls: any OldSpellings = Calls()

    @Test("conditions, orders and counts in SQL read the same rows as before")
    func queries() throws {
        #expect(try calls.names(db) == [["c"], ["b"], ["c", "b", "a"], ["b", "c"], ["c"], ["c"]])
        #expect(try calls.counts(db) == [2, 3])
        #expect(try calls.rows(db) == [["b", "c"], ["c", "b", "a"], ["x", "y"]])
    }

    @Test("objects in memory are made as before")
    func unsaved() throws {
        let made = try calls.objects(db)
        #expect(made[0] === made[1] && made[0].isNew && made[0].name == "made")
    }
}
