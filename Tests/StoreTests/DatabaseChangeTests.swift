import Journal
import Store
import TestSupport
import Testing

@Suite("Changes of all models", .timeLimit(.minutes(1)))
struct DatabaseChangeTests {
    @Model final class Shop {
        var id: Int64
        var name: String = ""
    }

    @Model final class Sale {
        var id: Int64
        var shop: Ref<Shop>?
        var amount: Int = 0
    }

    let file = TemporaryDirectory()
    let path: String
    let db: Database

    init() throws {
        path = file.file("shops.sqlite")
        db = try Database(path: path) { $0.automatic(Shop.self, Sale.self) }
    }

    @Test("[41] each commit gives one element for each model that it changed, in the order of the commits")
    func commits() async throws {
        let changes = db.changes().makeAsyncIterator()
        let shop = try db.transaction {
            let shop = try Shop.create(1, in: db) { $0.name = "A" }
            try Sale.create(7, in: db) { ($0.shop, $0.amount) = (Ref(shop), 3) }
            return shop
        }
        try Sale.query.update(.set(\.amount, to: 4), in: db)
        try RawConnection(path: path).run("DELETE FROM Shop; DELETE FROM Sale")
        try db.refresh()
        var seen: Set<String> = []
        for _ in 0..<2 {
            let change = try #require(await changes.next())
            seen.insert(change.table)
            #expect(change.kinds == [.inserted] && change.count == 1 && change.isComplete && change.origin == .local)
            if let shops = change.of(Shop.self) {
                #expect(shops.inserted == [1] && change.of(Sale.self) == nil && change.model == Shop.self)
            }
        }
        #expect(seen == ["Shop", "Sale"])
        let update = try #require(await changes.next())
        #expect(update.of(Sale.self)?.updated == [7] && update.of(Sale.self)?.columns == ["amount"])
        // Two commits of another program, which are read together, stay in their order.
        let first = try #require(await changes.next())
        let second = try #require(await changes.next())
        #expect(first.of(Shop.self)?.deleted == [1] && second.of(Sale.self)?.deleted == [7])
        #expect(first.of(Shop.self)?.changes.first?.old?.name == "A" && shop.isDeleted)
    }

    @Test("[41] a listener names models and kinds of change")
    func filters() async throws {
        let sales = db.changes(of: Sale.self, kinds: [.deleted]).makeAsyncIterator()
        let shops = Shop.changes(in: db, kinds: [.inserted, .deleted]).makeAsyncIterator()
        let shop = try Shop.create(1, in: db)
        let sale = try Sale.create(7, in: db)
        try db.transaction {
            try shop.save { $0.name = "B" }
            try sale.save { $0.amount = 9 }
        }
        try db.transaction {
            try shop.delete()
            try sale.delete()
            try Sale.create(8, in: db)
        }
        let deleted = try #require(await sales.next())
        #expect(deleted.of(Sale.self)?.deleted == [7] && deleted.count == 1 && deleted.kinds == [.deleted])
        #expect(await shops.next()?.inserted == [1])
        #expect(await shops.next()?.deleted == [1])
    }

    @Test("[41] a model that is first used later is followed from then on; the sequence ends with the database")
    func later() async throws {
        let path = file.file("people.sqlite")
        let db = try Database(path: path) { schema in
            schema.version(1) { try $0.execute("CREATE TABLE Shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL)") }
        }
        let changes = db.changes().makeAsyncIterator()
        try Shop.create(1, in: db) { $0.name = "A" }
        #expect(await changes.next()?.of(Shop.self)?.inserted == [1])
        try db.close()
        #expect(await changes.next() == nil)
        #expect(await db.changes().makeAsyncIterator().next() == nil)
    }

    @Test("[41] a listener that falls behind is told that changes are missing")
    func overflow() async throws {
        let changes = db.changes(of: Shop.self).makeAsyncIterator()
        for id in 1...1_030 { try Shop.create(Int64(id), in: db) }
        var count = 0
        var last: DatabaseChange?
        while count < 1_024 {
            last = await changes.next()
            count += 1
        }
        #expect(last?.isComplete == false && last?.of(Shop.self)?.isComplete == false)
    }
}
