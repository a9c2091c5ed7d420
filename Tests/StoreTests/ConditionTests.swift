import Foundation
import Store
import Testing

@Suite("Conditions and orders by key paths")
struct ConditionTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try Person.create(from: 1...6, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 == 6 ? nil : $1 * 10
            $0.createdTime = Date(timeIntervalSince1970: Double($1))
        }
    }

    private func names(_ condition: Condition<Person>) throws -> [String] {
        try Person.where(condition).order(by: \.id).select(\.name, in: db)
    }

    @Test("[22] comparisons, &&, || and ! choose rows as in Swift")
    func comparisons() throws {
        #expect(try names(\.age > 20 && \.age <= 40) == ["p3", "p4"])
        #expect(try names(\.age < 20 || \.name == "p5") == ["p1", "p5"])
        #expect(try names(!(\.age >= 20)) == ["p1"])
        #expect(try names(\.name != "p1" && \.id < 3) == ["p2"])
        #expect(try names(\.createdTime >= Date(timeIntervalSince1970: 5)) == ["p5", "p6"])
        #expect(try names(.all).count == 6)
    }

    @Test("[22] nil is IS NULL, also in a variable, and a row with NULL differs from every value")
    func null() throws {
        #expect(try names(\.age == nil) == ["p6"])
        let unknown: Int? = nil
        #expect(try names(\.age == unknown) == ["p6"])
        #expect(try names(\.age != nil).count == 5)
        #expect(try names(\.age != 10) == ["p2", "p3", "p4", "p5", "p6"])
    }

    @Test("[22] a condition may have key paths and raw SQL, and a comment in the SQL swallows nothing")
    func rawSQL() throws {
        let suffix = "3"
        #expect(try names(.sql("name LIKE '%' || \(suffix) -- the end") || \.age == 10) == ["p1", "p3"])
        #expect(try names(.sql("$T.age > 10 AND $PK < 4") && \.name != "p2") == ["p3"])
        #expect(try Person.where("\(Person.columns.age) > \(40)").all(in: db).map(\.name) == ["p5"])
        #expect(
            try Person.where("age > \(20)").where(\.age < 50).order(by: \.id).all(in: db).map(\.name) == [
                "p3", "p4",
            ])
    }

    @Test("[22] a condition keeps its meaning inside of others: every part is in parentheses")
    func precedence() throws {
        let either: Condition<Person> = \.age == 10 || \.age == 20
        #expect(try names(either && \.name == "p2") == ["p2"])
        #expect(try names(.sql("age = 10 OR age = 20") && \.name == "p2") == ["p2"])
        #expect(try Person.where(either).where(\.name == "p1").count(in: db) == 1)
    }

    @Test("[22] orders by several terms, limit and offset")
    func orders() throws {
        #expect(try Person.query.order(.descending(\.age)).limit(2).all(in: db).map(\.name) == ["p5", "p4"])
        #expect(try Person.query.order(by: \.age).first(in: db)?.name == "p6")
        #expect(
            try Person.query.order(.sql("age IS NULL"), .descending(\.id)).limit(2, offset: 1).all(in: db).map(\.id)
                == [4, 3])
        #expect(try Person.query.order(by: \.id).limit(0).all(in: db).isEmpty)
    }

    @Test("[22] ranges, lists and LIKE")
    func listsAndRanges() throws {
        #expect(try names(.between(\.age, 20...30)) == ["p2", "p3"])
        #expect(try names(.in(\.id, [1, 3, 99])) == ["p1", "p3"])
        #expect(try names(.in(\.id, [])) == [])
        #expect(try names(.in(\.age, [10, nil])) == ["p1", "p6"])
        #expect(try names(.like(\.name, "P_")).count == 6)
    }

    @Test("[22] two normal forms of one word, quotes and NULs in a value find exactly their row")
    func exactTexts() throws {
        let texts = ["\u{E9}", "e\u{301}", "it's \"quoted\"", "nul\u{0}nul", "back\\slash\n\u{1}"]
        for text in texts { try test.person(text) }
        for text in texts {
            #expect(try Person.where(\.name == text).count(in: db) == 1)
            #expect(try Person.where(\.name == text).first(in: db)?.name.utf8.elementsEqual(text.utf8) == true)
        }
    }

    @Test("[23] a list of any length is one query, for integers, texts with any content, and blobs")
    func longLists() throws {
        let numbers = (1...300_000).map { Int64($0) }
        let before = db.metrics.queries
        #expect(try names(.in(\.id, numbers)).count == 6)
        #expect(db.metrics.queries == before + 1)
        try test.person("nul\u{0}nul")
        try test.person("it's \"quoted\" \\ \n")
        let texts = (0..<1_000).map { "x\($0)" } + ["p2", "nul\u{0}nul", "it's \"quoted\" \\ \n"]
        #expect(Set(try names(.in(\.name, texts))) == ["p2", "nul\u{0}nul", "it's \"quoted\" \\ \n"])
        let key = "blobs"
        try Everything.create(key, in: db) {
            $0.data = Data([0, 255, 7])
            $0.uuid = UUID()
            $0.mood = .good
        }
        let blobs = (0..<1_000).map { Data([1, UInt8($0 % 256), UInt8($0 / 256), 9]) } + [Data([0, 255, 7])]
        #expect(try Everything.where(.in(\.data, blobs)).ids(in: db) == [key])
        #expect(
            code { _ = try Everything.where(.in(\.double, (0..<40_000).map { Double($0) + 0.5 })).count(in: db) }
                == .argumentCount)
    }

    @Test("[22] a value is compared as its column stores it")
    func codings() throws {
        let moment = Date(timeIntervalSince1970: 1_700_000_000.5)
        let uuid = UUID()
        try Everything.create("k", in: db) {
            $0.milliseconds = moment
            $0.spelled = moment
            $0.uuidBlob = uuid
            $0.uuid = uuid
            $0.mood = .bad
            $0.address = Address(city: "Oslo", zip: 7)
            $0.tags = ["a"]
        }
        #expect(try Everything.where(\.milliseconds == moment && \.spelled == moment).count(in: db) == 1)
        #expect(try Everything.where(\.milliseconds > moment).count(in: db) == 0)
        #expect(try Everything.where(\.uuidBlob == uuid && \.uuid == uuid).count(in: db) == 1)
        #expect(try Everything.where(\.mood == .bad && \.maybeMood == nil).count(in: db) == 1)
        #expect(try Everything.where(\.address == Address(city: "Oslo", zip: 7) && \.tags == ["a"]).count(in: db) == 1)
        #expect(try Everything.where(\.`default` == nil).count(in: db) == 1)
    }

    @Test("[22] a value that cannot be stored is an error of the query, with the column's name")
    func unstorable() throws {
        do {
            _ = try Everything.where(\.double == .nan).all(in: db)
            Issue.record("NaN was bound")
        } catch let error as StoreError {
            #expect(error.code == .unstorable && error.column == "double")
        }
    }

    @Test("[22] the same conditions choose values of a struct")
    func valueModel() throws {
        #expect(try PersonRow.where(\.age > 30).order(by: \.id).all(in: db).map(\.name) == ["p4", "p5"])
        #expect(try PersonRow.where(\.name == "p1").first(in: db)?.age == 10)
    }
}
