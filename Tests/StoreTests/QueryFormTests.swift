import Foundation
import Store
import Testing

/// The forms in which people write conditions, orders and selections, on data.
@Suite("Forms of queries")
struct QueryFormTests {
    @Model final class Player {
        var id: Int64
        var name: String = ""
        var mentor: Ref<Player>?
    }

    @Model final class Concert {
        var id: Int64
        var title: String = ""
        var subtitle: String?
        var isOpen = false
        @Column(as: YesOrNo.self) var isFree: Bool = false
        var seats: Int = 0
        var sold: Int = 0
        var limit: Int?
        var price: Decimal = 0
        var deposit: Decimal?
        var begin: Date = Date(timeIntervalSince1970: 0)
        var end: Date?
        @Column(as: DateAsText.self) var announced: Date?
        @Column(unknown: Phase.draft) var phase: Phase = .draft
        var before: Phase = .draft
        var isSoldOut: Bool?
        var player: Ref<Player>?

        static let indexes = [Index(\.title, \.sold), Index(\.begin, where: "sold > 0")]
    }

    enum YesOrNo: ColumnCoding {
        static func decode(_ value: Value) throws -> Bool { try String(columnValue: value) == "yes" }
        static func encode(_ property: Bool) throws -> Value { .text(property ? "yes" : "no") }
    }

    let db: Database

    init() throws { db = try Database.inMemory { $0.automatic(Player.self, Concert.self) } }

    @discardableResult
    private func concert(_ id: Int64, _ change: (inout Concert.Fields) -> Void = { _ in }) throws -> Concert {
        try Concert.create(id, in: db) { change(&$0) }
    }

    private func ids(_ condition: Condition<Concert>) throws -> [Int64] {
        try Concert.where(condition).order(by: \.id).ids(in: db)
    }

    private func failure(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    // MARK: - Conditions

    @Test("[22] a column of truth values is a condition, and so is its negation, in any coding")
    func flags() throws {
        try concert(1) { $0.isOpen = true }
        try concert(2) { $0.isFree = true }
        try concert(3)
        // Another program's truth value, which reads as true.
        try db.execute("UPDATE Concert SET isOpen = 2 WHERE id = 3")
        #expect(try Concert.where(\.isOpen).order(by: \.id).ids(in: db) == [1, 3])
        #expect(try ids(!\.isOpen) == [2])
        #expect(try Concert.where(\.id > 0).where(\.isFree).ids(in: db) == [2])
        #expect(try ids(!\.isFree && \.id < 3) == [1])
    }

    @Test("[22] a required column is compared with an optional value, which as nil is no row's")
    func optionalAgainstRequired() throws {
        for id in 1...3 { try concert(Int64(id)) { $0.seats = id } }
        var seats: Int? = 2
        #expect(try ids(\.seats == seats) == [2])
        #expect(try ids(\.seats != seats) == [1, 3])
        seats = nil
        #expect(try ids(\.seats == seats) == [])
        #expect(try ids(\.seats != seats) == [1, 2, 3])
    }

    @Test("[22] an optional column is one of a sequence of values that are not")
    func inRequiredValues() throws {
        for id in 1...3 {
            try concert(Int64(id)) {
                $0.limit = id == 3 ? nil : id; $0.player = Ref(Int64(id))
            }
        }
        #expect(try ids(.in(\.limit, [0, 1, 2].dropFirst())) == [1, 2])
        #expect(try ids(.in(\.player, [1, 3].map { Ref<Player>($0) })) == [1, 3])
    }

    @Test("[22] a column lies in a range without one end; NULL lies in none")
    func partialRanges() throws {
        for id in 1...3 {
            try concert(Int64(id)) {
                $0.seats = id; $0.limit = id == 2 ? nil : id
            }
        }
        #expect(try ids(.between(\.seats, 2...)) == [2, 3])
        #expect(try ids(.between(\.seats, ...2)) == [1, 2])
        #expect(try ids(.between(\.seats, ..<2)) == [1])
        #expect(try ids(.between(\.limit, 2...)) == [3])
        #expect(try ids(.between(\.limit, ...3)) == [1, 3])
        #expect(try ids(.between(\.limit, ..<3)) == [1])
    }

    @Test("[22] a column of optional truth values is a condition, which NULL does not meet, and neither its negation")
    func optionalFlags() throws {
        try concert(1) { $0.isSoldOut = true }
        try concert(2) { $0.isSoldOut = false }
        try concert(3)
        #expect(try Concert.where(\.isSoldOut).ids(in: db) == [1] && ids(!\.isSoldOut) == [2])
        #expect(try Concert.where(\.id > 0).where(\.isSoldOut).ids(in: db) == [1])
        #expect(try ids(!\.isSoldOut || \.isSoldOut == nil) == [2, 3])
    }

    @Test("[22] a column is compared with a calculated value, also when one of them is optional")
    func calculated() throws {
        try concert(1) { ($0.seats, $0.sold, $0.limit) = (10, 5, 20) }
        try concert(2) { ($0.seats, $0.sold, $0.limit) = (10, 5, 9) }
        try concert(3) { ($0.seats, $0.sold, $0.limit) = (10, 5, nil) }
        #expect(try ids(\.limit > \.sold * 2) == [1] && ids(\.limit >= \.sold * 2) == [1])
        #expect(try ids(\.limit < \.sold * 2) == [2] && ids(\.limit <= \.sold * 4) == [1, 2])
        #expect(try ids(\.limit == \.seats - 1) == [2] && ids(\.limit != \.seats - 1) == [1, 3])
        #expect(try ids(\.seats > \.limit - 5) == [2] && ids(\.sold == \.limit - 4) == [2])
        #expect(try ids(\.limit >= \.limit + 1) == [] && ids(\.limit >= \.limit - 1) == [1, 2])
        #expect(try ids(\.limit > \.sold * 2 && \.seats == 10) == [1])
    }

    @Test("[22] [27] references are compared with an object that may be missing, and with a list of objects")
    func objects() throws {
        let (miles, john) = (try Player.create(1, in: db), try Player.create(2, in: db))
        try concert(1) { $0.player = Ref(miles) }
        try concert(2) { $0.player = Ref(john) }
        try concert(3)
        let (missing, found): (Player?, Player?) = (nil, john)
        #expect(try ids(\.player == found) == [2] && ids(\.player != found) == [1, 3])
        #expect(try ids(\.player == missing) == [3] && ids(\.player != missing) == [1, 2])
        #expect(try ids(\.player == nil) == [3] && ids(\.player == miles) == [1])
        #expect(try ids(.in(\.player, [miles, john])) == [1, 2] && ids(.in(\.player, [miles])) == [1])
        #expect(try ids(.in(\.player, [Player]())) == [] && ids(.in(\.player, [])) == [])
        #expect(try ids(.in(\.player, [Ref(john), nil])) == [2, 3])
    }

    @Test("[26] a join takes the conditions and orders of a query: flags, SQL, several columns, a direction")
    func joins() throws {
        for id in 1...2 as ClosedRange<Int64> { try Player.create(id, in: db) }
        try concert(1) { ($0.isOpen, $0.isSoldOut, $0.seats, $0.player) = (true, true, 3, Ref(1)) }
        try concert(2) { ($0.isOpen, $0.seats, $0.player) = (true, 1, Ref(2)) }
        try concert(3) { ($0.isSoldOut, $0.seats) = (true, 1) }
        let pairs = Concert.join(Player.self, on: \.player == \.id)
        let all = Concert.leftJoin(Player.self, on: \.player == \.id)
        func ids(_ join: Join<Concert, Player>) throws -> [Int64] { try join.all(in: db).map(\.0.id) }
        func allIDs(_ join: LeftJoin<Concert, Player>) throws -> [Int64] { try join.all(in: db).map(\.0.id) }
        #expect(try ids(pairs.where(\.isOpen).order(by: \.seats, \.id)) == [2, 1])
        #expect(try ids(pairs.where(\.isSoldOut)) == [1] && ids(pairs.where(!\.isSoldOut)) == [])
        #expect(try ids(pairs.where("$T.seats > ?", 2)) == [1] && ids(pairs.where("$T.seats < \(2)")) == [2])
        #expect(try ids(pairs.order(by: \.id, .descending)) == [2, 1])
        #expect(try allIDs(all.where(\.isSoldOut).order(by: \.id)) == [1, 3])
        #expect(try allIDs(all.where("$T.seats < \(2)").order(by: \.seats, \.id)) == [2, 3])
        #expect(try allIDs(all.order(by: \.id, .descending)) == [3, 2, 1])
        let books = Player.join(Concert.self, on: \.id == \.player)
        #expect(try books.where(joined: \.isSoldOut).count(in: db) == 1)
        #expect(code { _ = try pairs.where("$T.seats > ?").all(in: db) } == .argumentCount)
        let players = Player.leftJoin(Concert.self, on: \.id == \.player)
        #expect(try players.where(joined: \.isOpen).count(in: db) == 2)
    }

    @Test("[22] columns of one row are compared, also optional with required ones")
    func columns() throws {
        try concert(1) { ($0.seats, $0.sold, $0.limit) = (10, 10, nil) }
        try concert(2) { ($0.seats, $0.sold, $0.limit) = (10, 4, 4) }
        try concert(3) { ($0.seats, $0.sold, $0.limit) = (10, 12, 11) }
        #expect(try ids(\.sold == \.seats) == [1] && ids(\.sold != \.seats) == [2, 3])
        #expect(try ids(\.sold < \.seats) == [2] && ids(\.sold <= \.seats) == [1, 2])
        #expect(try ids(\.sold > \.seats) == [3] && ids(\.sold >= \.seats) == [1, 3])
        #expect(try ids(\.sold < \.seats - 6) == [] && ids(\.sold <= \.seats - 6) == [2])
        #expect(try ids(\.sold > \.seats + 2) == [] && ids(\.sold >= \.seats + 2) == [3])
        #expect(try ids(\.sold >= \.limit) == [2, 3] && ids(\.limit < \.sold) == [3])
        #expect(try ids(\.sold == \.limit) == [2] && ids(\.limit != \.sold) == [1, 3])
        #expect(try ids(\.subtitle == \.subtitle && \.limit == \.limit) == [1, 2, 3])
    }

    @Test("[22] columns of decimals are compared by value, and columns of one form in two codings as well")
    func forms() throws {
        try concert(1) { ($0.price, $0.deposit) = (100, 9) }
        try concert(2) { ($0.price, $0.deposit, $0.before) = (9, 10.5, .published) }
        #expect(try ids(\.deposit < \.price) == [1])
        try db.execute("UPDATE Concert SET price = '10.50' WHERE id = 2")
        #expect(try ids(\.deposit == \.price) == [2])
        #expect(try ids(\.phase == \.before) == [1])
    }

    @Test("[22] columns that store their values in different forms are not compared")
    func otherForms() throws {
        try concert(1)
        let error = failure { _ = try ids(\.announced > \.begin) }
        #expect(error?.code == .unstorable && error?.column == "announced")
        #expect(error?.message == "The columns announced and begin store their values in different forms")
        #expect(code { try Concert.query.update(.set(\.end, to: \.announced), in: db) } == .unstorable)
        #expect(try ids(\.end > \.begin) == [])
    }

    @Test("[22] a half-open range leaves out its end")
    func ranges() throws {
        for seats in 1...5 { try concert(Int64(seats)) { ($0.seats, $0.limit) = (seats, seats == 3 ? nil : seats) } }
        #expect(try ids(.between(\.seats, 2..<5)) == [2, 3, 4] && ids(.between(\.limit, 2..<5)) == [2, 4])
        #expect(try ids(.between(\.seats, 2...5)) == [2, 3, 4, 5])
    }

    @Test("[22] the beginning, the end or a part of a text, in which no character is special")
    func texts() throws {
        let titles = ["100% live", "100 percent", #"a_b\c"#, "aXb", "it's"]
        for (index, title) in titles.enumerated() {
            try concert(Int64(index + 1)) {
                $0.title = title
                $0.subtitle = index == 0 ? nil : title
            }
        }
        #expect(try ids(.hasPrefix(\.title, "100%")) == [1] && ids(.hasPrefix(\.title, "A")) == [3, 4])
        #expect(try ids(.hasSuffix(\.title, "LIVE")) == [1] && ids(.hasSuffix(\.title, #"\c"#)) == [3])
        #expect(try ids(.contains(\.title, "a_b")) == [3] && ids(.contains(\.title, "0% ")) == [1])
        #expect(try ids(.contains(\.subtitle, "100")) == [2] && ids(.hasPrefix(\.subtitle, "")) == [2, 3, 4, 5])
        #expect(try ids(.contains(\.title, "%\u{301}")) == [])
        #expect(code { _ = try ids(.contains(\.title, "a\u{0}")) } == .unstorable)
    }

    @Test("[27] a reference is compared with an object")
    func references() throws {
        let miles = try Player.create(in: db) { $0.name = "Miles" }
        let john = try Player.create(in: db) { $0.mentor = Ref(miles) }
        try concert(1) { $0.player = Ref(miles) }
        try concert(2) { $0.player = Ref(john) }
        try concert(3)
        #expect(try ids(\.player == miles) == [1] && ids(\.player != miles) == [2, 3])
        #expect(try ids(\.player == nil) == [3] && ids(\.player != nil) == [1, 2])
        #expect(try Player.where(\.mentor == miles).all(in: db) == [john])
    }

    @Test("[21] a condition in SQL is a query like one by key paths, and is refined like it")
    func sqlConditions() throws {
        for id in 1...4 { try concert(Int64(id)) { ($0.seats, $0.isOpen) = (id * 10, id > 1) } }
        let large = Concert.where("seconds_seats(seats) > \(10)")
        #expect(code { _ = try large.all(in: db) } == .sql)
        let open = Concert.where("seats > \(10) OR $PK = ?", 1)
        #expect(code { _ = try open.all(in: db) } == .argumentCount)
        let some = Concert.where("seats > ? OR $PK = ?", 10, 1).where(\.isOpen).where("seats < \(40)")
        #expect(try some.order(by: \.seats, .descending).ids(in: db) == [3, 2])
        #expect(try some.order(by: \.seats).limit(1).all(in: db).map(\.seats) == [20] && some.count(in: db) == 2)
        try some.update(.set(\.sold, to: 1), in: db)
        #expect(try ids(\.sold == 1) == [2, 3])
        let error = failure { _ = try Concert.where("seats > 1 ORDER BY seats").all(in: db) }
        #expect(error?.code == .sql && error?.table == "Concert" && error?.hint?.contains("`order`") == true)
        #expect(error?.operation == "fetching")
    }

    // MARK: - Subqueries

    @Test("[22, 27] a list may be another query, in which NULL matches nothing")
    func lists() throws {
        let miles = try Player.create(1, in: db) { $0.name = "Miles" }
        try Player.create(2, in: db) { ($0.name, $0.mentor) = ("John", Ref(miles)) }
        try concert(1) { ($0.player, $0.seats, $0.limit) = (Ref(1), 10, 20) }
        try concert(2) { ($0.player, $0.seats, $0.limit) = (Ref(2), 20, nil) }
        try concert(3) { $0.seats = 30 }
        #expect(try ids(.in(\.player, Player.where(\.name == "Miles"))) == [1])
        #expect(try ids(.in(\.player, Player.query.order(by: \.id, .descending).limit(1))) == [2])
        #expect(try Player.where(.in(\.id, Concert.where(\.seats > 10).select(\.player))).ids(in: db) == [2])
        #expect(try Player.where(!.in(\.id, Player.query.select(\.mentor))).ids(in: db) == [2])
        #expect(try ids(.in(\.seats, Concert.query.select(\.limit))) == [2])
        #expect(try ids(!.in(\.seats, Concert.query.select(\.limit))) == [1, 3])
        #expect(try ids(.in(\.title, Player.query.select(\.name).distinct())) == [])
        #expect(code { _ = try ids(.in(\.begin, Concert.query.select(\.announced))) } == .unstorable)
        #expect(
            code { _ = try ids(.in(\.seats, Concert.where(.contains(\.title, "\u{0}")).select(\.sold))) } == .unstorable
        )
    }

    @Test("[22, 26] rows that have, or do not have, rows of another query")
    func existence() throws {
        let miles = try Player.create(1, in: db) { $0.name = "Miles" }
        let john = try Player.create(2, in: db) { ($0.name, $0.mentor) = ("John", Ref(miles)) }
        for seats in 1...3 { try concert(Int64(seats)) { ($0.player, $0.seats) = (Ref(miles), seats) } }
        func players(_ condition: Condition<Player>) throws -> [Player] { try Player.where(condition).all(in: db) }
        #expect(try players(.exists(Concert.where(\.seats > 2), on: \.id == \.player)) == [miles])
        #expect(try players(.exists(Concert.where(\.seats > 3), on: \.id == \.player)) == [])
        #expect(try players(!.exists(Concert.query, on: \.id == \.player)) == [john])
        #expect(try players(.exists(Concert.query.limit(1, offset: 2), on: \.id == \.player)) == [miles])
        #expect(try players(.exists(Concert.query.limit(1, offset: 3), on: \.id == \.player)) == [])
        // The table of the query itself, also twice.
        #expect(try players(.exists(Player.where(\.name == "John"), on: \.id == \.mentor)) == [miles])
        let taught = Player.where(.exists(Player.where(\.name == "Miles"), on: \.mentor == \.id))
        #expect(try players(.exists(taught, on: \.id == \.mentor)) == [miles])
        #expect(
            try players(.exists(Player.query, on: .sql("joined.mentor = Player.id") && \.id == \.mentor)) == [miles])
        let pairs = Player.join(Player.self, on: \.id == \.mentor)
        #expect(
            try pairs.where(joined: .exists(Player.where(\.name == "Miles"), on: \.mentor == \.id)).count(in: db) == 1)
        #expect(
            try pairs.where(joined: .exists(Player.where(\.name == "John"), on: \.mentor == \.id)).count(in: db) == 0)
    }

    @Test("[45] a live query follows the tables of its subqueries")
    func liveSubquery() async throws {
        try Player.create(1, in: db) { $0.name = "Miles" }
        let players = Player.where(.exists(Concert.where(\.isOpen == true), on: \.id == \.player)).live(in: db)
            .makeAsyncIterator()
        #expect(try await players.next()?.count == 0)
        try concert(1) { ($0.player, $0.isOpen) = (Ref(1), true) }
        #expect(try await players.next()?.map(\.name) == ["Miles"])
    }

    // MARK: - Orders, selections, changes

    @Test("[22] an order by several columns, or by one in a direction")
    func orders() throws {
        for (id, (seats, sold)) in [(2, 1), (1, 2), (1, 1)].enumerated() {
            try concert(Int64(id)) { ($0.seats, $0.sold) = (seats, sold) }
        }
        #expect(try Concert.query.order(by: \.seats, \.sold).ids(in: db) == [2, 1, 0])
        let mixed = Concert.query.order(by: \.seats, .descending).order(by: \.sold, .ascending)
        #expect(try mixed.ids(in: db) == [0, 2, 1])
    }

    @Test("[25, 26] a selection of columns is read later, and without repetitions on request")
    func selections() throws {
        for (id, title) in ["b", "a", "b"].enumerated() {
            try concert(Int64(id)) { ($0.title, $0.seats) = (title, id == 1 ? 7 : 8) }
        }
        let titles = Concert.query.order(by: \.title).select(\.title)
        #expect(try titles.all(in: db) == ["a", "b", "b"] && titles.distinct().all(in: db) == ["a", "b"])
        #expect(try titles.count(in: db) == 3 && titles.distinct().count(in: db) == 2)
        #expect(try titles.distinct().first(in: db) == "a")
        let pairs = try Concert.query.order(by: \.title).select(\.title, \.seats).distinct().all(in: db)
        #expect(pairs.map(\.0) == ["a", "b"] && pairs.map(\.1) == [7, 8])
        #expect(try Concert.where(\.seats == 8).limit(1).select(\.title, \.title).count(in: db) == 1)
    }

    @Test("[19] columns take the values of other columns, and of calculations with them")
    func assignments() throws {
        let made = try concert(1) { ($0.seats, $0.sold, $0.price, $0.title) = (10, 3, 1.5, "t") }
        try Concert.query.update(.set(\.seats, to: \.sold * 2), .set(\.sold, to: \.seats), in: db)
        #expect(made.seats == 6 && made.sold == 10)
        try Concert.query.update(
            .set(\.limit, to: \.sold + 1), .set(\.deposit, to: \.price * 2), .set(\.subtitle, to: \.title), in: db)
        #expect(made.limit == 11 && made.deposit == 3 && made.subtitle == "t")
    }

    @Test("[35] an index may name its columns by key paths")
    func indexes() throws {
        let names = try db.values(
            String.self, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Concert' AND sql NOT NULL")
        #expect(names.contains { $0.contains(#"("title", "sold")"#) })
        #expect(names.contains { $0.contains(#"("begin") WHERE sold > 0"#) })
    }
}
