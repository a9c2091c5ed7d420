import Foundation
import Store
import Testing

@Model
final class Price {
    var id: Int64
    var amount: Decimal = 0
    var discount: Decimal?
}

@Suite("Decimal columns in SQL")
struct DecimalTests {
    /// In the order of their sizes, which differs from the order of their texts.
    static let texts = [
        "-100.5", "-20", "-9.75", "-0.1", "-0.09", "0", "0.0001", "0.5", "9", "9.0000000000000000000000001", "10",
        "100.25",
        "12345678901234567890.123456789", "12345678901234567890.123456790001",
    ]
    let db: Database
    let sorted: [Decimal]

    init() throws {
        db = try Database.inMemory { $0.automatic(Price.self) }
        sorted = try DecimalTests.texts.map { try #require(Decimal(string: $0)) }
        try Price.insertRows(from: sorted.reversed().enumerated(), in: db) { price, next in
            price.id = Int64(next.offset + 1)
            price.amount = next.element
            price.discount = next.offset == 0 ? nil : next.element
        }
    }

    private func amounts(_ condition: Condition<Price>) throws -> [Decimal] {
        try Price.where(condition).order(by: \.amount).select(\.amount, in: db)
    }

    @Test("[22, T14] orders by a Decimal are by size, and NULL is first")
    func order() throws {
        #expect(try Price.query.order(by: \.amount).select(\.amount, in: db) == sorted)
        #expect(try Price.query.order(.descending(\.amount)).select(\.amount, in: db) == sorted.reversed())
        let discounts = try Price.query.order(by: \.discount).select(\.discount, in: db)
        #expect(discounts == [nil] + sorted.dropLast().map { $0 })
    }

    @Test("[22, T14] comparisons and ranges of a Decimal are by size", arguments: texts.indices)
    func comparisons(_ index: Int) throws {
        let bound = sorted[index]
        #expect(try amounts(\.amount < bound) == sorted.filter { $0 < bound })
        #expect(try amounts(\.amount <= bound) == sorted.filter { $0 <= bound })
        #expect(try amounts(\.amount > bound) == sorted.filter { $0 > bound })
        #expect(try amounts(\.amount >= bound) == sorted.filter { $0 >= bound })
        #expect(try amounts(\.discount > bound) == sorted.dropLast().filter { $0 > bound })
        let range = bound...max(bound, 100)
        #expect(try amounts(.between(\.amount, range)) == sorted.filter { range.contains($0) })
    }

    @Test("[25, T14] the smallest, the greatest and the sum of a Decimal are exact, also of some rows")
    func aggregates() throws {
        #expect(try Price.query.min(\.amount, in: db) == sorted.first)
        #expect(try Price.query.max(\.amount, in: db) == sorted.last)
        #expect(try Price.query.max(\.discount, in: db) == sorted.dropLast().last)
        #expect(try Price.query.order(by: \.amount).limit(3, offset: 1).max(\.amount, in: db) == sorted[3])
        let small = sorted.filter { $0 < 1_000 }
        #expect(try Price.where(\.amount < 1_000).sum(\.amount, in: db) == small.reduce(0, +))
        #expect(try Price.where(\.amount < 1_000).sum(\.discount, in: db) == small.reduce(0, +))
        // With the large values, the sum would have 45 digits.
        #expect(code { _ = try Price.query.sum(\.amount, in: db) } == .sql)
        #expect(try Price.where(\.amount > 1e30).sum(\.amount, in: db) == 0)
        #expect(try Price.where(\.amount > 1e30).min(\.amount, in: db) == nil)
    }

    @Test("[19, T14] arithmetic with a Decimal in an update keeps each digit; NULL stays NULL")
    func arithmetic() throws {
        let small = try #require(Decimal(string: "0.000000001"))
        try Price.query.update(.set(\.amount, to: \.amount + small), .set(\.discount, to: \.discount - 1), in: db)
        #expect(try Price.query.order(by: \.amount).select(\.amount, in: db) == sorted.map { $0 + small })
        #expect(
            try Price.query.order(by: \.discount).select(\.discount, in: db) == [nil] + sorted.dropLast().map { $0 - 1 }
        )
        try Price.query.update(.set(\.amount, to: \.amount * 0), in: db)
        #expect(try Price.where(\.amount == 0).count(in: db) == sorted.count)
    }

    @Test("[19, B12] a result that a Decimal cannot hold fails the update, and changes nothing")
    func overflow() throws {
        let one = try Price.create(in: db) { $0.amount = Decimal.greatestFiniteMagnitude }
        let error = #expect(throws: StoreError.self) {
            try Price.query.update(.set(\.amount, to: \.amount * 1_000), in: db)
        }
        #expect(error?.table == "Price")
        #expect(one.amount == .greatestFiniteMagnitude)
        #expect(try amounts(\.amount < .greatestFiniteMagnitude) == sorted)
    }

    @Test("[22] texts of other programs are ordered by their number, and texts without a number behind all numbers")
    func foreignTexts() throws {
        let texts = ["x", "1e3", "+2", "1.50", "0015", "-.5", "", "1e", "-0", "2E-2", "999.999"]
        try db.execute("CREATE TABLE note (text TEXT)")
        for text in texts { try db.execute("INSERT INTO note VALUES (\(text))") }
        let rows = try db.rows("SELECT text FROM note ORDER BY text COLLATE decimal")
        #expect(
            try rows.map { try $0.value(String.self, "text") }
                == ["-.5", "-0", "2E-2", "1.50", "+2", "0015", "999.999", "1e3", "", "1e", "x"])
    }
}
