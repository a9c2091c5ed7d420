import Foundation
import Store
import Testing

@Suite("Article: queries", .timeLimit(.minutes(1)))
struct QueriesTests {
    let file = ArticleFile()

    private func makePeople(_ db: Database) throws -> Person {
        try Person.create(from: [("Ann", 70), ("Bob", 30), ("Eve", 17)], in: db) {
            $0.name = $1.0
            $0.age = $1.1
            $0.email = $1.0 == "Ann" ? "ann@example.com" : nil
        }[1]
    }

    @Test("[20, 21, 22, 23, 24] conditions by key paths, by SQL, and both")
    func conditions() throws {
        let db = try file.open()
        _ = try makePeople(db)
        let name = "Ann"
        let old = try Person.where(\.age > 60 && \.email != nil).order(by: \.name).limit(10).all(in: db)
        let nameless = try Person.where(\.email == nil || .like(\.name, "A%")).all(in: db)
        let mixed = try Person.where(\.age > 60 && .sql("length(name) < \(5)")).order(.descending(\.age)).all(in: db)
        #expect(old.map(\.name) == ["Ann"] && nameless.count == 3 && mixed.count == 1)
        let some = try Person.where("age > \(18) AND name <> \(name)").order(by: \.name).limit(5).all(in: db)
        let more = try Person.where("age > ? AND name <> ?", 18, name).all(in: db)
        let named = try SQL("age > :age AND name <> :name", named: ["age": 18, "name": name])
        let array = try SQL("age > ? AND name <> ?", arguments: [18, name])
        let counted = try Person.where(named).count(in: db)
        let all = try Person.query.order(.sql("name DESC, $PK")).all(in: db)
        let first = try Person.where(array).order(by: \.age).first(in: db)
        #expect(some.map(\.name) == ["Bob"] && more.map(\.name) == ["Bob"] && counted == 1)
        #expect(all.map(\.name) == ["Eve", "Bob", "Ann"] && first?.name == "Bob")
        let (ids, names) = (all.map(\.id), ["Eve", "Nobody"])
        let chosen = try Person.find(ids, in: db)  // in the order of ids
        let byKey = try Person.keyed(ids, in: db)
        let listed = try Person.where(.in(\.name, names)).all(in: db)
        let among = try Person.where("age > \(10) AND name IN (\(names))").all(in: db)  // a parameter for each element
        #expect(chosen.map(\.id) == ids && byKey.count == 3 && listed.map(\.name) == ["Eve"])
        #expect(among.map(\.name) == ["Eve"])
    }

    @Test("[7, 17, 22] columns, texts, ranges, and rows by their keys")
    func forms() throws {
        let db = try file.open()
        let bob = try makePeople(db)
        let stranger: Int64 = 7
        let busy = try Person.where(.hasPrefix(\.name, "A") && \.age > \.visits).order(by: \.name, \.age).all(in: db)
        let adults = try Person.where(.between(\.age, 18..<65)).order(by: \.age, .descending).all(in: db)
        let one = try Person.require(bob.id, in: db)  // throws when there is no such row; find returns nil
        let isThere = try Person.exists(bob.id, in: db)
        let wasThere = try Person.delete(stranger, in: db)
        #expect(busy.map(\.name) == ["Ann"] && adults == [bob] && one === bob && isThere && !wasThere)
    }

    @Test("[20, 25] pages and batches")
    func pages() async throws {
        let db = try file.open()
        _ = try makePeople(db)
        var second: Page<Person>?
        let people = Person.query.order(by: \.name)
        let page = try people.page(size: 2, in: db)
        if let next = page.next {
            second = try people.page(size: 2, after: next, in: db)
        }
        #expect(page.objects.map(\.name) == ["Ann", "Bob"] && second?.objects.map(\.name) == ["Eve"])
        #expect(second?.next == nil)
        try Person.where(\.age > 60).forEach(batch: 500, in: db) { people in
            try db.transaction { for person in people { try person.save { $0.visits += 1 } } }
        }
        var names: [String] = []
        for try await people in Person.query.batches(of: 500, in: db) { names += people.map(\.name) }
        #expect(names.count == 3)
        #expect(try exported(people, db).map(\.visits) == [1, 0, 0])
    }

    @Test("[25] rows of a SELECT and structs in batches")
    func batches() async throws {
        let db = try file.open()
        _ = try makePeople(db)
        var count = 0
        try db.forEachRow(batch: 500, "SELECT name FROM Person") { rows in count += rows.count }
        for try await rows in db.rowBatches(of: 500, "SELECT name FROM Person") { count += rows.count }
        for try await people in PersonRow.query.batches(of: 500, in: db) { count += people.count }
        #expect(count == 9)
    }

    private func exported(_ people: Query<Person>, _ db: Database) throws -> [Person.Fields] {
        var exported: [Person.Fields] = []
        try db.read { try people.forEachValues(batch: 500, in: db) { exported += $0 } }
        return exported
    }

    @Test("[25, 26] numbers, columns and dictionaries")
    func numbers() throws {
        let db = try file.open()
        _ = try makePeople(db)
        let count = try Person.where(\.age > 18).count(in: db)
        let sum = try Person.query.sum(\.visits, in: db)
        let oldest = try Person.query.max(\.age, in: db)  // also min
        let mean = try Person.query.average(\.age, in: db)  // nil without a value
        let different = try Person.query.countDistinct(\.name, in: db)
        let pairs = try Person.query.order(by: \.name).select(\.name, \.age, in: db)  // [(String, Int?)]
        let ages = try Person.query.dictionary(\.name, \.age, in: db)
        let keys = try Person.query.ids(in: db)
        let number = try db.value(Int.self, "SELECT count(*) FROM Person")
        let texts = try db.values(String.self, "SELECT name FROM Person ORDER BY name")
        let rows = try db.rows("SELECT name, age FROM Person WHERE age > ?", 18)
        let twins = try Person.fetch("WHERE name IN (SELECT name FROM $T GROUP BY name HAVING count(*) > 1)", in: db)
        #expect(mean == 39 && different == 3 && twins.isEmpty)
        #expect(count == 2 && sum == 0 && oldest == .some(70) && pairs.map(\.0) == ["Ann", "Bob", "Eve"])
        #expect(
            ages["Bob"] == .some(30) && keys.count == 3 && number == 3 && texts == pairs.map(\.0) && rows.count == 2)
    }

    @Test("[22, 25, 28] decimals are ordered and added by size")
    func decimals() throws {
        let db = try file.open()
        for price: Decimal in [9, 10.5, 100, 20] { try Item.create(in: db) { $0.price = price } }
        let dear = try Item.where(\.price > 10).order(.descending(\.price)).all(in: db)
        let value = try Item.query.sum(\.price, in: db)
        #expect(dear.map(\.price) == [100, 20, 10.5] && value == 139.5)
    }

    @Test("[26, 27] two models, joined or by reference")
    func relations() throws {
        let db = try file.open()
        let bob = try makePeople(db)
        let item = try Item.create(in: db) { $0.owner = Ref(bob) }
        let sellers = try Person.where(.exists(Item.where(\.price > 10), on: \.id == \.owner)).all(in: db)
        let theirs = try Item.where(.in(\.owner, Person.where(\.age > 60))).all(in: db)
        let owners = try Person.where(.in(\.id, Item.query.select(\.owner))).all(in: db)
        let titles = try Item.query.select(\.title).distinct().all(in: db)
        #expect(sellers.isEmpty && theirs.isEmpty && owners == [bob] && titles == [""])
        let items = try Person.join(Item.self, on: \.id == \.owner).where(\.age > 18).all(in: db)  // [(Person, Item)]
        let withOrWithout = try Person.leftJoin(Item.self, on: \.id == \.owner).all(in: db)  // [(Person, Item?)]
        #expect(items.count == 1 && items[0].0 === bob && withOrWithout.count == 3)
        let ann = try Person.where(\.name == "Ann").first(in: db) ?? bob
        let joined = Person.join(Item.self, on: \.id == \.owner)
        let ordered = try joined.where("$T.age > \(18)").order(by: \.name, \.age).all(in: db)
        let others = try Item.where(.in(\.owner, [bob, ann])).order(by: \.title).limit(10, offset: 20).all(in: db)
        #expect(ordered.count == 1 && ordered[0].1 === item && others.isEmpty)
        let owner = try item.related(\.owner)
        let same = try Item.where(\.owner == bob).all(in: db)
        let belongings = try bob.related(Item.self, by: \.owner).order(by: \.title).all(in: db)
        let prefetched = try Item.query.including(\.owner).all(in: db)  // two queries, however many rows
        #expect(owner === bob && same == [item] && belongings.first === item && prefetched[0].1 === bob)
    }
}
